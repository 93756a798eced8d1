"""Match counts made in parts, and how they are added up."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.lazy import Weighting
from localbayes.counts import Codes, Floats, MatchIndex

__all__ = ["Arrays", "PartCounts", "RowsElsewhere", "add_arrays", "matches_of", "widened"]

Arrays = tuple[npt.NDArray[Any], ...]


def add_arrays(parts: Sequence[Arrays]) -> Arrays:
    """Sum of tuples of arrays, place by place; integers are exact and as narrow as they can be.

    Examples
    --------
    >>> add_arrays([(np.array([200], np.uint8),), (np.array([100], np.uint8),)])
    (array([300], dtype=uint16),)
    """
    return tuple(_narrow(sum(map(widened, arrays))) for arrays in zip(*parts, strict=True))


def widened(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Counts in a type in which they can be added up."""
    return array if array.dtype.kind == "f" else array.astype(np.int64)


def _narrow(array: Any) -> npt.NDArray[Any]:
    if array.dtype.kind == "f":
        return np.asarray(array)
    return np.asarray(array.astype(np.min_scalar_type(int(array.max(initial=0)))))


def matches_of(weighting: Weighting, match_counts: npt.NDArray[Any]) -> Floats:
    """T[q, y, i] = sum_d w[q, y, d] C[q, y, d, i], from the nearest to the farthest.

    Examples
    --------
    >>> weighting = Weighting(np.array([[[1.0, 0.5]]]), total=np.array([[2.0]]))
    >>> matches_of(weighting, np.array([[[[1, 1], [2, 0]]]])).tolist()
    [[[2.0, 1.0]]]
    """
    n, r, n_distances, width = match_counts.shape
    T = np.zeros((n, r, width))
    for d in range(n_distances):
        T += weighting.weights[:, :, d, None] * match_counts[:, :, d]
    return T


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

    def weighted_matches(self, index: MatchIndex, codes: Codes, weightings: Sequence[Weighting]) -> Arrays:
        """T of this part for each of several weightings."""
        counts = self._counts or index.count(codes)
        if len(weightings) == 1:
            return (counts.weighted_sums(weightings[0].weights)[1],)
        # Matches are counted once for all of them.
        matches = counts.match_counts
        return tuple(matches_of(weighting, matches) for weighting in weightings)

    def match_counts(self) -> Arrays:
        """V and C."""
        return self.totals, _narrow(self._counts.match_counts)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._bytes

    def __getstate__(self) -> dict[str, Any]:
        # Compiled counts cannot be sent or written to disk; where these arrive, rows are counted again.
        return {"totals": self.totals, "_bytes": self.totals.nbytes, "_counts": None}


class RowsElsewhere:
    """Stands for the index of a classifier whose rows are on the workers: refuses all that needs them.

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
        advice = "predict with the Distributed model"
        if name == "fields":
            advice = "save the Distributed model"
        raise self._refusal(advice)

    def __reduce__(self) -> Any:
        # What is saved or copied without its rows could not predict.
        raise self._refusal("save the Distributed model")

    def _refusal(self, advice: str) -> ValueError:
        return ValueError(f"the training rows are on the workers of a Dask cluster: {advice}")
