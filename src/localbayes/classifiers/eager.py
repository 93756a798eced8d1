"""The eager family: formulas over counts of values and of pairs of values."""

import math
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from localbayes.classifiers.base import BayesClassifier
from localbayes.classifiers.scores import sum_of_terms
from localbayes.classifiers.shared import SharedParameters, with_shared_parameters
from localbayes.counts import Codes, Floats, KeptRows, LeftOutCounts, PairCounts, Rows, ValueCounts
from localbayes.counts.pairs import MAX_TABLE_BYTES
from localbayes.parameters import check_number

__all__ = ["AllPairs", "EagerClassifier", "OneDependence", "PairClassifier", "product_spans", "row_terms"]


class EagerClassifier(BayesClassifier):
    """Base of classifiers that keep counts, not rows.

    Learning adds rows to ``counts_`` and then calls :meth:`derive`, in which a subclass turns counts into
    what its :meth:`log_joint` looks up. Counts made elsewhere are put in place by :meth:`adopt`.

    Attributes
    ----------
    counts_ : ValueCounts or PairCounts
        The statistic.
    """

    counts_: ValueCounts
    # None if counts came without their rows.
    _kept_rows: KeptRows | None = None

    def derive(self) -> None:
        """Turn counts into the tables of the formula."""
        raise NotImplementedError

    def empty_statistic(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> ValueCounts:
        """Counts of no rows."""
        return ValueCounts(sizes, n_classes)

    @property
    def statistic(self) -> ValueCounts:
        """The counts."""
        return self.counts_

    def adopt(self, statistic: Any) -> None:
        """Take counts as those of the training rows, and derive the tables of the formula."""
        self.counts_ = statistic
        self._derived_with = self._constants()
        self.derive()

    # --- leaving rows out -----------------------------------------------------------------------

    def begin(self, *domains: Any) -> None:
        """Set domains and classes; no row has been counted yet, and none is kept."""
        super().begin(*domains)
        self._kept_rows = None

    def keep_rows(self, rows: Rows, first: bool) -> None:
        """Keep training rows beside the counts; counts that came without their rows stay so."""
        kept = KeptRows() if first else self._kept_rows
        self._kept_rows = None if kept is None else kept.added(rows)

    def training_rows(self) -> Rows:
        """All training rows, in the order in which they came."""
        if self._kept_rows is None:
            raise ValueError(
                f"this {type(self).__name__} has counts and no training rows, as from a model file or "
                "a cluster; fit it again on rows in memory, or use one that keeps rows, such as LCWNB"
            )
        return self._kept_rows.rows()

    def others_log_joint(self, rows: Rows) -> Floats:
        """Log joint of training rows without themselves."""
        base, terms = self.others_terms(rows)
        joint: Floats = base + terms.sum(axis=2)
        return joint

    def others_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        """The same, split."""
        return self.terms_of_counts(LeftOutCounts(self.counts_, rows))

    def terms_of_counts(self, counts: LeftOutCounts) -> tuple[Floats, Floats]:
        """Base (n, r) and terms (n, r, m) of the formula, from the counts of rows that are left out."""
        raise NotImplementedError

    @property
    def left_out_bytes(self) -> int:
        """Scratch memory that the formula needs for one row that is left out."""
        return self.bytes_per_query() + 32 * len(self.sizes_) * len(self.labels_)

    def _constants(self) -> dict[str, Any]:
        """Parameters that enter the tables of the formula."""
        return {name: getattr(self, name) for name in ("alpha", "min_count") if hasattr(self, name)}

    def learned(self) -> dict[str, Any]:
        """Nothing besides the counts; an error if parameters were changed since fit."""
        for name, value in self._derived_with.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name} was {value!r} in fit and is {getattr(self, name)!r} now: fit again, then save"
                )
        return {}


class PairClassifier(EagerClassifier):
    """Base of classifiers over :class:`PairCounts`.

    Parameters
    ----------
    max_table_bytes : int, default=2 GiB
        A table of pairs that would be larger is refused, with the name of the widest column. While
        ``partial_fit`` adds rows to one, there are two of them.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`BayesClassifier`.
    """

    counts_: PairCounts

    @with_shared_parameters
    def __init__(self, *, max_table_bytes: int = MAX_TABLE_BYTES, **shared: Unpack[SharedParameters]) -> None:
        super().__init__(**shared)
        self.max_table_bytes = max_table_bytes

    def check_parameters(self) -> None:
        """Refuse an invalid limit, and missing values that are left unknown."""
        check_number("max_table_bytes", self.max_table_bytes, above=0)
        if self.missing == "ignore":
            raise ValueError(
                f"{type(self).__name__} counts pairs of values and cannot leave some unknown, got "
                "missing='ignore'; use missing='impute' or 'category', or one of LCWNB, LWNB, ICLNB and NB"
            )

    def class_pseudo_count(self, n_classes: int) -> float:
        """Rows that the formula adds to those of every class before it takes their shares."""
        return float(getattr(self, "alpha", 1 / n_classes))

    def empty_statistic(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> PairCounts:
        """Counts of no rows."""
        names = getattr(self, "feature_names_in_", None)
        return PairCounts(sizes, n_classes, max_table_bytes=self.max_table_bytes, names=names)


class AllPairs(PairClassifier):
    """Base of classifiers whose formula takes every two attributes of a query."""

    @property
    def left_out_bytes(self) -> int:
        """Scratch memory that the formula needs for one row that is left out."""
        return super().left_out_bytes + 32 * len(self.sizes_) ** 2 * len(self.labels_)


class OneDependence(AllPairs):
    """Base of averaged one-dependence estimators.

    The joint probability of class y and a row is a sum over superparents p, on which every other
    attribute depends besides the class::

        P(y, x) = sum_p base(x_p, y) prod_{i != p} (n(x_p, x_i, y) + pseudo_i)

    where n counts rows of class y that share two values with the query. A subclass gives ``log_base``
    for each slot and class (minus infinity leaves a superparent out) and ``pseudo`` for each attribute.
    """

    def set_superparents(self, log_base: Floats, pseudo: Floats) -> None:
        """Set the log of the first factor, by slot and class, and what to add to an attribute's counts."""
        self.pseudo_count_, self._log_base = pseudo, log_base
        start = np.abs(log_base[np.isfinite(log_base)]).max(initial=0.0) / np.log(2)
        most = self.counts_.class_counts.max() + pseudo.max()
        self._spans = product_spans(len(pseudo), pseudo.min(), most, start)
        self._base = np.exp(log_base / len(self._spans))

    def bytes_per_query(self) -> int:
        """Scratch memory that the formula needs for one query."""
        m, r, n_parts = len(self.sizes_), len(self.labels_), len(self._spans)
        return super().bytes_per_query() + 8 * m * r * (n_parts if n_parts == 1 else 2 * n_parts)

    @property
    def base_meaning(self) -> str:
        """What the base of :meth:`terms` stands for, in words."""
        return "frequency of the class and averaging"

    def log_joint(self, codes: Codes) -> Floats:
        """Log of the sum over superparents."""
        parts = self.counts_.products(codes, self.pseudo_count_, self._base, self._spans)
        # There may be no superparent at all.
        with np.errstate(divide="ignore"):
            joint: Floats = (
                np.log(parts[0].sum(axis=0))
                if len(parts) == 1
                else logsumexp(np.log(parts).sum(axis=0), axis=0)
            )
        return joint

    def terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split the log of the sum by attribute."""
        counts, pseudo = self.counts_, self.pseudo_count_
        total = counts.sizes * pseudo
        slots = counts.slots(codes)
        n_py = counts.value_counts[slots].swapaxes(1, 2).astype(np.float64)
        # factors[q, y, p, i] is P(x_i | x_p, y), and P(x_p | y) where i is p.
        factors = (counts.agreeing(codes) + pseudo) / (n_py[..., None] + total)
        log_factors = np.log(factors)
        own = np.arange(len(total))
        log_factors[..., own, own] = np.log((n_py + pseudo) / (counts.class_counts[:, None] + total))
        log_totals = np.log(n_py[..., None] + total)
        log_totals[..., own, own] = 0.0
        base = self._log_base[slots].swapaxes(1, 2) + log_totals.sum(axis=3) - log_factors[..., own, own]
        return sum_of_terms(base, log_factors)

    def log_first(self, counts: LeftOutCounts) -> Floats:
        """Log of a superparent's weight and P(x_p, y), shape (n, r, m), minus infinity if it is left out."""
        raise NotImplementedError

    def terms_of_counts(self, counts: LeftOutCounts) -> tuple[Floats, Floats]:
        """Split the log of the sum by attribute, for rows that are left out."""
        pseudo, n_py = self.pseudo_count_, counts.value_counts
        total = counts.sizes * pseudo
        log_factors = np.log((counts.pairs() + pseudo) / (n_py[..., None] + total))
        own = np.arange(len(total))
        alone = np.log((n_py + pseudo) / (counts.class_counts[..., None] + total))
        log_factors[..., own, own] = alone
        return sum_of_terms(self.log_first(counts) - alone, log_factors)


# A product of at most this many bits stays in the range of double, even with one or two more factors.
_PRODUCT_BITS = 850


def product_spans(m: int, least: float, most: float, start: float = 0.0) -> npt.NDArray[np.int64]:
    """Cut m factors into as few spans as keep every product over a span in the range of double.

    Parameters
    ----------
    m : int
        Number of factors.
    least, most : float
        Bounds of every factor.
    start : float
        Bits of the number with which every product starts.

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
