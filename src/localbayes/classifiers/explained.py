"""What a classifier tells about itself; readers in a higher layer do the work."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from localbayes.classifiers.state import as_of_now

if TYPE_CHECKING:
    from localbayes.explain import Explanation, Importances

__all__ = ["Explained"]


class Explained:
    """Says why a classifier predicts what it predicts.

    ``feature_importances_`` is the share of every attribute in the strengths that :meth:`importances` gives,
    under the name that scikit-learn's tools look for; shares sum to one.
    """

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

    @as_of_now
    def importances(self, rows: npt.ArrayLike | None = None) -> "Importances":
        """Say how much every attribute matters, on training rows that are left out.

        Parameters
        ----------
        rows : array-like of int, optional
            Numbers of the training rows to leave out; by default all, or 5,000 drawn with a fixed seed.

        Returns
        -------
        importances : localbayes.explain.Importances
            Mean absolute log odds, and the rise of the log loss without the attribute's term.
        """
        from localbayes.explain import importances

        check_is_fitted(self, "labels_")
        return importances(self, rows)  # type: ignore[arg-type]

    if not TYPE_CHECKING:  # a type checker would take every misspelt name for an attribute

        def __getattr__(self, name: str) -> Any:
            """``feature_importances_``: shares in the mean absolute log odds, computed each time.

            A property would be computed whenever a notebook shows the classifier.
            """
            if name != "feature_importances_":
                return super().__getattr__(name)
            try:
                strength = self.importances().strength
            except ValueError as error:
                raise AttributeError(str(error)) from error  # so that hasattr says no
            total = strength.sum()
            return strength / total if total > 0 else np.full(len(strength), 1 / len(strength))
