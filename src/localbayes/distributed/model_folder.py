"""A fitted classifier as a folder: a description, and one file for each part of its rows.

``model.skops`` is a model file (see ``localbayes.persistence``). For a classifier that keeps rows, its field
``statistic`` names the files of rows in place of the rows themselves.
"""

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from localbayes.classifiers import CLASSIFIERS, BayesClassifier
from localbayes.distributed.row_files import RowFile, described, mapped_index, row_files
from localbayes.fields import Fields
from localbayes.persistence.archive import damaged, pack, unpack
from localbayes.persistence.schema import fields_of, model_of

__all__ = [
    "check_folder",
    "check_kind",
    "is_known",
    "load_folder",
    "new_folder",
    "read_description",
    "without_rows",
    "write_description",
]

DESCRIPTION = "model.skops"


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """Refuse a folder that exists or cannot be made, before any work is done for it."""
    target = Path(os.path.abspath(folder))
    if os.path.lexists(target):
        raise FileExistsError(f"{os.fspath(folder)} exists; choose another name, or remove it first")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {os.fspath(folder)}: there is no folder {target.parent}; make it first"
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"cannot write {os.fspath(folder)}: no permission to write in the folder {target.parent}"
        )
    return target


@contextmanager
def new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty folder beside the wanted one; it gets its name when the block ends without an error.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with new_folder(Path(parent, "a")) as beside:
    ...         _ = Path(beside, "file").write_text("text")
    ...         before = Path(parent, "a").exists()
    ...     before, Path(parent, "a", "file").read_text()
    (False, 'text')
    """
    target = check_folder(folder)
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    beside.mkdir()
    try:
        yield beside
        check_folder(folder)
        beside.rename(target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_description(folder: Path, model: BayesClassifier, parts: Sequence[RowFile]) -> None:
    """Write the description of a fitted classifier.

    Parameters
    ----------
    folder : Path
        Where the files of its rows are.
    model : classifier
        Fitted; its rows, if it keeps any, may be elsewhere.
    parts : list of RowFile
        What ``write_rows`` gave for every part; empty for a classifier that keeps no rows.
    """
    with (folder / DESCRIPTION).open("xb") as file:
        file.write(_description(model, parts))
        file.flush()
        os.fsync(file.fileno())


def is_known(model: BayesClassifier) -> bool:
    """Whether the classifier is one of the library, which loading knows."""
    return CLASSIFIERS.get(type(model).__name__) is type(model)


def check_kind(model: BayesClassifier) -> None:
    """Refuse a class that loading would not know."""
    if not is_known(model):
        raise ValueError(
            f"only classifiers of localbayes are saved, and {type(model).__name__} is a class of your own: "
            "fit it again where you need it"
        )


def _description(model: Any, parts: Sequence[RowFile]) -> bytes:
    if not model.keeps_rows:
        return pack(fields_of(model))
    copy = model.without_rows()
    copy.index_ = copy.empty_statistic(copy.sizes_, len(copy.labels_))
    return pack({**fields_of(copy), "statistic": {"files": described(parts)}})


def read_description(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Fields of the description in a folder; those of a classifier with rows name its files."""
    path = Path(folder, DESCRIPTION)
    if not path.is_file():
        raise FileNotFoundError(f"{os.fspath(folder)} holds no saved model: there is no {DESCRIPTION} in it")
    return unpack(path.read_bytes(), str(path))


def load_folder(folder: str | os.PathLike[str]) -> BayesClassifier:
    """Load a classifier from a folder that ``Distributed.save`` or :func:`fit_files` wrote.

    The rows are mapped into memory, not read: they may take more than there is. The folder must stay as it is
    while the classifier is used. Every field and every row is checked, as in
    :func:`~localbayes.persistence.load_model`; so the files are read once.

    Parameters
    ----------
    folder : path
        The folder.

    Returns
    -------
    BayesClassifier
        The classifier; it predicts what the saved one did.

    Raises
    ------
    ValueError
        If a file is damaged or missing.
    OSError
        If the folder or a file in it cannot be read.
    """
    fields = read_description(folder)
    try:
        statistic = fields.get("statistic")
        if isinstance(statistic, dict) and "files" in statistic:
            files = row_files(Fields(statistic["files"], "statistic.files"))
            fields = {**fields, "statistic": mapped_index(files, Path(folder))}
        return model_of(fields)
    except Exception as error:
        raise damaged(os.fspath(folder), error) from error


def without_rows(fields: dict[str, Any]) -> tuple[Any, list[RowFile]]:
    """The classifier that a description describes, without its rows, and the description of their files.

    Class counts are those of the description; whoever loads the rows compares them.
    """
    given = Fields(fields)
    statistic = given.inner("statistic")
    if "files" not in statistic.names():
        return model_of(fields), []
    class_count = given.array("class_count", "if", 1)
    if not (np.isfinite(class_count) & (class_count >= 0)).all() or not class_count.any():
        raise ValueError("class_count must be a number of rows for every class")
    files = row_files(statistic.inner("files"))
    rest = {"room": files[0].room, "segments": []}
    model = model_of({**fields, "class_count": np.zeros_like(class_count), "statistic": rest})
    model.set_class_count(class_count.astype(np.float64 if class_count.dtype.kind == "f" else np.int64))
    return model, files
