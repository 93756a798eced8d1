"""Rivals for raw tables: pipelines that prepare numbers, categories, text and missing values in fit.

What a pipeline knows of values, means and scales comes from the rows it is fitted on. Every classifier has
the defaults of its library, with one thread and a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NAMES", "TypedColumns", "make"]

# Most categories of a column that scikit-learn's gradient boosting takes.
_MOST_CATEGORIES = 255
_MISSING = "missing"


class TypedColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a table into columns of two types, numbers and categories, with the names c0, c1, ...

    Dates are numbers. Categories are the declared ones of a column of dtype category, and the observed ones
    of any other column that does not hold numbers, as text. A category that comes later is missing. Columns
    without a value are left out.

    Parameters
    ----------
    most_categories : int, optional
        A column with more categories becomes their positions, as numbers.
    fill : bool
        Whether a missing category is one more category.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, None], "colour": ["red", "blue"], "void": [None, None]})
    >>> TypedColumns().fit_transform(table).dtypes.astype(str).to_dict()
    {'c0': 'float64', 'c1': 'category'}
    """

    def __init__(self, most_categories: int | None = None, fill: bool = False) -> None:
        self.most_categories = most_categories
        self.fill = fill

    def fit(self, X: pd.DataFrame, y: Any = None) -> TypedColumns:
        """Learn which columns have values, and the categories of each that holds no numbers."""
        import pandas as pd

        self.categories_: dict[int, Any] = {}
        for i in range(X.shape[1]):
            column = X.iloc[:, i]
            if not column.notna().any():
                continue
            if isinstance(column.dtype, pd.CategoricalDtype):
                self.categories_[i] = column.cat.categories
            elif column.dtype.kind in "iufmM":
                self.categories_[i] = None
            else:
                self.categories_[i] = pd.Index(sorted(column.dropna().unique(), key=str))
        if not self.categories_:
            raise ValueError("no column has a value to learn from")
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the typed columns."""
        import pandas as pd

        columns = {
            f"c{i}": _numbers(X.iloc[:, i]) if known is None else self._typed(X.iloc[:, i], known)
            for i, known in self.categories_.items()
        }
        return pd.DataFrame(columns, index=X.index)

    def _typed(self, column: pd.Series[Any], known: Any) -> Any:
        import pandas as pd

        codes = known.get_indexer(column.astype(object))
        if self.most_categories is not None and len(known) > self.most_categories:
            return np.where(codes < 0, np.nan, codes.astype(np.float64))
        texts = [str(value) for value in known]
        # Two values may have one text, as 1 and "1" have, and a value may be called missing.
        while len(set(texts)) < len(texts) or _MISSING in texts:
            texts = [f"{text} ({k})" for k, text in enumerate(texts)]
        if self.fill:
            codes, texts = np.where(codes < 0, len(texts), codes), [*texts, _MISSING]
        return pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype=object))


def _numbers(column: pd.Series[Any]) -> Any:
    """Numbers with NaN where a value is missing; of a date the nanoseconds since 1970."""
    if column.dtype.kind not in "mM":
        return column.astype(np.float64)
    return column.astype(np.int64).where(column.notna()).astype(np.float64)


def make(name: str, X: pd.DataFrame, y: Any) -> Any:
    """Make a rival for a raw table.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    X : DataFrame
        The training rows: CatBoost wants to know beforehand which columns hold categories.
    y : array
        Their classes.

    Returns
    -------
    estimator
        Not fitted.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, None, 3.0, 4.0], "colour": ["red", "blue", None, "blue"]})
    >>> model = make("LogisticRegression", table, [0, 0, 1, 1]).fit(table, [0, 0, 1, 1])
    >>> model.predict(pd.DataFrame({"size": [5.0], "colour": ["green"]})).tolist()
    [1]
    """
    if name not in _MAKERS:
        raise ValueError(f"no rival is called {name!r}: expected one of {', '.join(NAMES)}")
    return _MAKERS[name](X, y)


def _prepared(model: Any, scaled: bool = False) -> Any:
    """Impute means and modes, encode categories as indicators, and perhaps scale numbers."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [SimpleImputer(), StandardScaler()] if scaled else [SimpleImputer()]
    names = [SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")]
    columns = make_column_transformer(
        (make_pipeline(*numbers), make_column_selector(dtype_include="number")),
        (make_pipeline(*names), make_column_selector(dtype_include="category")),
    )
    return make_pipeline(TypedColumns(), columns, model)


def _forest(X: pd.DataFrame, y: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return _prepared(RandomForestClassifier(random_state=0))


def _hist_boosting(X: pd.DataFrame, y: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline

    # Of a class with one row it can set none aside, which it does to stop early on large tables.
    counts = np.unique(np.asarray(y), return_counts=True)[1]
    stop = "auto" if counts.min() > 1 else False
    model = HistGradientBoostingClassifier(
        categorical_features="from_dtype", early_stopping=stop, random_state=0
    )
    return make_pipeline(TypedColumns(_MOST_CATEGORIES), model)


def _logistic(X: pd.DataFrame, y: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _prepared(LogisticRegression(max_iter=1000), scaled=True)


def _neighbours(X: pd.DataFrame, y: Any) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    # So many neighbours as rows at most.
    return _prepared(KNeighborsClassifier(min(10, len(X))), scaled=True)


def _naive_bayes(X: pd.DataFrame, y: Any) -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

    numbers = make_pipeline(SimpleImputer(), KBinsDiscretizer(10, encode="ordinal", strategy="uniform"))
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    names = make_pipeline(encoder, SimpleImputer(strategy="most_frequent"))
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (names, make_column_selector(dtype_include="category")),
    )
    return make_pipeline(TypedColumns(), columns, CategoricalNB())


def _lightgbm(X: pd.DataFrame, y: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    model = import_module("lightgbm").LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    return make_pipeline(TypedColumns(), model)


def _catboost(X: pd.DataFrame, y: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    typed = TypedColumns(fill=True).fit(X)
    model = import_module("catboost").CatBoostClassifier(
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
        random_seed=0,
        cat_features=[f"c{i}" for i, known in typed.categories_.items() if known is not None],
    )
    return make_pipeline(TypedColumns(fill=True), model)


def _ebm(X: pd.DataFrame, y: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    model = import_module("interpret.glassbox").ExplainableBoostingClassifier(n_jobs=1, random_state=0)
    return make_pipeline(TypedColumns(), model)


_MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "RandomForest": _forest,
    "HistGradientBoosting": _hist_boosting,
    "LogisticRegression": _logistic,
    "kNN": _neighbours,
    "CategoricalNB": _naive_bayes,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    "EBM": _ebm,
}
NAMES = tuple(_MAKERS)
