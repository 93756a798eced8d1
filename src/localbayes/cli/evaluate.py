"""`localbayes evaluate`: cross-validation with Weka's folds."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.evaluation_text import as_json, print_evaluation
from localbayes.cli.input_tables import counted, size_text
from localbayes.cli.inputs import Columns, data_path, input_name, read_labelled, reading
from localbayes.cli.options import (
    AlphaOption,
    BinsOption,
    CategoricalOption,
    DaskOption,
    DataArgument,
    DecimalOption,
    DropOption,
    EncodingOption,
    JobsOption,
    KappaOption,
    KeepOption,
    MethodsOption,
    MissingOption,
    NaOption,
    NeighboursOption,
    ParamOption,
    SepOption,
    SkipOption,
    TargetOption,
    make_models,
    method_names,
)
from localbayes.cli.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from localbayes.classifiers import BayesClassifier
    from localbayes.cli.measured import FoldAnswer, Scores

__all__ = ["cross_validate", "evaluate"]


def evaluate(
    data: DataArgument,
    target: TargetOption = None,
    method: MethodsOption = None,
    kappa: KappaOption = None,
    alpha: AlphaOption = None,
    k: NeighboursOption = None,
    n_bins: BinsOption = None,
    missing: MissingOption = None,
    categorical: CategoricalOption = None,
    param: ParamOption = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Folds in a run.")] = 10,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Runs, each with its own folds.")] = 1,
    json_wanted: Annotated[
        bool, typer.Option("--json", help="Print all figures as JSON, folds and seconds too.")
    ] = False,
    times: Annotated[bool, typer.Option("--times", help="Add seconds for learning and predicting.")] = False,
    drop: DropOption = None,
    keep: KeepOption = None,
    skip_unlabelled: SkipOption = False,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    jobs: JobsOption = 1,
    dask: DaskOption = None,
) -> None:
    """Measure classifiers by stratified cross-validation.

    The folds are those of Weka's Experimenter. Bins, means and modes are learned from the training rows of
    each fold; published tables made with Weka learn them from all rows, which `localbayes study` does.
    Accuracy and log loss are means over folds, ± their standard deviation; AUC is a mean over folds too, the
    other scores are taken over all test rows of a run. The last row is the baseline: always the most
    frequent class. With several methods, p is that of the corrected paired t-test of the accuracy against
    the first one.

    Example: `localbayes evaluate vote -m LCWNB,NB,AODE --runs 10`
    """
    names = method_names(method, kappa)
    models = make_models(names, param, kappa=kappa, alpha=alpha, k=k, n_bins=n_bins, missing=missing)
    columns, how = Columns(categorical, drop, keep), reading(sep, encoding, na, decimal)
    X, y = read_labelled(data, target, columns, how, skip_unlabelled)
    if folds > len(X):
        raise ValueError(f"{data} has {counted(len(X), 'row')}, too few for --folds {folds}")
    y = y if hasattr(y, "cat") else y.astype("category")
    if y.nunique() == 1:
        raise ValueError(f"{data} has one class only, {str(y.iloc[0])!r}; there is nothing to tell apart")
    described = [str(model) for model in models]
    for model in models:
        model.n_jobs = jobs
    scores = _score(models, X, y, folds, runs, dask)
    results = dict(zip(described, scores[:-1], strict=True))
    classes = y.cat.categories.tolist()
    majority = str(y.value_counts().index[0])
    if json_wanted:
        about = {
            "data": input_name(data_path(data)),
            "rows": len(X),
            "columns": X.shape[1],
            "folds": folds,
            "runs": runs,
        }
        typer.echo(json.dumps(about | as_json(results, scores[-1], majority, classes, folds), indent=2))
        return
    about_data = f"{input_name(data_path(data))}: {size_text(X, len(classes))};"
    plan = f"{folds}-fold cross-validation, {counted(runs, 'run')}"
    typer.echo(f"{about_data}{' ' if len(about_data) + len(plan) < 80 else chr(10)}{plan}")
    print_evaluation(results, scores[-1], majority, classes, folds, runs, times)


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
        Address of the scheduler of a Dask cluster that does the work, a fold a task.

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
    scores = _score([model], X, y, folds, runs, dask)[0]
    return scores.accuracy, scores.log_loss


def _score(
    models: list[BayesClassifier], X: pd.DataFrame, y: pd.Series, folds: int, runs: int, dask: str | None
) -> list[Scores]:
    """Scores of the models, and of the majority class behind them."""
    from localbayes.cli.measured import Scores
    from localbayes.weka import WekaFolds

    splits = list(WekaFolds(folds, runs).split(X, y))
    with progress_bar("evaluating", len(splits) * len(models)) as advance:
        answers = [_answers(model, X, y, splits, dask, advance) for model in models]
    answers.append([_majority_fold(split, y) for split in splits])
    return [Scores(answer, runs, len(y.cat.categories)) for answer in answers]


def _answers(
    model: BayesClassifier,
    X: Any,
    y: Any,
    splits: list[Any],
    dask: str | None,
    advance: Callable[[int], None],
) -> list[FoldAnswer]:
    """What a model says of the test rows of every fold."""
    done = {}
    if dask is None:
        for k, split in enumerate(splits):
            done[k] = _answer_fold(split, model, X, y)
            advance(1)
    else:
        from localbayes.distributed import connect, run_tasks, share

        with connect(dask) as client:
            shared = {"model": model, "X": share(client, X), "y": share(client, y)}
            for k, answer in run_tasks(client, _answer_fold, splits, name="evaluate-fold", **shared):
                done[k] = answer
                advance(1)
    return [done[k] for k in range(len(splits))]


def _answer_fold(split: tuple[Any, Any], model: BayesClassifier, X: Any, y: Any) -> FoldAnswer:
    from sklearn.base import clone

    from localbayes.classifiers.scores import first_best, log_total
    from localbayes.cli.measured import FoldAnswer

    train, test = split
    begin = time.perf_counter()
    fitted = clone(model).fit(X.iloc[train], y.iloc[train])
    learned = time.perf_counter()
    place = {label: k for k, label in enumerate(fitted.classes_.tolist())}
    # Ties go to the class declared first, whatever the order of classes_.
    order = [place[label] for label in y.cat.categories.tolist()]
    log_joint = fitted.predict_log_joint(X.iloc[test])[:, order]
    answered = time.perf_counter()
    truth = y.cat.codes.to_numpy()[test].astype("int64")
    log_proba = log_joint - log_total(log_joint)
    return FoldAnswer(truth, first_best(log_joint), log_proba, learned - begin, answered - learned)


def _majority_fold(split: tuple[Any, Any], y: Any) -> FoldAnswer:
    """What follows from the class frequencies of the training rows alone, with Laplace's constant 1."""
    import numpy as np

    from localbayes.cli.measured import FoldAnswer

    train, test = split
    codes = y.cat.codes.to_numpy().astype("int64")
    counts = np.bincount(codes[train], minlength=len(y.cat.categories)) + 1.0
    log_proba = np.tile(np.log(counts / counts.sum()), (len(test), 1))
    return FoldAnswer(codes[test], np.full(len(test), counts.argmax()), log_proba)
