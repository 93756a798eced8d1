"""The audit of a table: columns, repeated rows, labels, rows that two tables share."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.auditing.column_profile import ColumnProfile, profiles_of, read_values
from localbayes.auditing.label_checks import Suspect, left_out_proba, rank_rows, suspects_of
from localbayes.auditing.same_rows import (
    Conflict,
    best_accuracy,
    conflicts_of,
    grouped,
    repeated_rows,
    same_rows,
)
from localbayes.classifiers import LCWNB, BayesClassifier
from localbayes.encoding import ClassLabels
from localbayes.encoding.tables import check_table

__all__ = ["AuditReport", "audit"]

# Rows by which kappa is chosen; more take longer and find no more wrong labels.
_LOO_ROWS = 2000


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    classes : dict
        Rows of every class, the largest one first.
    method : str
        The classifier whose left-out predictions the labels were compared with.
    accuracy : float
        Share of the rows whose label is the most probable one by the other rows.
    columns : list of ColumnProfile
        What the columns look like.
    suspects : list of Suspect
        Rows whose label the others contradict, the least probable labels first.
    ranking : ndarray of shape (n,)
        Numbers of all rows, those with the least probable label first.
    conflicts : list of Conflict
        Identical rows with different labels.
    best_accuracy : float
        The most that any classifier can reach on these rows in spite of the conflicts.
    repeated : ndarray
        Numbers of the rows that repeat an earlier row, label included.
    shared : list of (int, int), or None
        Rows of the other table that are in this one: its number there, and the first one here. None if no
        other table was given.
    n_other : int
        Rows of the other table.
    """

    n_rows: int
    classes: dict[Any, int]
    method: str
    accuracy: float
    columns: list[ColumnProfile]
    suspects: list[Suspect]
    ranking: npt.NDArray[np.int64]
    conflicts: list[Conflict]
    best_accuracy: float
    repeated: npt.NDArray[np.int64]
    shared: list[tuple[int, int]] | None
    n_other: int

    def __str__(self) -> str:
        """The findings in words, see :func:`localbayes.auditing.audit_text.audit_text`."""
        from localbayes.auditing.audit_text import audit_text

        return audit_text(self)

    def __repr__(self) -> str:
        return (
            f"AuditReport({self.n_rows} rows: {len(self.suspects)} labels contradicted, "
            f"{len(self.conflicts)} conflicts, {len(self.repeated)} repeated rows)"
        )

    def to_html(self, title: str = "Audit", top: int = 50) -> str:
        """A page of its own that needs no network; what came from data is escaped."""
        from localbayes.auditing.audit_text import audit_page

        return audit_page(self, title, top)


def audit(X: Any, y: Any, model: BayesClassifier | None = None, against: Any = None) -> AuditReport:
    """Look for what is wrong with a table before a classifier learns it.

    Each row's label is compared with what the other rows say of it: the row is left out of the counts, so
    that no second model and no folds are needed.

    Parameters
    ----------
    X : DataFrame or array of shape (n, m)
        The table.
    y : array-like of shape (n,)
        Labels.
    model : BayesClassifier, optional
        The classifier to ask; ``LCWNB(missing="category", loo_rows=2000)`` by default.
        ``LocalBayesClassifier()`` finds more and takes longer.
    against : DataFrame or array, optional
        Another table with the same columns, such as the test rows: which of its rows are in X?

    Returns
    -------
    AuditReport
        ``print`` shows it; ``to_html`` makes a page.

    Examples
    --------
    >>> X = [["red", "round"], ["red", "round"], ["green", "long"], ["green", "long"], ["red", "round"]] * 4
    >>> y = ["apple", "apple", "bean", "bean", "bean"] + ["apple", "apple", "bean", "bean", "apple"] * 3
    >>> found = audit(X, y)
    >>> found
    AuditReport(20 rows: 1 labels contradicted, 1 conflicts, 17 repeated rows)
    >>> found.suspects[0].row, found.suspects[0].likely, round(found.best_accuracy, 2)
    (4, 'apple', 0.95)
    """
    X = check_table(X, None)
    model = LCWNB(missing="category", loo_rows=_LOO_ROWS) if model is None else model
    labels = ClassLabels.learn(y, None)
    given = labels.classes[np.argsort(labels.columns)][labels.encode(y)]
    own = np.searchsorted(labels.classes, given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are left out are listed in the report
        proba = left_out_proba(model, X, given)
    columns = read_values(X)
    ranking, groups = rank_rows(proba, own), grouped([values for _, values in columns])
    conflicts = conflicts_of(groups, given)
    counts = np.bincount(own, minlength=len(labels.classes))
    ranked = np.argsort(-counts, kind="stable")
    shared = None if against is None else _shared(X, against)
    return AuditReport(
        n_rows=len(own),
        classes={labels.classes[k].item(): int(counts[k]) for k in ranked if counts[k]},
        method=str(model),
        accuracy=float((proba.argmax(axis=1) == own).mean()),
        columns=profiles_of(X, columns, given),
        suspects=suspects_of(proba, own, labels.classes, ranking),
        ranking=ranking,
        conflicts=conflicts,
        best_accuracy=best_accuracy(conflicts, len(own)),
        repeated=repeated_rows(groups, given),
        shared=shared,
        n_other=0 if against is None else len(check_table(against, None)),
    )


def _shared(X: Any, other: Any) -> list[tuple[int, int]]:
    groups, of_other = same_rows(X, other)
    found, first = np.unique(groups, return_index=True)
    place = dict(zip(found.tolist(), first.tolist(), strict=True))
    return [(row, place[group]) for row, group in enumerate(of_other.tolist()) if group in place]
