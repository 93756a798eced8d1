"""The what-if page: one self-contained HTML file that computes the classifier itself."""

import base64
import hashlib
import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from localbayes._files import check_output, write_output
from localbayes.classifiers import BayesClassifier
from localbayes.encoding.discriminant import Discriminant
from localbayes.encoding.terms import Crossed, Intervals, Odds, Values
from localbayes.explain.page import page_environment
from localbayes.parameters import check_count
from localbayes.whatif.bundle import script
from localbayes.whatif.controls import attribute_controls, common_values, preset_values
from localbayes.whatif.formula_fields import formula_fields, value_totals
from localbayes.whatif.packing import packed, safe_json

__all__ = ["MAX_PAGE_BYTES", "what_if", "what_if_page"]

MAX_PAGE_BYTES = 5_000_000
"""A larger page is refused unless ``max_bytes`` allows it."""


def what_if(
    clf: BayesClassifier,
    path: str | os.PathLike[str],
    *,
    presets: Any = None,
    embed_rows: bool = False,
    title: str = "What if?",
    subtitle: str = "",
    max_bytes: int = MAX_PAGE_BYTES,
    force: bool = False,
) -> None:
    """Write a page on which the values of a row are changed and the prediction moves.

    The page is one file. It computes the classifier itself, in JavaScript, and asks no network for anything.

    Parameters
    ----------
    clf : BayesClassifier
        A fitted classifier of this package.
    path : path
        Where to write the page.
    presets : DataFrame or array of shape (n, m), optional
        Rows to begin with; the page holds their values.
    embed_rows : bool, default=False
        Allow the page to hold all training rows, from which LCWNB, LWNB, ICLNB and LocalBayesClassifier
        answer. Whoever has the page can read them.
    title, subtitle : str
        Heading of the page, and what stands above it.
    max_bytes : int, default=5,000,000
        A larger page is refused.
    force : bool, default=False
        Whether a file of that name may be replaced.

    Raises
    ------
    ValueError
        If the classifier is not fitted, or the page would hold training rows, or be large, and that is not
        allowed.
    OSError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localbayes import NB
    >>> clf = NB().fit([["red", "round"], ["green", "long"]], ["apple", "pepper"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     what_if(clf, pathlib.Path(folder, "page.html"), presets=[["red", "long"]])
    ...     pathlib.Path(folder, "page.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_output(path, force)
    page = what_if_page(
        clf, presets=presets, embed_rows=embed_rows, title=title, subtitle=subtitle, max_bytes=max_bytes
    )
    write_output(path, _utf8(page), force)


def what_if_page(
    clf: BayesClassifier,
    *,
    presets: Any = None,
    embed_rows: bool = False,
    title: str = "What if?",
    subtitle: str = "",
    max_bytes: int = MAX_PAGE_BYTES,
) -> str:
    """Return the page that :func:`what_if` writes; parameters are those of it.

    Examples
    --------
    >>> from localbayes import NB
    >>> page = what_if_page(NB().fit([["</script>"], ["b"]], ["<b>", "no"]))
    >>> page.count("</script>"), "<b>" in page
    (2, False)
    """
    environment = page_environment("localbayes.whatif")
    if not isinstance(clf, BayesClassifier):
        advice = "; pass its estimator_" if hasattr(clf, "estimator_") else ""
        raise TypeError(f"expected a classifier of localbayes, got {type(clf).__name__}{advice}")
    check_count("max_bytes", max_bytes)
    check_is_fitted(clf, "labels_")
    clf.learned()  # parameters that were changed since fit are refused
    if not hasattr(clf, "statistic"):
        raise ValueError(
            f"this {type(clf).__name__} has no training rows in memory, they are on a cluster; save its "
            "model as a folder and pass what localbayes.distributed.load_folder gives"
        )
    if clf.keeps_rows and not embed_rows:
        raise ValueError(
            f"{type(clf).__name__} answers from its training rows, so the page would hold all "
            f"{clf.statistic.n_rows} of them for everyone to read; allow it with embed_rows=True "
            "(--embed-rows), or use a classifier that keeps counts, such as NB or AODE"
        )
    _refuse_many_rows(clf, max_bytes)
    model = safe_json(_model(clf, presets))
    style, code = environment.get_template("what_if.css").render(), script()
    page = environment.get_template("what_if.html.j2").render(
        title=title,
        subtitle=subtitle,
        method=str(clf),
        model=model,
        style=style,
        script=code,
        style_hash=_hash(style),
        script_hash=_hash(code),
        n_rows=f"{clf.class_count.sum():,.6g}",
        n_attributes=clf.n_features_in_,
        keeps_rows=clf.keeps_rows,
    )
    size = len(_utf8(page))
    if size > max_bytes:
        raise ValueError(_too_large(clf, size, max_bytes))
    return page


def _model(clf: BayesClassifier, presets: Any) -> dict[str, Any]:
    rows = [] if presets is None else preset_values(clf, presets)
    shift = clf.moved(np.zeros((1, len(clf.labels_))))[0]
    return {
        "classes": [str(label) for label in clf.labels_.declared],
        "classCount": packed(clf.class_count),
        "shift": packed(shift) if shift.any() else None,
        "baseMeaning": clf.base_meaning,
        "sizes": clf.sizes_.tolist(),
        "attributes": attribute_controls(clf),
        "terms": [_term(term) for term in getattr(clf.encoder_, "terms", ())],
        "discriminant": _discriminant(getattr(clf.encoder_, "discriminant", None)),
        "formula": formula_fields(clf),
        "hasKappas": clf.has_kappas,
        "start": common_values(clf, value_totals(clf)),
        "presets": rows,
    }


def _discriminant(found: Discriminant | None) -> dict[str, Any] | None:
    """Arrays of a linear discriminant as lists."""
    if found is None:
        return None
    fields = {name: np.asarray(value).tolist() for name, value in found.fields().items()}
    return fields | {"scores": found.n_scores}


def _term(term: Any) -> dict[str, Any]:
    """A column made of others, as the page makes it."""
    if isinstance(term, Intervals):
        return {
            "kind": "intervals",
            "source": term.source,
            "cuts": term.cuts.tolist(),
            "missing": bool(term.missing),
        }
    if isinstance(term, Values):
        return {"kind": "values", "source": term.source, "values": term.values.tolist()}
    if isinstance(term, Crossed):
        sizes = [int(size) for size in term.sizes]
        return {"kind": "crossed", "first": int(term.first), "second": int(term.second), "sizes": sizes}
    if isinstance(term, Odds):
        return {"kind": "odds", "number": int(term.number), "cuts": term.cuts.tolist()}
    raise ValueError(f"the page does not know columns made by {type(term).__name__}; use another classifier")


def _utf8(page: str) -> bytes:
    return page.encode(errors="replace")  # a title may hold halves of characters


def _hash(text: str) -> str:
    """Hash by which the page's policy knows its own script and style, and lets no other run."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def _refuse_many_rows(clf: BayesClassifier, max_bytes: int) -> None:
    """Refuse training rows that cannot fit, before they are unpacked: a cell takes a byte, in base64."""
    size = int(clf.statistic.n_rows) * len(clf.sizes_) * 4 // 3 if clf.keeps_rows else 0
    if size > max_bytes:
        raise ValueError(_too_large(clf, size, max_bytes))


def _too_large(clf: BayesClassifier, size: int, max_bytes: int) -> str:
    if clf.keeps_rows:
        advice = "fit on a sample of the rows, or use a classifier that keeps counts, such as NB"
    else:
        advice = "use NB or TAN, which need fewer counts, or group rare values"
    return (
        f"the page would take {size / 1e6:.1f} MB, more than {max_bytes / 1e6:g} MB; {advice}, or allow more "
        "with max_bytes (--max-mb)"
    )
