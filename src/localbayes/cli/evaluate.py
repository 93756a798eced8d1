"""`localbayes evaluate`: cross-validation with Weka's folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.layout import add_row, make_table, print_table, stdout_console
from localbayes.cli.options import (
    AlphaOption,
    BinsOption,
    CategoricalOption,
    DaskOption,
    DataArgument,
    JobsOption,
    KappaOption,
    MethodOption,
    MissingOption,
    NeighboursOption,
    ParamOption,
    TargetOption,
    check_categorical,
    make_model,
    text_columns,
)
from localbayes.cli.progress import progress_bar
from localbayes.cli.tables import counted, size_text
from localbayes.datasets.reading import read_table, split_target

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from localbayes.classifiers import BayesClassifier

__all__ = ["cross_validate", "evaluate"]


def evaluate(
    data: DataArgument,
    target: TargetOption,
    method: MethodOption = "LCWNB",
    kappa: KappaOption = None,
    alpha: AlphaOption = None,
    k: NeighboursOption = None,
    n_bins: BinsOption = None,
    missing: MissingOption = None,
    categorical: CategoricalOption = None,
    param: ParamOption = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Folds in a run.")] = 10,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Runs, each with its own folds.")] = 1,
    jobs: JobsOption = 1,
    dask: DaskOption = None,
) -> None:
    """Estimate accuracy and log loss by stratified cross-validation.

    The folds are those of Weka's Experimenter. Bins, means and modes are learned from the training rows of
    each fold; published tables made with Weka learn them from all rows, which `localbayes study` does.
    Accuracy and log loss are means over folds, ± their standard deviation.
    """
    model = make_model(method, param, kappa=kappa, alpha=alpha, k=k, n_bins=n_bins, missing=missing)
    described = str(model)
    model.n_jobs = jobs
    X, y = split_target(read_table(data, text_columns(categorical, target)), target, data)
    check_categorical(categorical, list(X.columns))
    if folds > len(X):
        raise ValueError(f"{data} has {counted(len(X), 'row')}, too few for --folds {folds}")
    y = y if hasattr(y, "cat") else y.astype("category")
    accuracy, log_loss = cross_validate(model, X, y, folds, runs, dask)
    table = make_table({"method": "name", "accuracy in %": "number", "log loss": "number"})
    add_row(table, described, _mean_and_sd(100 * accuracy, 2), _mean_and_sd(log_loss, 4))
    plan = f"{folds}-fold cross-validation, {counted(runs, 'run')}"
    typer.echo(f"{data.name}: {size_text(X, len(y.cat.categories))}; {plan}")
    print_table(stdout_console(), table)


def cross_validate(
    model: BayesClassifier, X: pd.DataFrame, y: pd.Series, folds: int, runs: int, dask: str | None = None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Accuracy and log loss in every fold.

    Parameters
    ----------
    model : BayesClassifier
        Not fitted; it is cloned for each fold.
    X : DataFrame
        Features.
    y : Series
        Target, categorical, so that a class which a training fold lacks has a probability too.
    folds, runs : int
        Folds in a run, and runs.
    dask : str, optional
        Address of the scheduler of a Dask cluster that is to do the work, a fold a task.

    Returns
    -------
    accuracy, log_loss : ndarray of shape (folds * runs,)
        One number per fold.

    Examples
    --------
    >>> from localbayes import LCWNB
    >>> from localbayes.datasets import load
    >>> accuracy, log_loss = cross_validate(LCWNB(), *load("iris"), folds=5, runs=1)
    >>> accuracy.shape, bool(accuracy.mean() > 0.9)
    ((5,), True)
    """
    import numpy as np

    from localbayes.weka import WekaFolds

    splits = list(WekaFolds(folds, runs).split(X, y))
    with progress_bar("evaluating", len(splits)) as advance:
        if dask is None:
            scores = []
            for split in splits:
                scores.append(_score_fold(split, model, X, y))
                advance(1)
        else:
            from localbayes.scale import connect, run_tasks, share

            with connect(dask) as client:
                shared = {"model": model, "X": share(client, X), "y": share(client, y)}
                done = {}
                for k, score in run_tasks(client, _score_fold, splits, name="evaluate-fold", **shared):
                    done[k] = score
                    advance(1)
            scores = [done[k] for k in range(len(splits))]
    accuracy, log_loss = np.array(scores, dtype=np.float64).T
    return accuracy, log_loss


def _score_fold(split: tuple[Any, Any], model: BayesClassifier, X: Any, y: Any) -> tuple[float, float]:
    """Accuracy and log loss of one fold."""
    import numpy as np
    from sklearn.base import clone

    from localbayes.classifiers.base import first_best, log_total

    train, test = split
    fitted = clone(model).fit(X.iloc[train], y.iloc[train])
    place = {label: k for k, label in enumerate(fitted.classes_.tolist())}
    # Ties go to the class declared first, whatever the order of classes_.
    order = [place[label] for label in y.cat.categories.tolist()]
    log_joint = fitted.predict_log_joint(X.iloc[test])[:, order]
    truth = y.cat.codes.to_numpy()[test]
    log_proba = log_joint - log_total(log_joint)
    loss = -log_proba[np.arange(len(truth)), truth]
    return float((first_best(log_joint) == truth).mean()), float(loss.mean())


def _mean_and_sd(values: npt.NDArray[np.float64], digits: int) -> str:
    if values.max() == float("inf"):
        return "inf"
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1):.{digits}f}"
