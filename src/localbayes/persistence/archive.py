"""Fields as the bytes of a file in the format of skops, and back."""

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

__all__ = ["FORMAT", "damaged", "pack", "unpack"]

# Version of the fields. A later one reads files of all earlier ones. A file has the lowest that can hold it:
# 1 a classifier, 2 a pipeline.
FORMAT = 2

# Classes, by module and name, whose objects a file may hold; asked for only if it holds any.
Known = Callable[[], Collection[tuple[str, str]]]

# A note beside what skops writes, which says who wrote the file.
_NOTE = "localbayes.json"

# What a file may consist of: ways in which skops writes values, and the modules of their types.
_LOADERS = {
    "DictNode",
    "ListNode",
    "TupleNode",
    "SetNode",
    "JsonNode",
    "NdArrayNode",
    "TypeNode",
    "DTypeNode",
}
_MODULES = {"builtins", "numpy"}

# Types that skops wants to be told of although they only name a kind of number.
_HARMLESS = ["numpy.dtype"]

# Most bytes that a file may unpack to, and most times its own size; the larger limit counts.
_MOST_BYTES, _MOST_TIMES = 64 << 20, 50


def pack(fields: dict[str, Any], known: Known = tuple) -> bytes:
    """Bytes of a model file that holds the fields, and in them objects of known classes."""
    content = _dump(fields, zipfile.ZIP_DEFLATED, known)
    if _unpacked_size(content) > _limit(content):
        # A file that compresses this well would be refused as a zip bomb.
        content = _dump(fields, zipfile.ZIP_STORED, known)
    return content


def unpack(content: bytes, name: str, max_bytes: int | None = None, known: Known = tuple) -> dict[str, Any]:
    """Fields of a model file; files that are damaged, too large or of another format are refused.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        Its name, for messages.
    max_bytes : int, optional
        Most bytes that it may unpack to.
    known : callable
        Gives the classes whose objects the file may hold.
    """
    import skops.io

    try:
        size, limit = _unpacked_size(content), _limit(content) if max_bytes is None else max_bytes
    except Exception as error:
        raise damaged(name, error) from error
    if size > limit:
        raise ValueError(
            f"{name} would unpack to {size} bytes, more than {limit}; if you trust it, allow more (max_bytes)"
        )
    _check_format(content, name)
    try:
        foreign = _foreign_types(content, known) or _untrusted(content)
    except Exception as error:
        raise damaged(name, error) from error
    if foreign:
        raise ValueError(f"{name} is refused: it names types that are not trusted: {', '.join(foreign)}")
    try:
        fields = skops.io.loads(content, trusted=_HARMLESS)
    except Exception as error:
        raise damaged(name, error) from error
    if not isinstance(fields, dict):
        raise ValueError(f"{name} holds a {type(fields).__name__}; expected a classifier of localbayes")
    return fields


def damaged(name: str, error: Exception) -> ValueError:
    """Error for a file that is damaged or is not a model file."""
    reason = " ".join((str(error) or type(error).__name__).split())
    return ValueError(
        f"{name} is damaged or no model file ({reason:.200}); "
        "expected what `localbayes fit` or save_model wrote"
    )


def _untrusted(content: bytes) -> list[str]:
    """Types that skops does not trust, and that are not harmless."""
    import skops.io

    return sorted(set(skops.io.get_untrusted_types(data=content)) - set(_HARMLESS))


def _dump(fields: dict[str, Any], compression: int, known: Known) -> bytes:
    import skops.io

    buffer = io.BytesIO()
    try:
        skops.io.dump(_unshared(fields), buffer, compression=compression, compresslevel=1)
    except Exception as error:
        raise ValueError(
            f"the model cannot be saved ({error}); give parameters as text, numbers, lists, dicts or arrays"
        ) from error
    content = buffer.getvalue()
    foreign = _untrusted(content) or _foreign_types(content, known)
    if foreign:
        raise ValueError(
            "a model file keeps text, numbers, bools and arrays of these, but this model has "
            f"{', '.join(foreign)}: turn such values into text, and parameters into lists, before fit"
        )
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(
            _NOTE, json.dumps({"localbayes": _version(), "format": 2 if "pipeline" in fields else 1})
        )
    return buffer.getvalue()


def _unshared(value: Any) -> Any:
    """The same value without a list or dict that stands in two places."""
    if type(value) is dict:
        return {key: _unshared(inner) for key, inner in value.items()}
    return [_unshared(inner) for inner in value] if type(value) is list else value


def _foreign_types(content: bytes, known: Known) -> list[str]:
    """Types that a file names and that no field has.

    A file in which one list or dict stands in several places is refused here: nested, such lists take time
    without end to go through.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read("schema.json"))
    foreign: set[str] = set()
    times: Counter[Any] = Counter()
    holders: set[Any] = set()

    def visit(value: Any) -> int:
        """Note the nodes in a value; return how many there are."""
        if isinstance(value, list):
            return sum(map(visit, value))
        if not isinstance(value, dict):
            return 0
        within = sum(map(visit, value.values()))
        if "__loader__" not in value and "__id__" not in value:
            return within
        module, kind, loader = (value.get(f"__{key}__") for key in ("module", "class", "loader"))
        if loader == "ObjectNode":
            trusted = (module, kind) in known()
        else:
            trusted = loader in _LOADERS and module in _MODULES
        if not trusted:
            foreign.add(f"{module}.{kind}")
        times[value.get("__id__")] += 1
        # A type of numbers with one leaf inside may be shared: it cannot be nested.
        if within and not (loader == "DTypeNode" and within == 1):
            holders.add(value.get("__id__"))
        return within + 1

    visit(schema)
    if not foreign and any(times[key] > 1 for key in holders):
        raise ValueError("a list or dict stands in two places")
    return sorted(foreign)


def _unpacked_size(content: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return sum(member.file_size for member in archive.infolist())


def _limit(content: bytes) -> int:
    return max(_MOST_BYTES, _MOST_TIMES * len(content))


def _check_format(content: bytes, name: str) -> None:
    """Refuse a file of another format with a line that says who wrote it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            note = json.loads(archive.read(_NOTE))
        writer, written = str(note["localbayes"]), note.get("format")
    except Exception:
        return  # not a file of localbayes, of which skops will say more
    if written is None:
        raise ValueError(
            f"{name} was written by localbayes {writer:.20}, which {_version()} cannot read: "
            "fit the model again"
        )
    if not isinstance(written, int) or not 1 <= written <= FORMAT:
        raise ValueError(
            f"{name} has format {written!r:.20}, written by localbayes {writer:.20}; {_version()} reads "
            f"formats up to {FORMAT}: install a later localbayes"
        )


def _version() -> str:
    from localbayes import __version__

    return __version__
