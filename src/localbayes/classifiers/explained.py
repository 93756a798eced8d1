"""What a classifier tells about itself; readers in a higher layer do the work."""

from typing import TYPE_CHECKING, Any

from localbayes.classifiers.state import as_of_now

if TYPE_CHECKING:
    from localbayes.explain import Explanation

__all__ = ["Explained"]


class Explained:
    """Says why a classifier predicts what it predicts."""

    @as_of_now
    def explain(
        self, X: Any, top: int = 10, kappas: Any = None, why_not: Any = False, fixed: Any = ()
    ) -> "Explanation":
        """Say why every row of X is predicted as it is.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows to explain.
        top : int, default=10
            How many training rows to list, those of the largest weights (lazy classifiers).
        kappas : array-like, optional
            Values of kappa at which to show the prediction (LCWNB).
        why_not : bool, label or list of labels, default=False
            Classes for which to look for the smallest change of the row that makes them win; True for all
            that are not predicted.
        fixed : str, int or list of them, default=()
            Attributes that such a change leaves as they are, by name or position.

        Returns
        -------
        explanation : localbayes.explain.Explanation
            What every attribute adds to the log probability of every class, and more.

        Examples
        --------
        >>> from localbayes import NB
        >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
        >>> clf = NB().fit(X, ["apple", "pepper", "pepper", "pepper"])
        >>> other = clf.explain([["red", "round"]], why_not=True, fixed="x0").why_not[0][0]
        >>> other.label, other.ways[0].changes[0].name, other.ways[0].changes[0].value
        ('pepper', 'x1', 'long')
        """
        from localbayes.explain import explain

        return explain(self, X, top=top, kappas=kappas, why_not=why_not, fixed=fixed)  # type: ignore[arg-type]
