"""Measures of a fold beside its accuracy: described once here, stored, averaged and reported from here.

To add a measure, add an entry to `MEASURES`. Every fold that is run from then on has its value in the store,
every cell has its mean, and the page shows it with the cell and as a column of its table of measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MEASURES", "Measure", "Scored", "measure_all"]

FloatArray = NDArray[np.float64]
# scikit-learn's log_loss clips at the same probability.
LEAST_LOG_PROBABILITY = float(np.log(np.finfo(np.float64).eps))


class Scored(NamedTuple):
    """The probabilities of a fold.

    `log_probability` has a row per test row and a column per declared class; `truth` is the position of each
    row's class, `chosen` that of the predicted one, or -1 if it is no declared class.
    """

    log_probability: FloatArray
    truth: NDArray[np.intp]
    chosen: NDArray[np.intp]


@dataclass(frozen=True)
class Measure:
    """A number for every fold.

    Parameters
    ----------
    name : str
        Its name in the store.
    heading : str
        Its name in the report.
    of : callable
        Takes a `Scored`, returns the number.
    digits : int
        Decimals in the report.
    """

    name: str
    heading: str
    of: Callable[[Scored], float]
    digits: int = 4


def _log_loss(scored: Scored) -> float:
    of_truth = scored.log_probability[np.arange(len(scored.truth)), scored.truth]
    return float(-np.maximum(of_truth, LEAST_LOG_PROBABILITY).mean())


MEASURES: tuple[Measure, ...] = (Measure("log_loss", "log loss", _log_loss),)


def measure_all(scored: Scored) -> dict[str, float]:
    """Return every measure of a fold by its name.

    Examples
    --------
    >>> even = Scored(np.log([[0.5, 0.5]]), np.array([1]), np.array([0]))
    >>> round(measure_all(even)["log_loss"], 4)
    0.6931
    """
    return {measure.name: measure.of(scored) for measure in MEASURES}
