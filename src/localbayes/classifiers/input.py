"""Tables in: what a classifier accepts, and its codes."""

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, validate_data

from localbayes.counts import Codes
from localbayes.encoding import Coded, TableEncoder
from localbayes.encoding.frames import is_pandas
from localbayes.encoding.tables import check_table, is_frame

__all__ = ["TableInput"]


class TableInput:
    """Checks tables against what fit saw, and turns them into codes."""

    encoder_: TableEncoder | None
    sizes_: npt.NDArray[np.uint32]
    n_features_in_: int
    missing: Any

    def encode(self, X: Any) -> Codes:
        """Codes of a table of queries.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows with the columns that fit saw.

        Returns
        -------
        codes : ndarray of shape (n, m)
            Position of every value in its domain; the largest number of the type for a value never seen.
        """
        return self.encode_checked(self.check_queries(X))

    def check_queries(self, X: Any) -> Any:
        """The table as it is encoded; one with other columns than in fit is refused."""
        if not hasattr(self, "labels_"):
            check_is_fitted(self, "labels_")  # slower than a prediction, so it is called only for its error
        return self.check_table(X, reset=False)

    def encode_checked(self, X: Any) -> Codes:
        """Codes of a table that was checked."""
        if isinstance(X, Coded):
            return X.recoded(self.sizes_, keep_missing=self.missing == "ignore")
        if self.encoder_ is None:
            raise ValueError(f"{type(self).__name__} was fitted on codes (Coded); pass codes to it here too")
        return self.encoder_.encode(X)

    def check_table(self, X: Any, reset: bool) -> Any:
        """Refuse what is not a table and, unless ``reset``, a table with other columns than in fit."""
        if isinstance(X, Coded):
            self._check_coded(X, reset)
            return X
        names = getattr(self, "feature_names_in_", None)
        if not reset and (self._is_plain(X) if names is None else _has_columns(X, names)):
            return X
        X = check_table(X, self)
        # Scikit-learn takes a third of a millisecond to find that the names are those of fit.
        if reset or names is None or not is_frame(X) or list(X.columns) != names.tolist():
            validate_data(self, _header(X), reset=reset, skip_check_array=True)
        return X

    def _is_plain(self, X: Any) -> bool:
        """Whether X is an array of numbers with rows and as many columns as in fit, so no check can fail."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype.kind in "iuf"
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
        )

    def _check_coded(self, X: Coded, reset: bool) -> None:
        if reset:
            if 0 in X.shape:
                raise ValueError(f"X must have rows and columns to learn from, got shape {X.shape}")
            self.n_features_in_ = len(X.sizes)
            vars(self).pop("feature_names_in_", None)
            if X.names is not None:
                self.feature_names_in_ = np.array(X.names, dtype=object)
        elif len(X.sizes) != self.n_features_in_:
            raise ValueError(f"X has {len(X.sizes)} features, but it was fitted with {self.n_features_in_}")
        known = getattr(self, "feature_names_in_", None)
        if X.names is not None and known is not None and list(known) != X.names:
            first = next(k for k, name in enumerate(X.names) if name != known[k])
            raise ValueError(
                f"column {first} of the codes is called {X.names[first]!r}, but {known[first]!r} in fit; "
                "give the columns in that order"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _has_columns(X: Any, names: npt.NDArray[Any]) -> bool:
    """Whether X is a pandas frame with rows and the columns of fit, so no check can fail."""
    return is_pandas(X) and len(X) > 0 and X.columns.tolist() == names.tolist()


def _header(X: Any) -> Any:
    """A table by whose columns scikit-learn knows their names: before 1.9 not those of polars 2."""
    if not is_frame(X) or nw.dependencies.is_pandas_dataframe(X):
        return X
    import pandas as pd

    return pd.DataFrame(columns=list(X.columns))
