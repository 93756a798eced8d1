"""A fitted classifier, asked on the workers of a cluster: many queries, not many rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.distributed.dask.connection import Progress
from localbayes.distributed.dask.whole_tasks import run_tasks, share

__all__ = ["classify"]


def classify(
    client: Any,
    model: BayesClassifier,
    X: Any,
    *,
    method: str = "predict",
    part_rows: int = 4096,
    progress: Progress | None = None,
) -> npt.NDArray[Any]:
    """Spread queries over the workers, each of which gets the whole classifier.

    This is for a classifier that fits in the memory of a worker; one that does not is fitted there by
    :class:`~localbayes.distributed.Distributed`.

    Parameters
    ----------
    client : distributed.Client
        A connected client.
    model : classifier
        Fitted.
    X : DataFrame, array or Coded of shape (n, m)
        Rows to classify.
    method : {"predict", "predict_proba", "predict_log_proba", "predict_log_joint"}
        What to call.
    part_rows : int, default=4096
        Rows that a worker gets at a time.
    progress : callable, optional
        Called with the stage, the number of parts done and their number.

    Returns
    -------
    answer : ndarray
        What the method gives for all rows, in order.

    Examples
    --------
    >>> from distributed import Client
    >>> from localbayes import NB
    >>> model = NB().fit([["a"], ["b"]], ["no", "yes"])
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     classify(client, model, np.array([["b"], ["a"]]), part_rows=1).tolist()
    ['yes', 'no']
    """
    if part_rows < 1:
        raise ValueError(f"part_rows must be at least 1, got {part_rows}")
    rows = X.iloc if hasattr(X, "iloc") else X
    parts = [rows[begin : begin + part_rows] for begin in range(0, max(1, len(X)), part_rows)]
    shared = {"model": share(client, model), "method": method}
    answers = dict(run_tasks(client, _classify, parts, name="classify-queries", progress=progress, **shared))
    return np.concatenate([answers[k] for k in range(len(parts))])


def _classify(X: Any, model: BayesClassifier, method: str) -> npt.NDArray[Any]:
    answer: npt.NDArray[Any] = getattr(model, method)(X)
    return answer
