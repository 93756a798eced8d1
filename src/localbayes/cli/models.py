"""`localbayes fit` and `localbayes predict`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.describe import describe_model
from localbayes.cli.input_tables import check_place, check_table_name, counted, filled, size_text, table_bytes
from localbayes.cli.inputs import Columns, data_path, features_for, read_labelled, reading
from localbayes.cli.options import (
    AlphaOption,
    BinsOption,
    CategoricalOption,
    DaskOption,
    DataArgument,
    DecimalOption,
    DropOption,
    EncodingOption,
    ForceOption,
    JobsOption,
    KappaOption,
    KeepOption,
    MethodOption,
    MissingOption,
    NaOption,
    NeighboursOption,
    ParamOption,
    SepOption,
    SkipOption,
    TargetOption,
    make_model,
)
from localbayes.cli.progress import progress_bar
from localbayes.cli.waiting import sign_of_life

if TYPE_CHECKING:
    import pandas as pd

    from localbayes.classifiers import BayesClassifier

__all__ = ["fit", "predict"]

# Rows between two steps of a progress bar, and of a task on a cluster.
_PART_ROWS = 4096


def fit(
    data: DataArgument,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="MODEL", help="Where to save the model.", show_default=False),
    ],
    target: TargetOption = None,
    method: MethodOption = None,
    kappa: KappaOption = None,
    alpha: AlphaOption = None,
    k: NeighboursOption = None,
    n_bins: BinsOption = None,
    missing: MissingOption = None,
    categorical: CategoricalOption = None,
    param: ParamOption = None,
    drop: DropOption = None,
    keep: KeepOption = None,
    skip_unlabelled: SkipOption = False,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    with_rows: Annotated[
        bool,
        typer.Option(
            "--with-rows",
            help="NB, TAN, AODE, WAODE, HNB: save the training rows, too; predict --set needs them.",
        ),
    ] = False,
    force: ForceOption = False,
) -> None:
    """Learn a classifier from a table and save it.

    Columns of text are categories, columns of numbers are cut into bins. ARFF files also declare values
    that do not occur. The model file is in the format of skops and contains no code.

    In CSV, empty cells, `?`, `NA`, `N/A`, `NaN`, `null`, `None` and what else pandas takes for missing are
    missing values; --na adds words.

    Example: `localbayes fit votes.csv --target party -o votes.skops`
    """
    from localbayes.persistence import save_model

    model = make_model(method, param, kappa=kappa, alpha=alpha, k=k, n_bins=n_bins, missing=missing)
    check_place(output, force, data_path(data))
    columns, how = Columns(categorical, drop, keep), reading(sep, encoding, na, decimal)
    X, y = read_labelled(data, target, columns, how, skip_unlabelled)
    with sign_of_life("fitting"):
        model.fit(X, y)
    save_model(model, output, force, with_rows)
    typer.echo(describe_model(model, y, columns.left_out))
    typer.echo(filled(f"{output}: {model}, {size_text(X, len(model.classes_))}"))


def predict(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file that `fit` wrote.", show_default=False)
    ],
    data: DataArgument,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column of probabilities per class.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COL", help="A column of DATA to copy; repeat for more."),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS=P",
            help="Predict CLASS where its probability is at least P, else the best other class.",
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            "--set",
            metavar="SHARE",
            help="Add a column per class: may the row have it? For this share of rows the true one is among "
            "them; see docs/trust.md.",
        ),
    ] = None,
    by_class: Annotated[
        bool, typer.Option("--by-class", help="With --set: for that share of the rows of every class.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="A .csv or .parquet file; without it CSV goes to standard output.",
            show_default=False,
        ),
    ] = None,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    jobs: JobsOption = 1,
    dask: DaskOption = None,
    force: ForceOption = False,
) -> None:
    """Classify the rows of a table, in order.

    Columns are found by name; those that the model does not know, the class for one, are ignored. The
    answer has the columns of --keep, a column `prediction` and, for each class, with --proba a column
    `proba_CLASS` and with --set a column `set_CLASS` of True and False.

    Example: `localbayes predict votes.skops new.csv --proba --keep id -o out.csv`
    """
    from localbayes._files import write_output
    from localbayes.parameters import check_share
    from localbayes.persistence import load_classifier

    if output is not None:
        check_table_name(output)
        check_place(output, force, model_file, data_path(data))
    if coverage is not None:
        check_share("--set", coverage)
    if coverage is not None and dask is not None:
        raise ValueError("--set counts training rows in memory, not on a cluster; leave --dask out")
    if by_class and coverage is None:
        raise ValueError("--by-class says what --set is to hold for; give --set SHARE, too")
    model = load_classifier(model_file)
    model.n_jobs = jobs
    at_least = None if threshold is None else _threshold(threshold, model)
    X, frame = features_for(model, model_file, data, reading(sep, encoding, na, decimal))
    copied = _copied(frame, keep, data)
    wanted = proba or at_least is not None
    labels, chances = _classify(model, X, wanted) if dask is None else _on_cluster(dask, model, X, wanted)
    if at_least is not None:
        labels = _with_threshold(model, chances, *at_least)
    answer = _answer(model, labels, chances if proba else None)
    if coverage is not None:
        sets = _sets(model, X, coverage, by_class)
        answer = answer.assign(
            **{f"set_{label}": sets[:, k] for k, label in enumerate(model.classes_.tolist())}
        )
    for place, (name, column) in enumerate(copied.items()):
        if name in answer.columns:
            raise ValueError(f"--keep: the answer has a column {name!r} of its own; rename it in {data}")
        answer.insert(place, name, column.to_numpy())
    if output is None:
        typer.echo(table_bytes(answer, None), nl=False)
    else:
        write_output(output, table_bytes(answer, output), force)
        typer.echo(f"{output}: {counted(len(answer), 'prediction')}")


def _copied(frame: pd.DataFrame, keep: list[str] | None, data: Path) -> pd.DataFrame:
    from localbayes.datasets.registry import no_such

    for name in keep or []:
        if name not in frame.columns:
            raise ValueError(f"--keep: {data}: {no_such('column is called', name, frame.columns)}")
    return frame[list(dict.fromkeys(keep or []))]


def _threshold(text: str, model: BayesClassifier) -> tuple[int, float]:
    """Read CLASS=P: the position of the class and its least probability."""
    from localbayes.datasets.registry import no_such

    label, equals, number = text.rpartition("=")
    try:
        least = float(number)
    except ValueError:
        least = -1.0
    if not equals or not 0 <= least <= 1:
        raise ValueError(f"--threshold must be CLASS=P with P from 0 to 1, got {text!r}")
    classes = [str(known) for known in model.classes_.tolist()]
    if label not in classes:
        raise ValueError("--threshold: " + no_such("class is called", label, classes))
    return classes.index(label), least


def _with_threshold(model: BayesClassifier, chances: Any, position: int, least: float) -> Any:
    others = chances.copy()
    others[:, position] = -1.0
    best = others.argmax(axis=1)
    best[chances[:, position] >= least] = position
    return model.classes_[best]


def _classify(model: BayesClassifier, X: Any, proba: bool) -> tuple[Any, Any]:
    """Labels, and probabilities if wanted."""
    import numpy as np

    step = max(_PART_ROWS, -(-len(X) // 100))
    labels, probabilities = [], []
    with progress_bar("predicting", len(X)) as advance:
        for begin in range(0, len(X), step):
            part = X[begin : begin + step]
            labels.append(model.predict(part))
            if proba:
                probabilities.append(model.predict_proba(part))
            advance(len(part))
    return np.concatenate(labels), np.concatenate(probabilities) if proba else None


def _sets(model: BayesClassifier, X: Any, coverage: float, by_class: bool) -> Any:
    """Prediction sets; the training rows are left out one by one, which takes longest."""
    with sign_of_life("leaving training rows out"):
        return model.predict_set(X, coverage, by_class)


def _on_cluster(address: str, model: BayesClassifier, X: Any, proba: bool) -> tuple[Any, Any]:
    """The same from the workers of a Dask cluster."""
    from localbayes.distributed import classify, connect

    wanted = ["predict", "predict_proba"] if proba else ["predict"]
    answers = []
    with connect(address) as client:
        for method in wanted:
            with progress_bar(method, -(-len(X) // _PART_ROWS)) as advance:
                step = lambda *_, advance=advance: advance(1)  # noqa: E731
                answers.append(classify(client, model, X, method=method, part_rows=_PART_ROWS, progress=step))
    return answers[0], answers[1] if proba else None


def _answer(model: BayesClassifier, labels: Any, probabilities: Any) -> pd.DataFrame:
    import pandas as pd

    answer = pd.DataFrame({"prediction": labels})
    if probabilities is not None:
        for k, label in enumerate(model.classes_.tolist()):
            answer[f"proba_{label}"] = probabilities[:, k]
    return answer
