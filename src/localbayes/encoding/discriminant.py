"""Linear discriminants of the numeric columns, learned without the rows that they are asked about.

Where a boundary between classes is a slanted plane, no column shows it alone. Fisher's linear discriminant
does. Its log odds become terms, see :mod:`localbayes.encoding.terms`.

A row must not be judged by a discriminant that has seen its class. So there are five, and the numbers of a
row decide which one judges it: the one that was learned from rows of the other four kinds. This is the same
for training rows and queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding.columns import RawColumn
from localbayes.fields import Fields

__all__ = ["Discriminant", "learn_discriminant"]

Floats = npt.NDArray[np.float64]

_FOLDS = 5
# Standardised numbers and log odds beyond these are cut off.
_FARTHEST, _MOST_ODDS = 6.0, 12.0
# Digits of log odds behind the point.
_DIGITS = 9
# Rows and columns between which a discriminant is learned, and most classes.
_FEWEST_ROWS, _MOST_COLUMNS, _MOST_CLASSES = 50, 200, 12
# Variance that is added to every column: that of so many rows, or of so many per thousand.
_RIDGE_ROWS, _RIDGE_SHARE = 1.0, 0.005


@dataclass(frozen=True)
class Discriminant:
    """Log odds of the classes as linear functions of standardised columns.

    Attributes
    ----------
    sources : tuple of p int
        The columns.
    centre, scale : arrays of shape (p,)
        What is subtracted from them, and what they are divided by.
    slopes, offsets : arrays of shape (5, p, r) and (5, r)
        Scores of the classes by kind of row.
    """

    sources: tuple[int, ...]
    centre: Floats
    scale: Floats
    slopes: Floats
    offsets: Floats

    @property
    def n_scores(self) -> int:
        """Number of classes whose log odds are given; of two classes one is enough."""
        r = self.offsets.shape[1]
        return 1 if r == 2 else r

    def fields(self) -> dict[str, Any]:
        """What it is made of, by name, for a model file."""
        arrays = {name: getattr(self, name) for name in ("centre", "scale", "slopes", "offsets")}
        return {"sources": list(self.sources), **arrays}

    @classmethod
    def restored(cls, fields: Fields, numeric: Sequence[int]) -> "Discriminant":
        """Made of what :meth:`fields` gave; what does not fit is refused."""
        sources = fields.get("sources", list)
        centre, scale = fields.array("centre", "f", 1), fields.array("scale", "f", 1)
        slopes, offsets = fields.array("slopes", "f", 3), fields.array("offsets", "f", 2)
        p, r = len(sources), offsets.shape[1]
        fits = centre.shape == scale.shape == (p,) and slopes.shape == (_FOLDS, p, r) and r > 1
        finite = all(np.isfinite(array).all() for array in (centre, scale, slopes, offsets))
        known = p > 0 and all(type(i) is int and i in numeric for i in sources)
        if not (fits and finite and known and len(offsets) == _FOLDS and (scale > 0).all()):
            raise ValueError("the arrays of the discriminant do not fit each other or the numeric columns")
        return cls(tuple(sources), centre, scale, slopes, offsets)

    def columns(self, raws: Sequence[RawColumn]) -> list[RawColumn]:
        """Log odds of the rows as columns."""
        numbers = np.column_stack([raws[i].numbers for i in self.sources])
        odds = self._log_odds(_standardised(numbers, self.centre, self.scale), _kinds_of_rows(numbers))
        return [RawColumn("log odds", numbers=column) for column in odds.T]

    def _log_odds(self, standard: Floats, kind: npt.NDArray[np.int64]) -> Floats:
        # Column by column, since the sums of a matrix product depend on how many rows come at a time.
        scores = self.offsets[kind]
        for i, column in enumerate(standard.T):
            scores += column[:, None] * self.slopes[kind, i]
        scores -= scores.max(axis=1, keepdims=True)
        share = np.exp(scores)
        share /= share.sum(axis=1, keepdims=True)
        odds: Floats = np.log(share[:, : self.n_scores] + 1e-9) - np.log1p(1e-9 - share[:, : self.n_scores])
        # A number that was a cut when it was learned must stay one, on any machine and in a page.
        rounded: Floats = np.clip(odds, -_MOST_ODDS, _MOST_ODDS).round(_DIGITS)
        return rounded


def learn_discriminant(
    raws: Sequence[RawColumn],
    sources: Sequence[int],
    y: npt.NDArray[np.int64],
    weights: Floats | None = None,
) -> Discriminant | None:
    """Learn a discriminant of some columns, None where it would be of no use.

    Examples
    --------
    The sum of two columns decides, and each alone says little:

    >>> x = np.random.default_rng(0).normal(size=(400, 2))
    >>> raws = [RawColumn("a", numbers=x[:, 0]), RawColumn("b", numbers=x[:, 1])]
    >>> y = (x.sum(axis=1) > 0).astype(np.int64)
    >>> odds = learn_discriminant(raws, [0, 1], y).columns(raws)[0].numbers
    >>> bool(((odds < 0) == y).mean() > 0.95)
    True
    """
    w = np.ones(len(y)) if weights is None else weights
    r = int(y.max(initial=0)) + 1
    if not 2 <= r <= _MOST_CLASSES or w.sum() < _FEWEST_ROWS:
        return None
    sources = [i for i in sources if np.isfinite(_moments(raws[i].numbers, w)).all()]
    if not 2 <= len(sources) <= _MOST_COLUMNS:
        return None
    centre, scale = np.array([_moments(raws[i].numbers, w) for i in sources]).T
    numbers = np.column_stack([raws[i].numbers for i in sources])
    z, kind = _standardised(numbers, centre, scale), _kinds_of_rows(numbers)
    p = len(sources)
    count, total, square = np.zeros((_FOLDS, r)), np.zeros((_FOLDS, r, p)), np.zeros((_FOLDS, p, p))
    for fold in range(_FOLDS):
        at = kind == fold
        rows, weight, own = z[at], w[at], np.eye(r)[y[at]]
        count[fold] = weight @ own
        total[fold] = (own * weight[:, None]).T @ rows
        square[fold] = (rows * weight[:, None]).T @ rows
    fits = [
        _fit(*(part.sum(axis=0) - part[fold] for part in (count, total, square))) for fold in range(_FOLDS)
    ]
    slopes, offsets = (np.stack(arrays) for arrays in zip(*fits, strict=True))
    return Discriminant(tuple(sources), centre, scale, slopes, offsets)


def _fit(count: Floats, total: Floats, square: Floats) -> tuple[Floats, Floats]:
    """Slopes (p, r) and offsets (r,) from counts, sums and squares of the classes."""
    n, (r, p) = count.sum(), total.shape
    mean = total / (count + 1)[:, None]
    within = square - total.T @ mean - mean.T @ total + (mean * count[:, None]).T @ mean
    within[np.diag_indices(p)] += max(_RIDGE_ROWS, _RIDGE_SHARE * n)
    slopes = np.linalg.solve(within / max(n, 1.0), mean.T)
    offsets = np.log((count + 0.5) / (n + 0.5 * r)) - 0.5 * (mean.T * slopes).sum(axis=0)
    return slopes, offsets


def _standardised(numbers: Floats, centre: Floats, scale: Floats) -> Floats:
    """Standardised numbers, cut off far out, zero where one is missing."""
    moved = np.clip((numbers - centre) / scale, -_FARTHEST, _FARTHEST)
    return np.where(np.isnan(moved), 0.0, moved) + 0.0


def _kinds_of_rows(numbers: Floats) -> npt.NDArray[np.int64]:
    """One of five kinds for every row, by its numbers; equal rows are of one kind."""
    mark = np.zeros(len(numbers), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in np.nan_to_num(numbers.T):
            mark = (mark ^ (column + 0.0).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            mark ^= mark >> np.uint64(31)
        mark *= np.uint64(0xBF58476D1CE4E5B9)
    return ((mark >> np.uint64(33)) % np.uint64(_FOLDS)).astype(np.int64)


def _moments(numbers: Floats, weights: Floats) -> tuple[float, float]:
    """Mean and standard deviation; infinite if there is no spread."""
    known = ~np.isnan(numbers)
    if not known.any():
        return np.inf, np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.average(numbers[known], weights=weights[known])
        spread = np.sqrt(np.average((numbers[known] - mean) ** 2, weights=weights[known]))
    return (float(mean), float(spread)) if spread > 1e-12 * abs(mean) else (np.inf, np.inf)
