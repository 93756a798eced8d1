"""The tree of attributes that TAN chooses: the gain of every arc, and how the tree grows by the best ones."""

import numpy as np
import numpy.typing as npt

from localbayes.counts import Floats, PairCounts
from localbayes.encoding import TableEncoder

__all__ = ["grow_tree", "in_canonical_order", "parent_gains"]

# Logarithms of the gamma function are looked up for counts below this, and computed for larger ones.
_TABLE_SIZE = 1 << 20


def parent_gains(counts: PairCounts, alpha: float) -> Floats:
    """Gain in log marginal likelihood of every (child, parent) arc, given the class."""
    scores = counts.arc_scores(alpha, _TABLE_SIZE)
    gains: Floats = scores - scores.diagonal()[:, None]
    return gains


def in_canonical_order(counts: PairCounts, encoder: TableEncoder | None) -> PairCounts:
    """Counts under the codes that a fit on all rows would give.

    Gains that are equal in theory differ in their last bits, by the order in which values are added. In
    this order ``partial_fit`` finds the tree of ``fit``, also if values come that were not declared.
    """
    if encoder is None:
        return counts
    orders = [column.canonical_order() for column in encoder.columns]
    in_order = all((np.diff(order) == 1).all() for order in orders)
    return counts if in_order else counts.reordered(orders)


def grow_tree(gains: Floats) -> npt.NDArray[np.intp]:
    """Parents of the tree that grows by the best arc between an attribute inside and one outside.

    This is the search of Weka 3.6, as observed from outside. Of equally good arcs the first wins, in the
    order of children and then of parents. An arc is laid against the direction in which it was scored, from
    the child to the parent, unless the parent already has one: with a symmetric score it would not
    matter.

    Parameters
    ----------
    gains : ndarray of shape (m, m)
        Gain of the arc to a child (row) from a parent (column).

    Returns
    -------
    parents : ndarray of shape (m,)
        Parent of every attribute, -1 for the root.

    Examples
    --------
    >>> grow_tree(np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 4.0], [0.0, 3.0, 0.0]])).tolist()
    [-1, 0, 1]
    """
    m = len(gains)
    parents = np.full(m, -1, dtype=np.intp)
    inside = np.zeros(m, dtype=bool)
    allowed = ~np.eye(m, dtype=bool)
    for _ in range(m - 1):
        a, b = np.unravel_index(np.where(allowed, gains, -np.inf).argmax(), gains.shape)
        if parents[b] < 0:
            parents[b] = a
        else:
            parents[a] = b
        inside[[a, b]] = True
        allowed = inside[:, None] != inside
    return parents
