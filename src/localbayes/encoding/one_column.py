"""How well one column tells the classes of rows that are left out."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["left_out_losses"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# What is added to the count of a value.
_ALPHA = 0.5


def left_out_losses(
    codes: Integers,
    size: int,
    agreement: Floats | None,
    y: Integers,
    weights: Floats,
    n_classes: int,
    powers: Sequence[float] = (1.0,),
) -> Floats:
    """Log losses of rows that are left out, under a naive Bayes of one column with several exponents.

    Parameters
    ----------
    codes, y, weights : arrays of shape (n,)
        Values, classes and weights of the rows. Of a row of weight 2, which is two rows, one is left out.
    size : int
        Number of values.
    agreement : array of shape (size, size), optional
        How much two values agree; by default only equal ones do.
    n_classes : int
        Number of classes.
    powers : sequence of k float
        Exponents of the column. With the exponent 0 the classes alone are told.

    Returns
    -------
    losses : array of shape (k,)
        Sums over the rows.

    Examples
    --------
    The column is the class, so that it is told better with the column than without:

    >>> y = np.repeat([0, 1], 50)
    >>> alone, both = left_out_losses(y, 2, None, y, np.ones(100), 2, (0.0, 1.0))
    >>> bool(alone > 60), bool(both < 5)
    (True, True)
    """
    n_values = size
    if agreement is None and size > len(codes):  # most values do not occur
        values, codes = np.unique(codes, return_inverse=True)
        n_values = len(values)
    # Rows of one value and class are alike.
    cell = codes * n_classes + y
    table = np.bincount(cell, weights, n_values * n_classes)
    cells = np.flatnonzero(table)
    mass, value, own = table[cells], *divmod(cells, n_classes)
    left_out = np.bincount(cell, weights * np.minimum(weights, 1.0), n_values * n_classes)[cells] / mass
    table = table.reshape(n_values, n_classes)
    near = table[value] if agreement is None else (agreement @ table)[value]
    total = np.tile(table.sum(axis=0), (len(cells), 1))
    at = np.arange(len(cells)), own
    near[at] -= left_out * (1.0 if agreement is None else agreement[value, value])
    total[at] -= left_out
    classes = np.log1p(total)
    evidence = np.log((_ALPHA + near) / (_ALPHA * size + total))
    losses = np.empty(len(powers))
    for k, power in enumerate(powers):
        scores = classes + power * evidence
        most = scores.max(axis=1, keepdims=True)
        log_total = np.log(np.exp(scores - most).sum(axis=1)) + most[:, 0]
        losses[k] = ((log_total - scores[at]) * mass).sum()
    return losses
