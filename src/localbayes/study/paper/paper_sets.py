"""The paper's 36 data sets, nine of which come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from localbayes.datasets import EMBEDDED, PAPER_SETS, load_paper_set
from localbayes.study.accuracy_table import SetInfo
from localbayes.study.benchmark import Catalogue

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CATALOGUE"]


def _load(name: str, folder: Path | None) -> tuple[pd.DataFrame, pd.Series[Any]]:
    # What comes with the package needs no network.
    return load_paper_set(name, data_dir=folder, download=name not in EMBEDDED)


CATALOGUE = Catalogue(
    sets={name: SetInfo(name, known.n, known.m, known.r) for name, known in PAPER_SETS.items()},
    groups={"paper": tuple(PAPER_SETS), "embedded": tuple(EMBEDDED)},
    default="embedded",
    load=_load,
)
