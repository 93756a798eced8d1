"""The classifiers, one file and one formula each."""

from localbayes.classifiers.aode import AODE
from localbayes.classifiers.base import BayesClassifier
from localbayes.classifiers.hnb import HNB
from localbayes.classifiers.iclnb import ICLNB
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.classifiers.lcwnb import LCWNB
from localbayes.classifiers.local_bayes import LocalBayesClassifier
from localbayes.classifiers.lwnb import LWNB
from localbayes.classifiers.nb import NB
from localbayes.classifiers.tan import TAN
from localbayes.classifiers.waode import WAODE

METHODS: dict[str, type[BayesClassifier]] = {
    method.__name__: method for method in (LCWNB, NB, TAN, AODE, WAODE, HNB, LWNB, ICLNB)
}
"""The paper's eight methods by name."""

CLASSIFIERS: dict[str, type[BayesClassifier]] = {"LocalBayesClassifier": LocalBayesClassifier, **METHODS}
"""All classifiers by name."""

__all__ = [
    "AODE",
    "CLASSIFIERS",
    "HNB",
    "ICLNB",
    "LCWNB",
    "LWNB",
    "METHODS",
    "NB",
    "TAN",
    "WAODE",
    "BayesClassifier",
    "LazyClassifier",
    "LocalBayesClassifier",
]
