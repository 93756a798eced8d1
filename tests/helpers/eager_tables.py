"""Random categorical tables with every kind of hole in them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from localbayes.encoding import Coded

__all__ = ["Table", "tables"]


@dataclass
class Table:
    """Training rows and queries as codes, with the sizes of all domains."""

    sizes: list[int]
    r: int
    codes: np.ndarray
    classes: np.ndarray
    queries: np.ndarray

    @property
    def training(self):
        return Coded(self.codes, self.sizes)

    @property
    def asked(self):
        return Coded(self.queries, self.sizes)

    @property
    def labels(self):
        """Class labels that declare all r classes."""
        names = [f"c{k}" for k in range(self.r)]
        return pd.Series(pd.Categorical.from_codes(self.classes, names))

    def fit(self, method, **parameters):
        return method(**parameters).fit(self.training, self.labels)

    def oracle(self, formula, **parameters):
        """Log joint of every query by a textbook formula."""
        rows = (self.codes, self.classes, self.sizes, self.r)
        return np.array([formula(*rows, query, **parameters) for query in self.queries])


@st.composite
def tables(draw, most_columns=12, most_values=8, most_classes=6, most_rows=60, queries=12, unseen=False):
    """Tables with empty values, constant columns, copied columns, absent classes and down to one row."""
    m = draw(st.integers(1, most_columns))
    r = draw(st.integers(2, most_classes) | st.integers(1, most_classes))
    n = draw(st.integers(6, most_rows) | st.integers(1, most_rows))
    lean = draw(st.sampled_from([0.3, 0.8, 0.0]))
    copies = draw(st.booleans())
    some_absent = draw(st.booleans())
    # Sizes and cells come from a seed: drawn one by one they would mostly be the smallest there are.
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = rng.integers(1, most_values + 1, m).tolist()
    occurring = [rng.integers(1, q + 1) for q in sizes]
    classes = rng.choice(rng.permutation(r)[rng.integers(0, r) if some_absent else 0 :], n)
    codes = np.empty((n, m), dtype=np.int64)
    for i in range(m):
        values = rng.permutation(sizes[i])[: occurring[i]]
        by_class = values[rng.integers(0, len(values), r)][classes]
        codes[:, i] = np.where(rng.random(n) < lean, by_class, rng.choice(values, n))
        if copies and i and rng.random() < 0.5:
            source = codes[:, rng.integers(0, i)]
            codes[:, i] = rng.permutation(max(sizes))[source] % sizes[i]
    asked = np.column_stack([rng.integers(0, q, queries) for q in sizes])
    if unseen:
        codes = np.where(rng.random(codes.shape) < 0.05, 200, codes)
        asked = np.where(rng.random(asked.shape) < 0.2, 250, asked)
    return Table(sizes, r, codes, classes, asked)
