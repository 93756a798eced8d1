"""`localbayes fit` and `localbayes predict`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.options import (
    AlphaOption,
    BinsOption,
    CategoricalOption,
    DaskOption,
    DataArgument,
    ForceOption,
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
from localbayes.cli.tables import check_place, check_table_name, counted, size_text, table_bytes
from localbayes.datasets.reading import read_table, split_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from localbayes.classifiers import BayesClassifier

__all__ = ["fit", "predict"]

# Rows between two steps of a progress bar, and of a task on a cluster.
_PART_ROWS = 4096


def fit(
    data: DataArgument,
    target: TargetOption,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="MODEL", help="Where to save the model.", show_default=False),
    ],
    method: MethodOption = "LCWNB",
    kappa: KappaOption = None,
    alpha: AlphaOption = None,
    k: NeighboursOption = None,
    n_bins: BinsOption = None,
    missing: MissingOption = None,
    categorical: CategoricalOption = None,
    param: ParamOption = None,
    force: ForceOption = False,
) -> None:
    """Learn a classifier from a table and save it.

    Columns of text are categories, columns of numbers are cut into bins. ARFF files also declare values
    that do not occur. The model file is in the format of skops and contains no code.

    In CSV, empty cells, `?`, `NA`, `NaN`, `nan`, `null` and `NULL` are missing values; every other word is a
    category, `None` and `n/a` too.
    """
    from localbayes.persistence import save_model

    model = make_model(method, param, kappa=kappa, alpha=alpha, k=k, n_bins=n_bins, missing=missing)
    check_place(output, force, data)
    X, y = split_target(read_table(data, text_columns(categorical, target)), target, data)
    check_categorical(categorical, list(X.columns))
    model.fit(X, y)
    save_model(model, output, force)
    typer.echo(f"{output}: {model}, {size_text(X, len(model.classes_))}")


def predict(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file that `fit` wrote.", show_default=False)
    ],
    data: DataArgument,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column of probabilities per class.")] = False,
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
    jobs: JobsOption = 1,
    dask: DaskOption = None,
    force: ForceOption = False,
) -> None:
    """Classify the rows of a table, in order.

    Columns are found by name; those that the model does not know, the class for one, are ignored. The
    answer has a column `prediction` and, with --proba, a column `proba_CLASS` for each class.
    """
    from localbayes._files import write_output
    from localbayes.persistence import load_model

    if output is not None:
        check_table_name(output)
        check_place(output, force, model_file, data)
    model = load_model(model_file)
    model.n_jobs = jobs
    X = _features(model, model_file, data)
    labels, probabilities = _classify(model, X, proba) if dask is None else _on_cluster(dask, model, X, proba)
    answer = _answer(model, labels, probabilities)
    if output is None:
        typer.echo(table_bytes(answer, None), nl=False)
    else:
        write_output(output, table_bytes(answer, output), force)
        typer.echo(f"{output}: {counted(len(answer), 'prediction')}")


def _features(model: BayesClassifier, model_file: Path, data: Path) -> Any:
    """Columns that the model was fitted on, in the types that it knows."""
    from localbayes.datasets.registry import close_names
    from localbayes.encoding.columns import CategoricalColumn

    encoder = model.encoder_
    if encoder is None:
        raise ValueError(f"{model_file} was fitted on codes, not on a table: use it from Python")
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return read_table(data).to_numpy(dtype=object, na_value=float("nan"))
    categories = {
        str(name): column.values
        for name, column in zip(encoder.names, encoder.columns, strict=True)
        if isinstance(column, CategoricalColumn)
    }
    # Text first: a file in which all values look like numbers must not hide that they are categories.
    frame = read_table(data, categories.__contains__)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        more = f" ({len(absent)} of the model's {len(names)} columns are missing)" if absent[1:] else ""
        close = close_names(absent[0], frame.columns)
        hint = f"; did you mean {close}?" if close else ""
        raise ValueError(
            f"{data} lacks the column {absent[0]!r}, with which {model_file} was fitted{more}{hint}"
        )
    frame = frame[list(names)].copy()
    for name, values in categories.items():
        frame[name] = _as_in_model(frame[name], values)
    return frame


def _as_in_model(cells: pd.Series, values: Sequence[Any]) -> pd.Series:
    """Cells of a file as the categories that the model knows, which may be numbers or truth values."""
    import pandas as pd

    from localbayes.datasets.reading import as_text

    if pd.api.types.is_string_dtype(cells.dtype) and all(isinstance(v, str) for v in values):
        return cells  # which are text already
    truths = [v for v in values if isinstance(v, bool)]
    by_text = {write(str(v)): v for v in truths for write in (str.lower, str.upper)}
    by_text |= {as_text(v): v for v in values}
    by_number = {float(v): v for v in values if isinstance(v, int | float) and not isinstance(v, bool)}

    def known(cell: Any) -> Any:
        text = as_text(cell)
        if text in by_text:
            return by_text[text]
        with contextlib.suppress(ValueError):
            return by_number.get(float(text), cell)
        return cell

    found = {cell: known(cell) for cell in cells.dropna().unique()}
    # Pandas would make floating point of whole numbers beside a missing one.
    return pd.Series([found.get(cell) for cell in cells], index=cells.index, dtype=object)


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


def _on_cluster(address: str, model: BayesClassifier, X: Any, proba: bool) -> tuple[Any, Any]:
    """The same from the workers of a Dask cluster."""
    from localbayes.scale import classify, connect

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
