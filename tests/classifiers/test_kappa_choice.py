"""Kappas that are chosen by training rows without themselves."""

import numpy as np
import pandas as pd
import pytest

from localbayes.classifiers import LCWNB
from localbayes.encoding import Coded

# --- a kappa chosen by the rows left out --------------------------------------------------------------

GRID = [0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 32, 50, 80, 130, 200, 500]


def left_out_probabilities(X, y, kappa):
    """Log probabilities of every training row, by a classifier fitted on the other rows."""
    rows = np.arange(len(X))
    return np.concatenate(
        [LCWNB(kappa).fit(X[rows != row], y[rows != row]).predict_log_proba(X[[row]]) for row in rows]
    )


@pytest.fixture(scope="module")
def small_problem():
    """Fifty rows, two noisy copies of the class among five columns, and what each kappa says of them."""
    rng = np.random.default_rng(5)
    y = pd.Categorical.from_codes(rng.integers(0, 3, 50), list("abc"))
    codes = rng.integers(0, 3, (50, 5))
    codes[:, :2] = np.where(rng.random((50, 2)) < 0.5, y.codes[:, None], codes[:, :2])
    X = Coded(codes, np.full(5, 3))
    grid = [kappa for kappa in GRID if kappa < 50] + [50]
    left_out = np.array([left_out_probabilities(X, y, kappa) for kappa in grid])
    tied = left_out >= left_out.max(axis=2, keepdims=True) - 1e-9
    errors = (tied.argmax(axis=2) != y.codes).sum(axis=1)
    loss = -left_out[:, np.arange(50), y.codes].sum(axis=1)
    return X, y, np.array(grid, float), left_out, errors, loss


def test_loo_takes_the_kappa_of_fewest_errors(small_problem):
    """Of equally good ones the one of least log loss; loo_ shows what every kappa of the grid does."""
    X, y, grid, _, errors, loss = small_problem
    model = LCWNB("loo", calibrate=False).fit(X, y)
    best = min(range(len(grid)), key=lambda k: (errors[k], loss[k]))
    assert model.kappa_ == grid[best]
    assert model.kappas_.tolist() == [grid[best]]
    np.testing.assert_array_equal(model.loo_["kappa"], grid)
    np.testing.assert_allclose(model.loo_["accuracy"], 1 - errors / 50)
    np.testing.assert_allclose(model.loo_["log_loss"], loss / 50)
    np.testing.assert_array_equal(model.predict_proba(X), LCWNB(grid[best]).fit(X, y).predict_proba(X))


def test_a_mixture_averages_probabilities_by_errors(small_problem):
    """Kappas weigh exp(-errors / 2), those below a thousandth of the best nothing."""
    X, y, grid, _, errors, _ = small_problem
    model = LCWNB("mixture", calibrate=False).fit(X, y)
    weights = np.exp(-errors / 2) / np.exp(-errors / 2).max()
    kept = weights >= 1e-3
    np.testing.assert_array_equal(model.kappas_, grid[kept])
    np.testing.assert_allclose(model.kappa_weights_, weights[kept] / weights[kept].sum())
    single = [LCWNB(kappa).fit(X, y).predict_proba(X) for kappa in grid[kept]]
    expected = np.average(single, axis=0, weights=weights[kept])
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
    assert model.temperature_ == 1


@pytest.mark.parametrize("kappa", ["mixture", "loo", 5])
def test_calibration_finds_the_power_of_least_log_loss(small_problem, kappa):
    """Among powers exp(-2.5), exp(-2.45), ..., exp(1); it changes no prediction."""
    X, y, grid, left_out, _, _ = small_problem
    plain, model = (LCWNB(kappa, calibrate=c).fit(X, y) for c in (False, True))
    weights = np.array([model.kappa_weights_[model.kappas_ == k].sum() for k in grid])
    mixture = np.log(np.average(np.exp(left_out), axis=0, weights=weights))

    def loss(power):
        scores = power * mixture
        return (np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(50), y.codes]).sum()

    powers = np.exp(np.arange(-50, 21) / 20)
    assert loss(model.temperature_) <= min(map(loss, powers)) * (1 + 1e-9)
    assert np.isclose(powers, model.temperature_).any()
    raised = plain.predict_proba(X) ** model.temperature_
    np.testing.assert_allclose(model.predict_proba(X), raised / raised.sum(axis=1, keepdims=True), rtol=1e-9)
    assert model.predict(X).tolist() == plain.predict(X).tolist()


def test_where_there_is_nothing_to_choose_by_kappa_is_the_papers():
    """One row, or one class: 5, and no table to draw."""
    for X, y in (([["a"]], ["x"]), ([["a"], ["b"]], ["x", "x"])):
        model = LCWNB().fit(X, y)
        assert (model.kappa_, model.temperature_, model.loo_) == (5.0, 1.0, None)
        with pytest.raises(
            ValueError, match="no leave-one-out table; fit with kappa='loo' or kappa='mixture'"
        ):
            model.plot_loo()


def test_rows_to_leave_out_are_a_seeded_sample(small_problem):
    """Fewer rows left out than there are: the same seed leaves out the same ones."""
    X, y, *_ = small_problem
    tables = [LCWNB(loo_rows=20, random_state=seed).fit(X, y).loo_["accuracy"] for seed in (0, 0, 1)]
    np.testing.assert_array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])
    assert set(np.round(tables[0] * 20, 9) % 1) == {0}
    drawn = [np.random.RandomState(7) for _ in range(2)]
    states = [LCWNB(loo_rows=20, random_state=state).fit(X, y).loo_["log_loss"] for state in drawn]
    np.testing.assert_array_equal(*states)
    assert LCWNB(loo_rows=20, random_state=None).fit(X, y).loo_["kappa"].tolist()


@pytest.mark.parametrize("margin", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_mixture_predicts_the_class_that_wins_among_all(monkeypatch, margin, alpha):
    """Leaving out classes far below the best changes no prediction, ties between like classes included."""
    monkeypatch.setattr("localbayes.classifiers.lcwnb._MARGIN", margin)
    rng = np.random.default_rng(7)
    codes, classes = rng.integers(0, 3, (400, 9)), rng.integers(0, 6, 400)
    codes[:, :5] = np.where(rng.random((400, 5)) < 0.6, classes[:, None] % 3, codes[:, :5])
    # Classes 6 and up have the rows of classes 0 and up once more: each query ties.
    X = Coded(np.concatenate([codes, codes]), sizes=[3] * 9)
    y = np.concatenate([classes, classes + 6])
    model = LCWNB(alpha=alpha).fit(X, y, sample_weight=rng.choice([1.0, 1.0, 0.5], 800))
    assert len(model.kappas_) > 1
    asked = Coded(rng.integers(0, 3, (300, 9)), sizes=[3] * 9)
    for fitted in (model, LCWNB(alpha=alpha).fit(X, y)):
        scores = fitted.predict_log_joint(asked)
        first = (scores >= scores.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)
        assert fitted.predict(asked).tolist() == fitted.classes_[first].tolist()


def test_the_choice_can_be_drawn(small_problem):
    """Accuracy and log loss against kappa, on the axes given, and a dot for each kappa in use."""
    import matplotlib.figure

    X, y, *_ = small_problem
    model = LCWNB().fit(X, y)
    ax = matplotlib.figure.Figure().subplots()
    assert model.plot_loo(ax) is ax
    loss_ax = next(other for other in ax.figure.axes if other is not ax)
    for axes, values in ((ax, 100 * model.loo_["accuracy"]), (loss_ax, model.loo_["log_loss"])):
        np.testing.assert_array_equal(axes.lines[0].get_xdata(), model.loo_["kappa"])
        np.testing.assert_array_equal(axes.lines[0].get_ydata(), values)
    dots = ax.collections[0].get_offsets()
    np.testing.assert_array_equal(dots[:, 0], model.kappas_)
    np.testing.assert_array_equal(
        dots[:, 1], 100 * np.interp(model.kappas_, model.loo_["kappa"], model.loo_["accuracy"])
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loo_rows": 0}, "loo_rows must be a whole number >= 1, got 0"),
        ({"calibrate": "yes"}, "calibrate must be True, False or 'auto', got 'yes'"),
        ({"kappa": "best"}, "kappa must be a number > 0, 'mixture', 'loo' or 'switch', got 'best'"),
    ],
)
def test_options_of_the_choice_are_checked(options, message):
    """The message says what came and what was expected."""
    with pytest.raises(ValueError, match=f"^{message}$"):
        LCWNB(**options).fit([["a"]], ["x"])
