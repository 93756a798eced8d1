"""The eager family: formulas over counts of values and of pairs of values."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

import localbayes.kernels._kernels as _kernels
from localbayes.classifiers.base import BayesClassifier, Floats
from localbayes.classifiers.pair_counts import MAX_TABLE_BYTES, PairCounts, ValueCounts
from localbayes.classifiers.terms import sum_of_terms
from localbayes.encoding.coded import Codes
from localbayes.parameters import Discretize, Missing, check_number

__all__ = [
    "EagerClassifier",
    "OneDependence",
    "PairClassifier",
    "pair_counts",
    "product_spans",
    "row_terms",
    "sum_rows",
]


class EagerClassifier(BayesClassifier):
    """Base of classifiers that keep counts, not rows.

    Learning adds rows to ``counts_`` and then calls ``_derive``, in which a subclass turns counts into
    what its ``_log_joint`` looks up. Counts made elsewhere can be put in place in the same way.

    Attributes
    ----------
    counts_ : ValueCounts or PairCounts
        The statistic.
    """

    counts_: ValueCounts

    def _derive(self) -> None:
        """Turn counts into the tables of the formula."""
        raise NotImplementedError

    def _start(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> None:
        self.counts_ = ValueCounts(sizes, n_classes)

    def _learn(self, codes: Codes, class_codes: npt.NDArray[np.int64], weights: Floats | None = None) -> None:
        if self.counts_.n_rows:
            self.counts_ = self.counts_.copy()  # those before stay as they are until all is learned
        self.counts_.add(codes, class_codes, weights)
        self._derived_with = self._constants()
        self._derive()

    def _constants(self) -> dict[str, Any]:
        """Parameters that enter the tables of the formula."""
        return {name: getattr(self, name) for name in ("alpha", "min_count") if hasattr(self, name)}

    def _check_unchanged(self) -> None:
        for name, value in getattr(self, "_derived_with", {}).items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name} was {value!r} in fit and is {getattr(self, name)!r} now: fit again, then save"
                )

    def _restore(self) -> None:
        if self.counts_.n_classes != len(self.labels_) or not np.array_equal(self.counts_.sizes, self.sizes_):
            raise ValueError("the counts are not those of the columns and classes")
        self.counts_ = self.counts_.copy()
        self._derive()

    def _grow(self, sizes: npt.NDArray[np.uint32]) -> None:
        self.counts_ = self.counts_.grown(sizes)


class PairClassifier(EagerClassifier):
    """Base of classifiers over :class:`PairCounts`.

    Parameters
    ----------
    max_table_bytes : int, default=2 GiB
        A table of pairs that would be larger is refused, with the name of the widest column. While
        ``partial_fit`` adds rows to one, there are two of them.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`LCWNB`.
    """

    counts_: PairCounts

    def __init__(
        self,
        *,
        max_table_bytes: int = MAX_TABLE_BYTES,
        categorical_features: Any = "from_dtype",
        n_bins: int = 10,
        discretize: Discretize = "width",
        missing: Missing = "impute",
        class_weight: Any = None,
        priors: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_table_bytes = max_table_bytes
        self.categorical_features = categorical_features
        self.n_bins = n_bins
        self.discretize = discretize
        self.missing = missing
        self.class_weight = class_weight
        self.priors = priors
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_number("max_table_bytes", self.max_table_bytes, above=0)
        if self.missing == "ignore":
            raise ValueError(
                f"{type(self).__name__} counts pairs of values and cannot leave some unknown, got "
                "missing='ignore'; use missing='impute' or 'category', or one of LCWNB, LWNB, ICLNB and NB"
            )

    def _class_pseudo_count(self, n_classes: int) -> float:
        return float(getattr(self, "alpha", 1 / n_classes))

    def _start(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> None:
        names = getattr(self, "feature_names_in_", None)
        self.counts_ = PairCounts(sizes, n_classes, max_table_bytes=self.max_table_bytes, names=names)


class OneDependence(PairClassifier):
    """Base of averaged one-dependence estimators.

    The joint probability of class y and a row is a sum over superparents p, on which every other
    attribute depends besides the class::

        P(y, x) = sum_p base(x_p, y) prod_{i != p} (n(x_p, x_i, y) + pseudo_i)

    where n counts rows of class y that share two values with the query. A subclass gives ``log_base``
    for each slot and class (minus infinity leaves a superparent out) and ``pseudo`` for each attribute.
    """

    def _set_superparents(self, log_base: Floats, pseudo: Floats) -> None:
        self.pseudo_count_, self._log_base = pseudo, log_base
        start = np.abs(log_base[np.isfinite(log_base)]).max(initial=0.0) / np.log(2)
        most = self.counts_.class_counts.max() + pseudo.max()
        self._spans = product_spans(len(pseudo), pseudo.min(), most, start)
        self._base = np.exp(log_base / len(self._spans))

    def _bytes_per_query(self) -> int:
        m, r, n_parts = len(self.sizes_), len(self.labels_), len(self._spans)
        return super()._bytes_per_query() + 8 * m * r * (n_parts if n_parts == 1 else 2 * n_parts)

    def _log_joint(self, codes: Codes) -> Floats:
        counts = self.counts_
        offsets = counts.offsets(counts.slots(codes))
        shape = (len(counts.sizes), len(codes), counts.n_classes)
        parts = np.empty((len(self._spans), *shape))
        for span, part in zip(self._spans, parts, strict=True):
            _kernels.multiply_counts(counts.pair_counts, *offsets, self.pseudo_count_, self._base, span, part)
        # There may be no superparent at all.
        with np.errstate(divide="ignore"):
            joint: Floats = (
                np.log(parts[0].sum(axis=0))
                if len(parts) == 1
                else logsumexp(np.log(parts).sum(axis=0), axis=0)
            )
        return joint

    def _terms(self, codes: Codes) -> tuple[Floats, Floats]:
        counts, pseudo = self.counts_, self.pseudo_count_
        total = counts.sizes * pseudo
        slots = counts.slots(codes)
        n_py = counts.value_counts[slots].swapaxes(1, 2).astype(np.float64)
        # factors[q, y, p, i] is P(x_i | x_p, y), and P(x_p | y) where i is p.
        factors = (pair_counts(counts, codes) + pseudo) / (n_py[..., None] + total)
        log_factors = np.log(factors)
        own = np.arange(len(total))
        log_factors[..., own, own] = np.log((n_py + pseudo) / (counts.class_counts[:, None] + total))
        log_totals = np.log(n_py[..., None] + total)
        log_totals[..., own, own] = 0.0
        base = self._log_base[slots].swapaxes(1, 2) + log_totals.sum(axis=3) - log_factors[..., own, own]
        return sum_of_terms(base, log_factors)


# A product of no more bits is in the range of double, also if it has a factor or two more.
_PRODUCT_BITS = 850


def product_spans(m: int, least: float, most: float, start: float = 0.0) -> npt.NDArray[np.int64]:
    """Cut m factors into spans, as few as there may be if no product over one leaves the range of double.

    Parameters
    ----------
    m : int
        Number of factors.
    least, most : float
        Bounds of every factor.
    start : float
        Bits of what the products share beside the factors.

    Returns
    -------
    spans : array of shape (n_spans, 2)
        Where each span begins and ends.

    Examples
    --------
    >>> product_spans(100, 0.5, 8.0).tolist(), product_spans(100, 2.0**-12, 8.0).tolist()
    ([[0, 100]], [[0, 50], [50, 100]])
    """
    bits = m * np.abs(np.log2([least, most])).max() + start
    n_spans = max(1, min(m, math.ceil(bits / _PRODUCT_BITS)))
    ends = np.arange(n_spans + 1) * m // n_spans
    return np.column_stack([ends[:-1], ends[1:]])


def row_terms(rows: npt.NDArray[np.int64], table: Floats, start: Floats) -> tuple[Floats, Floats]:
    """What :func:`sum_rows` sums: the start, and a term for every row of the table."""
    terms = table[rows].swapaxes(1, 2)
    return np.broadcast_to(start, terms.shape[:2]), terms


def pair_counts(counts: PairCounts, codes: Codes) -> npt.NDArray[Any]:
    """Count training rows by query, class and two attributes on which they agree with the query."""
    m = len(counts.sizes)
    values = np.minimum(codes, counts.sizes)
    pairs = np.zeros((len(codes), counts.n_classes, m, m), dtype=counts.pair_counts.dtype)
    for i in range(m):
        for j in range(i):
            pairs[:, :, i, j] = pairs[:, :, j, i] = counts.block(i, j)[values[:, i], values[:, j]]
    return pairs


def sum_rows(rows: npt.NDArray[np.int64], table: Floats, start: Floats) -> Floats:
    """Start plus, for every query, the sum of the rows of a table that it names."""
    at, out = rows * table.shape[1], np.empty((len(rows), table.shape[1]))
    _kernels.sum_values(table, at, at, start, out)
    return out
