"""Studies: any classifiers on any data sets under Weka's folds, filters and tests.

The modules of this package are an engine that knows no particular study. A study goes one way, and each step
can be repeated from what the step before it left:

- `make_plan`: data sets, methods, runs and folds become units of work (`plan`, `study_sets`, `methods`,
  `builtin_columns`);
- `run_study`: the units that the store lacks are done, in any number of processes (`run`, `crew`,
  `fold_work`, `scoring`, `measures`) or on a cluster (`dask_work`);
- `Store`: one SQLite file with a row per data set, method, run and fold (`store`, `claims`, `owner`);
- `read_table`: means, deviations and significance marks (`summary`, `accuracy_table`), and the tests over all
  data sets (`significance`, `comparison`, `findings`);
- `write_report`: tables, figures and a page, from the store alone (`report` and its parts).

What a study is compared with is a `Benchmark` (`benchmark`). The one in use is the paper's (`paper`).
"""

from localbayes.study.accuracy_table import Table
from localbayes.study.benchmark import use
from localbayes.study.methods import Fold, Method, from_estimator
from localbayes.study.paper import PAPER, paper_table
from localbayes.study.plan import Plan, make_plan
from localbayes.study.report import write_report
from localbayes.study.run import Outcome, run_study
from localbayes.study.scoring import Prediction
from localbayes.study.store import FoldRow, Store
from localbayes.study.summary import read_table

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

use(PAPER)
