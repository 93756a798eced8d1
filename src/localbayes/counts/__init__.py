"""Counts that add up: the statistics on which every classifier stands.

``match`` counts training rows by their distance from queries, for the lazy family; ``values`` and ``pairs``
count values and pairs of values, for the eager family. ``protocol`` says what all of them can do,
``distance`` how far values are from each other, ``cells`` solves the paper's equation for the weights,
``fits`` finds what the local Bayes classifier learns.
The C++ behind them is in ``localbayes.kernels``, which nothing else imports.
"""

from localbayes.counts.cells import cell_weights, log_joint_of_sums
from localbayes.counts.distance import HAMMING, Distance, Hamming, Measure, Ordered, marked
from localbayes.counts.fits import Neighbourhood, least_loss_exponents
from localbayes.counts.kept_rows import KeptRows, Rows, rows_in_order
from localbayes.counts.match import MatchCounts, MatchIndex
from localbayes.counts.own_left_out import LeftOutCounts
from localbayes.counts.pairs import PairCounts
from localbayes.counts.protocol import Codes, Floats, Statistic
from localbayes.counts.segments import Segment
from localbayes.counts.values import KnownCounts, ValueCounts
from localbayes.kernels import isa, isas, use_isa

__all__ = [
    "HAMMING",
    "Codes",
    "Distance",
    "Floats",
    "Hamming",
    "KeptRows",
    "KnownCounts",
    "LeftOutCounts",
    "MatchCounts",
    "MatchIndex",
    "Measure",
    "Neighbourhood",
    "Ordered",
    "PairCounts",
    "Rows",
    "Segment",
    "Statistic",
    "ValueCounts",
    "cell_weights",
    "isa",
    "isas",
    "least_loss_exponents",
    "log_joint_of_sums",
    "marked",
    "rows_in_order",
    "use_isa",
]
