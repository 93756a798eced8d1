"""The eight classifiers, one file and one formula each."""

from localbayes.classifiers.base import BayesClassifier
from localbayes.classifiers.iclnb import ICLNB
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.classifiers.lcwnb import LCWNB
from localbayes.classifiers.lwnb import LWNB

METHODS: dict[str, type[BayesClassifier]] = {"LCWNB": LCWNB, "LWNB": LWNB, "ICLNB": ICLNB}

__all__ = ["ICLNB", "LCWNB", "LWNB", "METHODS", "BayesClassifier", "LazyClassifier"]
