"""The paper's columns that are no plain classifier: three kappas in one pass, LWNB and ICLNB as printed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from localbayes.study.methods import Fold, Method, fit_named, own_method
from localbayes.study.paper.printed_table import PAPER_COLUMNS
from localbayes.study.paper.tie_rule import predict_as_published
from localbayes.study.scoring import Prediction

__all__ = ["DEFAULT_COLUMNS", "GROUPS", "KAPPAS", "RIVALS", "paper_methods"]

KAPPAS = {"LCWNB5": 5.0, "LCWNB10": 10.0, "LCWNB20": 20.0}
RIVALS = ("AODE", "WAODE", "HNB", "LWNB", "ICLNB")
DEFAULT_COLUMNS = ("LocalBayes", "LCWNB", *PAPER_COLUMNS, "LWNB-proper", "LWNB-declared", "ICLNB-declared")
GROUPS = {"paper": PAPER_COLUMNS, "kappas": tuple(KAPPAS)}


@cache
def paper_methods() -> tuple[Method, ...]:
    """Return the methods of these columns.

    Examples
    --------
    >>> paper_methods()[0].columns
    ('LCWNB5', 'LCWNB10', 'LCWNB20')
    """
    words = tuple(f"lazy cell-weighted naive Bayes, kappa = {kappa:g}" for kappa in KAPPAS.values())
    zero = "locally weighted naive Bayes, d_k = 0"
    return (
        # The three kappas share one pass over the counts.
        Method("kappas", tuple(KAPPAS), _fit_kappas, _predict_kappas, words),
        _printed("LWNB", f"{zero} as published", k=50, zero_distance="published"),
        _printed("ICLNB", "instance cloning local naive Bayes", k=10),
        own_method("LWNB-proper", "LWNB", f"{zero} with equal weights", k=50),
    )


def _fit_kappas(fold: Fold) -> Any:
    return fit_named("LCWNB", {"kappa": 5.0}, fold)


def _predict_kappas(model: Any, fold: Fold, columns: Sequence[str]) -> dict[str, Prediction]:
    log_joints = model.log_joint_many(fold.test, [KAPPAS[column] for column in columns])
    return {c: Prediction(model.classes_, scores) for c, scores in zip(columns, log_joints, strict=True)}


def _printed(name: str, about: str, **options: Any) -> Method:
    """Make a method of two columns: ties broken to give the printed digits, and by the plain rule."""
    fit, predict = partial(fit_named, name, options), partial(_predict_printed, name)
    words = (
        f"{about}; ties broken by an arithmetic fitted to the printed table",
        f"{about}; first class wins a tie",
    )
    return Method(name, (name, f"{name}-declared"), fit, predict, words)


def _predict_printed(name: str, model: Any, fold: Fold, columns: Sequence[str]) -> dict[str, Prediction]:
    log_joint = model.predict_log_joint(fold.test)
    plain = Prediction(model.classes_, log_joint)
    # The printed figures are of codes; on raw tables there is nothing that an arithmetic was fitted to.
    fitted = name if not fold.raw else None
    return {c: predict_as_published(name, model, fold, log_joint) if c == fitted else plain for c in columns}
