"""Studies: any classifier under Weka's folds, filters and tests, and the paper's own study reproduced.

A study goes one way, and each step can be repeated from what the one before it left:

- `make_plan`: data sets, methods, runs and folds become units of work (`plan`, `data`, `methods`);
- `run_study`: the units that the store lacks are done, in any number of processes (`run`, `crew`, `work`,
  `scoring`);
- `Store`: one SQLite file with a row per data set, method, run and fold (`store`, `owner`);
- `read_table`: means, deviations and significance marks (`table`, `summary`), and the tests over all sets
  (`tests`, `comparison`);
- `write_report`: tables, figures and a page, from the store alone (`findings`, `figures`, `page`, `report`).
"""

from localbayes.study.methods import Fold, Method, from_estimator
from localbayes.study.plan import Plan, make_plan
from localbayes.study.report import write_report
from localbayes.study.run import Outcome, run_study
from localbayes.study.scoring import Prediction
from localbayes.study.store import FoldRow, Store
from localbayes.study.summary import read_table
from localbayes.study.table import Table, paper_table

__all__ = [
    "Fold",
    "FoldRow",
    "Method",
    "Outcome",
    "Plan",
    "Prediction",
    "Store",
    "Table",
    "from_estimator",
    "make_plan",
    "paper_table",
    "read_table",
    "run_study",
    "write_report",
]
