"""The order of the gallery: from the first steps to special things."""

from __future__ import annotations

__all__ = ["InOrder"]

ORDER = (
    "first_steps",
    "explanation",
    "alternatives",
    "prediction_sets",
    "audit_labels",
    "kappa",
    "tree",
    "own_weighting",
    "own_study",
    "many_rows",
    "serving",
)


class InOrder:
    """Key of an example's file name; what is not named comes last."""

    def __init__(self, folder: str) -> None:
        """Take the folder, which the gallery gives and which does not matter."""

    def __call__(self, name: str) -> tuple[int, str]:
        """Where an example stands."""
        stem = name.removeprefix("plot_").removesuffix(".py")
        return (ORDER.index(stem) if stem in ORDER else len(ORDER), stem)

    def __repr__(self) -> str:
        """The same text in every run, so that nothing is built again for it."""
        return "InOrder"
