"""NB, TAN, AODE, WAODE and HNB against the running Weka, probability by probability.

Two kinds of degenerate tables have no answer in Weka to compare with; here they have one, which is
tested as such:

- One declared class: Weka refuses to train ("Cannot handle unary class"). Here its probability is 1.
- WAODE, if no attribute tells anything about the class: Weka divides zero by zero and answers NaN for
  every class. Here all superparents weigh the same.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import localbayes.datasets
import weka_driver
from eager_tables import Table, tables
from localbayes.classifiers.aode import AODE
from localbayes.classifiers.hnb import HNB
from localbayes.classifiers.nb import NB
from localbayes.classifiers.tan import TAN
from localbayes.classifiers.waode import WAODE
from localbayes.datasets import load, load_paper_set
from localbayes.datasets.registry import PAPER_SETS
from localbayes.weka import apply_paper_filters
from weka_driver import WekaDriver, WekaError

EMBEDDED = sorted(path.stem for path in Path(localbayes.datasets.__file__).parent.glob("embedded/*.arff"))
SMALL = [name for name, paper_set in PAPER_SETS.items() if paper_set.n <= 4000]
SPECS = {
    NB: weka_driver.NB,
    TAN: weka_driver.TAN,
    AODE: weka_driver.AODE,
    WAODE: weka_driver.WAODE,
    HNB: weka_driver.HNB,
}
TOLERANCE = 1e-9

every_method = pytest.mark.parametrize("method", SPECS, ids=lambda method: method.__name__)


def write_codes(path: Path, sizes: list[int], r: int, codes: np.ndarray, classes: np.ndarray) -> Path:
    """Write an ARFF file that declares all values and classes."""
    declared = [f"@attribute a{i} {{{','.join(map(str, range(q)))}}}" for i, q in enumerate(sizes)]
    declared.append(f"@attribute class {{{','.join(map(str, range(r)))}}}")
    rows = [",".join(map(str, row)) for row in np.column_stack([codes, classes]).tolist()]
    path.write_text("\n".join(["@relation codes", *declared, "@data", *rows, ""]))
    return path


def files(table: Table, folder: Path) -> tuple[Path, Path]:
    train = write_codes(folder / "train.arff", table.sizes, table.r, table.codes, table.classes)
    no_class = np.zeros(len(table.queries), dtype=int)
    return train, write_codes(folder / "test.arff", table.sizes, table.r, table.queries, no_class)


def assert_weka_agrees(weka: WekaDriver, method: type, table: Table, folder: Path) -> str:
    """Compare all probabilities, and for TAN the tree; say of which kind the table was."""
    model = table.fit(method)
    ours = model.predict_proba(table.asked)[:, np.argsort(np.argsort([f"c{k}" for k in range(table.r)]))]
    train, test = files(table, folder)
    if table.r == 1:
        with pytest.raises(WekaError, match="Cannot handle unary class"):
            weka.distributions(SPECS[method], train, test)
        np.testing.assert_allclose(ours, 1.0, rtol=1e-12)
        return "unary class"
    theirs = weka.distributions(SPECS[method], train, test)
    if method is WAODE and not model.weights_.any():
        assert np.isnan(theirs).all()
        np.testing.assert_allclose(ours.sum(axis=1), 1.0, rtol=1e-12)
        return "no information"
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE)
    if method is TAN:
        class_index = len(table.sizes)
        parents = [
            [p for p in parents if p != class_index] or [-1] for parents in weka.parents(SPECS[TAN], train)
        ]
        assert model.parents_.tolist() == [p for (p,) in parents[:-1]]
    return "compared"


def split(X, y, seed: int = 0) -> Table:
    """Two thirds of a filtered data set for training, one third to ask."""
    X = apply_paper_filters(X)
    codes = np.column_stack([X[name].cat.codes for name in X.columns]).astype(int)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [2 * len(y) // 3])
    sizes = [len(X[name].cat.categories) for name in X.columns]
    return Table(sizes, len(y.cat.categories), codes[train], y.cat.codes.to_numpy()[train], codes[test])


@every_method
@pytest.mark.parametrize("name", EMBEDDED)
def test_weka_agrees_on_the_embedded_sets(weka, tmp_path, name, method):
    """Every probability within 1e-9 of Weka's, and the same tree."""
    assert assert_weka_agrees(weka, method, split(*load(name)), tmp_path) == "compared"


@every_method
def test_weka_agrees_on_the_papers_sets(weka, tmp_path, paper_data, method):
    """The same on all sets of the paper with up to 4,000 rows."""
    kinds = {}
    for name in SMALL:
        table = split(*load_paper_set(name, paper_data), seed=1)
        kinds[name] = assert_weka_agrees(weka, method, table, tmp_path)
    assert len(kinds) == 33
    assert set(kinds.values()) == {"compared"}


@pytest.mark.parametrize("n", [999, 1000, 1001, 2000, 3000, 5000])
@every_method
def test_weka_agrees_where_values_and_classes_are_rare(weka, tmp_path, method, n):
    """Weka leaves probabilities below 1e-6 out of an information: a value or class in one row of many."""
    rng = np.random.default_rng(n)
    classes = rng.permutation([1, 2, 2, 3, 3, 3] + [0] * (n - 6))
    codes = rng.choice(4, (n, 4), p=[0.9, 0.096, 0.002, 0.002])
    strange = np.concatenate([np.flatnonzero(classes), rng.integers(0, n, 5)])
    codes[strange] = rng.integers(0, 4, (len(strange), 4))
    table = Table([4] * 4, 4, codes, classes, rng.integers(0, 4, (40, 4)))
    assert assert_weka_agrees(weka, method, table, tmp_path) == "compared"


def test_weka_agrees_on_random_tables(weka, tmp_path_factory):
    """Over 300 tables with empty values, constant columns, absent classes and few rows, by all five."""
    folder = tmp_path_factory.mktemp("random")
    kinds: Counter[tuple[str, str]] = Counter()

    @settings(max_examples=400, suppress_health_check=list(HealthCheck))
    @given(tables(queries=8))
    def check(table: Table) -> None:
        for method in SPECS:
            kinds[method.__name__, assert_weka_agrees(weka, method, table, folder)] += 1

    check()
    # The degenerate kinds do not crowd out the others.
    for method in SPECS:
        assert kinds[method.__name__, "compared"] >= (200 if method is WAODE else 300)
