"""What Weka 3.6 does, bit for bit: random numbers, folds, filters and the corrected t-test.

Twenty years of published tables were made with Weka's Experimenter. These pieces let any scikit-learn
estimator run under the same conditions:

- `JavaRandom`: the generator behind every shuffle (java.util.Random);
- `WekaFolds`: repeated stratified cross-validation, as a scikit-learn splitter;
- `ReplaceMissingValues`, `Discretize`: the two filters, as scikit-learn transformers, and
  `apply_paper_filters`, both in a row;
- `corrected_paired_ttest`: the test behind the marks of the Experimenter's tables.
"""

from localbayes.weka.filters import Discretize, ReplaceMissingValues, apply_paper_filters
from localbayes.weka.folds import WekaFolds, split_run
from localbayes.weka.random import JavaRandom
from localbayes.weka.ttest import CorrectedTTest, corrected_paired_ttest

__all__ = [
    "CorrectedTTest",
    "Discretize",
    "JavaRandom",
    "ReplaceMissingValues",
    "WekaFolds",
    "apply_paper_filters",
    "corrected_paired_ttest",
    "split_run",
]
