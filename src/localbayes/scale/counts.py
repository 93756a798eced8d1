"""Match counts made in parts, and how a formula of the lazy family asks for them.

A lazy classifier takes counts from its index, turns V into weights and gives the weights back for
weighted sums. Here the rows are elsewhere, so it is run twice on the same V: with ``Questions`` it
only notes the weights it asks for; with ``Answers`` it gets the sums that came back for them. What it
does in between, one formula or many, is its own affair.
"""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.lazy import LazyClassifier
from localbayes.encoding.coded import Codes, missing_code
from localbayes.kernels import MatchIndex, cell_weights, log_joint_of_sums

__all__ = [
    "Answers",
    "PartCounts",
    "Questions",
    "RowsElsewhere",
    "SummedCounts",
    "add_arrays",
    "with_index",
    "without_index",
]

Arrays = tuple[npt.NDArray[Any], ...]
Floats = npt.NDArray[np.float64]


def add_arrays(parts: Sequence[Arrays]) -> Arrays:
    """Sum of tuples of arrays, place by place; integers are exact and as narrow as they can be.

    Examples
    --------
    >>> add_arrays([(np.array([200], np.uint8),), (np.array([100], np.uint8),)])
    (array([300], dtype=uint16),)
    """
    return tuple(_narrow(sum(map(_widen, arrays))) for arrays in zip(*parts, strict=True))


def _widen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array if array.dtype.kind == "f" else array.astype(np.int64)


def _narrow(array: Any) -> npt.NDArray[Any]:
    if array.dtype.kind == "f":
        return np.asarray(array)
    return np.asarray(array.astype(np.min_scalar_type(int(array.max(initial=0)))))


class PartCounts:
    """Counts of some queries against one part of the rows, kept where that part is.

    Distances are counted at once, matches when weights arrive for them.

    Parameters
    ----------
    index : MatchIndex
        The part.
    codes : array of shape (n_queries, m)
        The queries.
    """

    def __init__(self, index: MatchIndex, codes: Codes) -> None:
        self._counts: Any = index.count(codes)
        self.totals = _narrow(self._counts.distance_counts)
        self._bytes = self.totals.nbytes + len(codes) * index.bytes_per_query()

    def weighted_sums(self, index: MatchIndex, codes: Codes, weights: Sequence[Floats]) -> Arrays:
        """S and T for each of several weightings by query, class and distance."""
        counts = self._counts or index.count(codes)
        if len(weights) != 1:
            # Matches are counted once for all of them.
            counts = SummedCounts((counts.distance_counts, counts.match_counts), codes)
        return tuple(array for w in weights for array in counts.weighted_sums(w))

    def match_counts(self) -> Arrays:
        """V and C."""
        return self.totals, _narrow(self._counts.match_counts)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._bytes

    def __getstate__(self) -> dict[str, Any]:
        # Compiled counts cannot be sent or written to disk; where these arrive, rows are counted again.
        return {"totals": self.totals, "_bytes": self.totals.nbytes, "_counts": None}


class _Counts:
    """What a formula may ask of counts: V, weighted sums, and the log joint they give."""

    def __init__(self, counts: Arrays, codes: Codes) -> None:
        self.distance_counts = _widen(counts[0])
        self._codes = codes

    def weighted_sums(self, weights: Floats) -> Arrays:
        """S and T for weights by query, class and distance."""
        raise NotImplementedError

    def log_joint(self, weights: Floats, sizes: Floats, alpha: float, margin: float = np.inf) -> Floats:
        """Log of (alpha + S_y) / (alpha r + sum S) * prod_i (alpha + T_iy) / (alpha q_i + S_y).

        That only classes within a margin of the best matter is of no use here, where the sums of all are
        known.
        """
        S, T = self.weighted_sums(weights)
        return self._log_joint(S, T, sizes, alpha)

    def cell_log_joint(self, kappas: Floats, sizes: Floats, alpha: float, margin: float = np.inf) -> Floats:
        """Log joint under the paper's weights, for every kappa."""
        scores = []
        for kappa in kappas:
            gamma, rho, weights = cell_weights(self.distance_counts, kappa)
            _, T = self.weighted_sums(weights)
            V = self.distance_counts
            S = np.where(gamma < 1, np.where(gamma > 0, kappa, V[..., 0]), V.sum(axis=2))
            scores.append(self._log_joint(rho[:, None] * S, T, sizes, alpha))
        return np.stack(scores)

    def _log_joint(self, S: Floats, T: Floats, sizes: Floats, alpha: float) -> Floats:
        lacking = self._codes == missing_code(self._codes.dtype)
        return log_joint_of_sums(lacking, S, T, sizes, alpha)


class SummedCounts(_Counts):
    """V and C of all parts, in the place of an index: one pass, any number of weightings."""

    def __init__(self, counts: Arrays, codes: Codes) -> None:
        super().__init__(counts, codes)
        self.match_counts = counts[1]

    def count(self, codes: Codes, *_: Any) -> "SummedCounts":
        """Give the counts themselves."""
        return self

    def weighted_sums(self, weights: Floats) -> Arrays:
        """S and T for weights by query, class and distance."""
        S = np.cumsum(weights * self.distance_counts, axis=2)[..., -1]
        T = np.zeros((*S.shape, self.match_counts.shape[3]))
        for d in range(weights.shape[2]):
            T += weights[:, :, d, None] * self.match_counts[:, :, d]
        return S, T


class Questions(_Counts):
    """V of all parts, in the place of an index; notes the weights that are asked for."""

    def __init__(self, counts: Arrays, codes: Codes) -> None:
        super().__init__(counts, codes)
        self.asked: list[Floats] = []

    def count(self, codes: Codes) -> "Questions":
        """Give the counts themselves."""
        return self

    def weighted_sums(self, weights: Floats) -> Arrays:
        """Note the weights; the sums are not known yet."""
        self.asked.append(np.ascontiguousarray(weights))
        n, r, distances = weights.shape
        return np.zeros((n, r)), np.zeros((n, r, distances - 1))


class Answers(_Counts):
    """V of all parts and weighted sums, in the place of an index, in the order they were asked for."""

    def __init__(self, counts: Arrays, sums: Iterable[Arrays], codes: Codes) -> None:
        super().__init__(counts, codes)
        self._sums = iter(sums)

    def count(self, codes: Codes) -> "Answers":
        """Give the counts themselves."""
        return self

    def weighted_sums(self, weights: Floats) -> Arrays:
        """Give the next sums."""
        return next(self._sums)


class _OneBatch:
    """Queries that are codes already and few enough to be classified at once."""

    def _queries(self, codes: Codes) -> Codes:
        return codes

    def _in_chunks(self, codes: Codes, function: Any, dtype: Any, *shape: int, **_: Any) -> Any:
        return function(codes)


def with_index(estimator: LazyClassifier, index: _Counts) -> Any:
    """Copy of a fitted classifier that takes its counts from ``index`` and codes for queries."""
    model: Any = copy.copy(estimator)
    model.__class__ = type(type(estimator).__name__, (_OneBatch, type(estimator)), {})
    model.index_ = index
    return model


class RowsElsewhere:
    """In the place of the index of a classifier whose rows are on the workers: refuses all that needs them.

    Examples
    --------
    >>> RowsElsewhere().count([])
    Traceback (most recent call last):
        ...
    ValueError: the training rows are on the workers of a Dask cluster: predict with the Distributed model
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise self._refusal("predict with the Distributed model")

    def __reduce__(self) -> Any:
        # What is saved or copied without its rows could not predict.
        raise self._refusal("only a classifier fitted on one machine, or of the eager family, can be saved")

    def _refusal(self, advice: str) -> ValueError:
        return ValueError(f"the training rows are on the workers of a Dask cluster: {advice}")


def without_index(estimator: LazyClassifier) -> Any:
    """Copy of a fitted classifier that can be sent to where the rows are."""
    model: Any = copy.copy(estimator)
    model.__dict__.pop("index_", None)
    return model
