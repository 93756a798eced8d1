"""The paper's own columns: kappas that share a pass, ties broken as in the printed table."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from localbayes.study.accuracy_table import SetInfo
from localbayes.study.builtin_columns import built_in, resolve
from localbayes.study.paper.tie_rule import WEIGHTS, product_score
from localbayes.study.scoring import score
from localbayes.study.study_sets import SetSource, prepare


def test_kappas_share_a_pass():
    """The three kappas are one method, and asking for one of them is no other work."""
    (method,) = resolve(["LCWNB20", "LCWNB5"])
    assert (method.name, method.columns) == ("kappas", ("LCWNB5", "LCWNB20"))
    data = SetSource("labor").load()
    fold = data.fold(1, 0, 10)
    both = method.predict(method.fit(fold), fold, method.columns)
    one = method.predict(method.fit(fold), fold, ("LCWNB20",))
    np.testing.assert_array_equal(both["LCWNB20"].log_joint, one["LCWNB20"].log_joint)


def test_the_fitted_tie_rule_decides_ties_only():
    """LWNB and ICLNB differ from their plain versions in nothing but how equal scores fall."""
    data = SetSource("diabetes").load()
    for name in ("LWNB", "ICLNB"):
        method = built_in()[name]
        fold = data.fold(1, 0, 10)
        found = method.predict(method.fit(fold), fold, method.columns)
        fitted, plain = found[name], found[f"{name}-declared"]
        np.testing.assert_array_equal(fitted.log_joint, plain.log_joint)
        truth = data.truth[fold.test_rows]
        a, b = score(fitted, data.classes, truth), score(plain, data.classes, truth)
        assert (a.ties_well, a.ties_badly, a.log_loss) == (b.ties_well, b.ties_badly, b.log_loss)
        assert a.ties_badly <= a.correct <= a.ties_well


@pytest.mark.parametrize("kind", ["LWNB", "ICLNB"])
def test_the_product_is_the_log_joint(kind):
    """Up to rounding and a common factor, the product of the tie rule is the method's own score."""
    data = SetSource("glass").load()
    fold = data.fold(1, 3, 10)
    method = built_in()[f"{kind}-declared"]
    model = method.fit(fold)
    log_joint = method.predict(model, fold, [f"{kind}-declared"])[f"{kind}-declared"].log_joint
    order = [list(model.classes_).index(label) for label in data.classes]
    for row in range(len(fold.test_rows)):
        matches = fold.train.codes == fold.test.codes[row]
        weights = WEIGHTS[kind](matches.shape[1] - matches.sum(axis=1), matches.shape[1])
        product = product_score(
            matches, weights, data.truth[fold.train_rows], fold.train.sizes, len(data.classes)
        )
        difference = np.log(product) - log_joint[row, order]
        np.testing.assert_allclose(difference, difference[0], atol=1e-9)


def test_exact_ties_are_broken_by_the_product():
    """Queries with equal scores get the first of the largest products, multiplied in the order of columns."""
    # A scale with weight and distance on either side, as in balance-scale: left and right are mirror images.
    rows = 1 + np.array(list(itertools.product(range(4), repeat=4)))
    X = pd.DataFrame({f"a{i}": pd.Categorical(rows[:, i]) for i in range(4)})
    torque = rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3]
    y = pd.Series(pd.Categorical(np.sign(torque), categories=[-1, 0, 1]))
    data = prepare(SetInfo("ties", 256, 5, 3, published=False), X, y)
    tied = 0
    for number in range(10):
        fold = data.fold(1, number, 10)
        method = built_in()["ICLNB"]
        prediction = method.predict(method.fit(fold), fold, ["ICLNB"])["ICLNB"]
        best = prediction.log_joint >= prediction.log_joint.max(axis=1, keepdims=True) - 1e-9
        for place, row in enumerate(fold.test_rows):
            if best[place].sum() < 2:
                assert prediction.labels[place] == prediction.classes[best[place].argmax()]
                continue
            tied += 1
            near = sorted(int((rows[t] != rows[row]).sum()) for t in fold.train_rows)[9]
            products = []
            for label in data.classes:
                total, matching, sizes = 1.0, [1.0] * 4, [4.0] * 4
                for t in fold.train_rows:
                    distance = int((rows[t] != rows[row]).sum())
                    if y[t] == label and distance <= near:
                        total += 5 - distance
                        sizes = [size + 5 - distance for size in sizes]
                        agrees = rows[t] == rows[row]
                        matching = [m + (5 - distance) * a for m, a in zip(matching, agrees, strict=True)]
                for m, size in zip(matching, sizes, strict=True):
                    total *= m / size
                products.append(total)
            among = [k for k, c in enumerate(data.classes) if best[place][list(prediction.classes).index(c)]]
            expected = data.classes[max(among, key=lambda k: (products[k], -k))]
            assert prediction.labels[place] == expected
    assert tied > 3, "the table has ties to break"
