"""The answer: log probabilities split into a start and what every attribute adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts import Floats
from localbayes.explain.neighbours import Neighbourhood
from localbayes.explain.why_not import WhyNot
from localbayes.parameters import check_count

__all__ = ["Explanation", "LogOdds", "Reason", "bar_lengths", "class_position"]


@dataclass(frozen=True)
class Reason:
    """One thing that moves the log odds.

    Attributes
    ----------
    name : str
        An attribute, the start, or several attributes taken together.
    value : str
        What the row has there; empty if it is no single attribute.
    reading : str
        How the classifier reads the value, where that differs; otherwise empty.
    log_odds : float
        What it adds; positive speaks for the first class.
    """

    name: str
    value: str
    reading: str
    log_odds: float

    def __str__(self) -> str:
        return f"{self.name} = {self.value}" if self.value else self.name


@dataclass(frozen=True, repr=False)
class LogOdds:
    """The log odds of one class against another, by reason.

    Attributes
    ----------
    row : int
        The row explained.
    for_class, against_class : object
        The two classes.
    start : Reason
        What speaks for a class before any attribute is looked at.
    attributes : tuple of Reason
        What every attribute adds, in the order of the columns.

    Examples
    --------
    >>> from localbayes import NB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> odds = NB().fit(X, ["apple", "pepper", "pepper", "pepper"]).explain(X[:1]).log_odds()
    >>> odds.contributions.round(2), round(odds.total, 2)
    (array([0.51, 1.2 ]), 1.02)
    >>> [str(reason) for reason in odds.strongest(2)]
    ['x1 = round', 'x0 = red']
    """

    row: int
    for_class: Any
    against_class: Any
    start: Reason
    attributes: tuple[Reason, ...]

    def __repr__(self) -> str:
        from localbayes.explain.short_text import log_odds_text

        return log_odds_text(self)

    @property
    def contributions(self) -> Floats:
        """What every attribute adds, as an array of shape (m,)."""
        return np.array([reason.log_odds for reason in self.attributes])

    @property
    def total(self) -> float:
        """The log odds: start and attributes together."""
        return self.start.log_odds + float(self.contributions.sum())

    def strongest(self, top: int) -> list[Reason]:
        """The attributes that add most, in either direction, and all others as one reason.

        Parameters
        ----------
        top : int
            How many attributes to keep apart.

        Returns
        -------
        reasons : list of Reason
            Strongest first; they add up to the same sum.
        """
        check_count("top", top, at_least=0)
        order = sorted(self.attributes, key=lambda reason: -abs(reason.log_odds))
        # A single remaining attribute is listed by its own name.
        kept = order if len(order) <= top + 1 else order[:top]
        rest = order[len(kept) :]
        if not rest:
            return kept
        others = sum(reason.log_odds for reason in rest)
        return [*kept, Reason(f"{len(rest)} other attributes", "", "", others)]


def bar_lengths(reasons: Sequence[Reason]) -> list[float]:
    """Lengths of bars from -1 to 1, the strongest finite reason and all infinite ones being longest.

    Examples
    --------
    >>> bar_lengths([Reason("a", "", "", 2.0), Reason("b", "", "", -1.0), Reason("c", "", "", -np.inf)])
    [1.0, -0.5, -1.0]
    """
    sizes = np.array([reason.log_odds for reason in reasons])
    # Where all reasons are weak, short bars say so.
    reach = np.abs(sizes[np.isfinite(sizes)]).max(initial=0.1)
    lengths: list[float] = np.clip(sizes / reach, -1, 1).tolist()
    return lengths


def class_position(label: Any, classes: Sequence[Any]) -> int:
    """Position of a class; one that the model does not know is refused.

    Examples
    --------
    >>> class_position("yes", ["no", "yes"])
    1
    """
    for position, known in enumerate(classes):
        if known == label:
            return position
    listed = ", ".join(map(repr, classes[:10]))
    raise ValueError(f"no class is called {label!r}; the model knows {listed}")


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why rows were predicted as they were; made by ``clf.explain(X)``.

    ``base[q, y] + contributions[q, y].sum()`` is the log probability of class y for row q.

    Attributes
    ----------
    method : str
        The classifier.
    classes : ndarray of shape (r,)
        Class labels, as in ``classes_``.
    names : tuple of m str
        Names of the attributes.
    values : tuple of n tuples of m str
        Values of the rows, as they came.
    readings : tuple of n tuples of m str
        How the classifier reads them, where that differs: a bin, the mean or mode in place of a missing
        value, or "never seen". Otherwise empty.
    proba : ndarray of shape (n, r)
        Class probabilities, as from ``predict_proba``.
    predicted, runner_up : ndarray of shape (n,)
        Position in ``classes`` of the predicted and of the next best class; -1 if there is no other.
    base : ndarray of shape (n, r)
        Log of the factor that belongs to no attribute, including the normalising constant.
    contributions : ndarray of shape (n, r, m)
        Log of the factor of every attribute.
    start : str
        What ``base`` stands for.
    neighbourhood : Neighbourhood or None
        What a lazy classifier sees around the rows; None for the others.
    why_not : tuple of n tuples of WhyNot, or None
        For every row the classes that were not predicted, most probable first; None if not asked for.
    left_out : tuple of int
        Positions of the attributes that the classifier does not learn from, such as ids.

    Examples
    --------
    >>> from localbayes import LCWNB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> clf = LCWNB(kappa=1).fit(X, ["apple", "pepper", "pepper", "pepper"])
    >>> why = clf.explain([["red", "round"]])
    >>> why.classes[why.predicted].tolist(), why.names, why.values
    (['apple'], ('x0', 'x1'), (('red', 'round'),))
    >>> bool(np.allclose(np.exp(why.log_proba), clf.predict_proba([["red", "round"]])))
    True
    """

    method: str
    classes: npt.NDArray[Any]
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    readings: tuple[tuple[str, ...], ...]
    proba: Floats
    predicted: npt.NDArray[np.intp]
    runner_up: npt.NDArray[np.intp]
    base: Floats
    contributions: Floats
    start: str
    neighbourhood: Neighbourhood | None = None
    why_not: tuple[tuple[WhyNot, ...], ...] | None = None
    left_out: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.proba)

    def __repr__(self) -> str:
        from localbayes.explain.short_text import explanation_text

        return explanation_text(self)

    def _repr_html_(self) -> str | None:
        from localbayes.explain.notebook import notebook_html

        return notebook_html(self)

    @property
    def log_proba(self) -> Floats:
        """Log probabilities: base and contributions summed up."""
        total: Floats = self.base + self.contributions.sum(axis=2)
        return total

    def log_odds(self, row: int = 0, for_class: Any = None, against_class: Any = None) -> LogOdds:
        """Reasons for one class and against another.

        Where a class is impossible (which needs ``alpha=0`` or a prior of zero) reasons are infinite.

        Parameters
        ----------
        row : int, default=0
            Row of the table that was explained.
        for_class : label, optional
            A class; the predicted one if not given.
        against_class : label, optional
            Another class; the most probable one besides ``for_class`` if not given.

        Returns
        -------
        LogOdds
            Start and contributions, which sum to the log of the odds.

        Examples
        --------
        >>> from localbayes import NB
        >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
        >>> clf = NB().fit(X, ["apple", "pepper", "pepper", "pepper"])
        >>> odds = clf.explain([["red", "round"]]).log_odds()
        >>> odds.for_class, [(str(reason), round(reason.log_odds, 2)) for reason in odds.attributes]
        ('apple', [('x0 = red', 0.51), ('x1 = round', 1.2)])
        >>> round(odds.start.log_odds, 2), round(odds.total, 2)
        (-0.69, 1.02)
        """
        self.check_row(row)
        if len(self.classes) < 2:
            raise ValueError("log odds compare two classes, but the model knows only one")
        a = (
            int(self.predicted[row])
            if for_class is None
            else class_position(for_class, self.classes.tolist())
        )
        b = (
            self._rival(row, a)
            if against_class is None
            else class_position(against_class, self.classes.tolist())
        )
        if a == b:
            raise ValueError(
                f"log odds compare two different classes, got {self.classes.tolist()[a]!r} twice"
            )
        with np.errstate(invalid="ignore"):
            base = float(self.base[row, a] - self.base[row, b])
            added = self.contributions[row, a] - self.contributions[row, b]
        return LogOdds(
            row,
            self.classes.tolist()[a],
            self.classes.tolist()[b],
            Reason(self.start, "", "", base),
            tuple(map(Reason, self.names, self.values[row], self.readings[row], added.tolist())),
        )

    def agreement(self, agrees: Sequence[bool]) -> tuple[int, int]:
        """In how many attributes a training row agrees with the row explained, and of how many in use.

        All rows agree in attributes that are left out, which says nothing.
        """
        return sum(agrees) - len(self.left_out), len(self.names) - len(self.left_out)

    def check_row(self, row: int) -> None:
        """Refuse a row that was not explained."""
        if not isinstance(row, int | np.integer) or not 0 <= row < len(self):
            raise ValueError(f"row must be from 0 to {len(self) - 1}, the rows explained, got {row!r}")

    def _rival(self, row: int, position: int) -> int:
        if position == self.predicted[row]:
            return int(self.runner_up[row])
        return int(self.predicted[row])
