"""Why not another class: what would have to be different, and the rows of that class that come nearest."""

from dataclasses import dataclass
from typing import Any

from localbayes.explain.training_rows import TrainingRow

__all__ = ["Change", "Counterfactual", "WhyNot"]


@dataclass(frozen=True)
class Change:
    """Another value of one attribute.

    Attributes
    ----------
    name : str
        The attribute.
    before : str
        What the row has.
    after : str
        What it would have instead: a value, or a bin of numbers or dates.
    value : object
        The same as a table holds it; for a bin, a round number inside.
    """

    name: str
    before: str
    after: str
    value: Any


@dataclass(frozen=True)
class Counterfactual:
    """A row that differs in a few attributes and is predicted as another class.

    Attributes
    ----------
    changes : tuple of Change
        What differs, in the order of the columns.
    proba : float
        Probability of the class then.
    """

    changes: tuple[Change, ...]
    proba: float

    def __len__(self) -> int:
        return len(self.changes)


@dataclass(frozen=True)
class WhyNot:
    """A class that was not predicted.

    Attributes
    ----------
    label : object
        The class.
    proba : float
        Its probability.
    ways : tuple of Counterfactual
        Smallest changes that make it the predicted class, least change first; each changes other
        attributes. Empty if none was found.
    complete : bool
        Whether all changes of one and of two attributes were tried, as far as they were needed.
    rows : tuple of TrainingRow
        The nearest training rows of the class, for a lazy classifier.

    Examples
    --------
    >>> from localbayes import LCWNB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> clf = LCWNB(kappa=1).fit(X, ["apple", "pepper", "pepper", "pepper"])
    >>> (other,) = clf.explain([["red", "round"]], why_not=True).why_not[0]
    >>> other.label, [(change.name, change.after) for change in other.ways[0].changes]
    ('pepper', [('x1', 'long')])
    >>> other.rows[0].number, other.rows[0].distance
    (1, 1)
    """

    label: Any
    proba: float
    ways: tuple[Counterfactual, ...]
    complete: bool
    rows: tuple[TrainingRow, ...] = ()
