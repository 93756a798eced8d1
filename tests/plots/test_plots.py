"""Drawings: every text lies inside the figure, and marks lie where the numbers say."""

import matplotlib as mpl
import matplotlib.figure
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from localbayes.classifiers import LCWNB, NB, TAN
from localbayes.datasets import load
from localbayes.explain import plot_explanation
from localbayes.plots.critical_difference_plot import joined_ranks, plot_critical_difference
from localbayes.plots.loo_plot import plot_loo
from localbayes.plots.reliability_plot import plot_reliability, reliability_bins
from localbayes.study.significance import nemenyi_critical_difference

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def cut_texts(ax):
    """Texts that reach beyond the edge of the figure by more than two pixels."""
    figure = ax.figure
    figure.canvas.draw()
    edge = figure.bbox
    # Labels of ticks outside the range of an axis exist but are not drawn.
    idle = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.majorTicks, *axis.minorTicks)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        for label in (tick.label1, tick.label2)
    }
    cut = []
    for text in figure.findobj(mpl.text.Text):
        box = text.get_window_extent()
        outside = max(edge.x0 - box.x0, box.x1 - edge.x1, edge.y0 - box.y0, box.y1 - edge.y1)
        if text not in idle and text.get_visible() and text.get_text() and outside > 2:
            cut.append((text.get_text(), outside))
    return cut


def overlapping(texts):
    """Pairs of texts that cover each other by more than two pixels in both directions."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    return [
        (a, b)
        for i, (a, one) in enumerate(boxes)
        for b, two in boxes[:i]
        if min(one.x1, two.x1) - max(one.x0, two.x0) > 2 and min(one.y1, two.y1) - max(one.y0, two.y0) > 2
    ]


def long_names(n_columns, name, label):
    """An explanation of a table whose names and classes are long."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (80, n_columns)).astype(str))
    X.columns = [f"{name} {i}" for i in range(n_columns)]
    y = np.where(rng.random(80) < 0.5, f"a {label}", f"another {label}")
    return NB().fit(X, y).explain(X[:1])


# --- an explanation ------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["class", "class with a very long name that does not end soon " * 2])
@pytest.mark.parametrize("name", ["x", "a rather long name of a column with many words, number", "W" * 90])
@pytest.mark.parametrize("n_columns", [1, 40])
def test_no_text_of_an_explanation_is_cut(n_columns, name, label):
    """Neither long names nor long classes nor many columns reach beyond the figure or cover each other."""
    ax = plot_explanation(long_names(n_columns, name, label), top=30)
    assert cut_texts(ax) == []
    assert overlapping([*ax.get_yticklabels(), *ax.texts, ax.title, ax._left_title]) == []


@pytest.mark.parametrize("size", [(6.4, 4.8), (10, 6)])
def test_no_text_is_cut_on_axes_that_are_given(size):
    """A figure without a layout of its own gets one."""
    _, ax = plt.subplots(figsize=size)
    answer = long_names(20, "a rather long name of a column, number", "class of a long name")
    assert plot_explanation(answer, ax=ax, top=6) is ax
    assert cut_texts(ax) == []


def test_names_of_columns_stay_apart_when_they_are_shortened():
    """Names that differ at their end are still different."""
    ax = plot_explanation(
        long_names(20, "the name of a column that is far too long for a drawing, number", "c")
    )
    labels = [label.get_text().partition(" = ")[0] for label in ax.get_yticklabels()]
    assert len(set(labels)) == len(labels)


# --- other drawings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LCWNB(), LCWNB(kappa="loo")], ids=["mixture", "one"])
def test_the_leave_one_out_plot_says_what_it_shows(model):
    """Both axes are named and coloured as their lines; the legend says what dots are; nothing is cut."""
    X, y = load("glass")
    ax = model.fit(X, y).plot_loo()
    loss_ax = next(other for other in ax.figure.axes if other is not ax)
    for axes, word in ((ax, "accuracy"), (loss_ax, "log loss")):
        assert word in axes.get_ylabel()
        assert axes.yaxis.label.get_color() == axes.lines[0].get_color()
    assert "kappa" in ax.get_xlabel()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend[2] == ("kappas in use; larger counts more" if len(model.kappas_) > 1 else "kappa in use")
    assert cut_texts(ax) == []


def test_larger_dots_count_more():
    """Areas of dots rise with the weights of kappas."""
    table = {name: np.array([1.0, 2.0, 3.0]) for name in ("kappa", "accuracy", "log_loss")}
    ax = plot_loo(table, np.array([1.0, 3.0]), np.array([0.2, 0.8]), matplotlib.figure.Figure().subplots())
    small, large = ax.collections[0].get_sizes()
    assert small < large


def test_a_tree_is_drawn_inside_its_figure():
    """The names of all attributes of TAN are whole."""
    X, y = load("vote")
    ax = TAN().fit(X, y).plot_tree()
    assert {text.get_text() for text in ax.texts} >= set(X.columns)
    assert cut_texts(ax) == []


@pytest.mark.parametrize("k", [2, 3, 9, 20])
def test_mean_ranks_stand_where_they_are(k):
    """A dot for every method at its rank, its name and rank beside it, nothing cut or covered."""
    rng = np.random.default_rng(k)
    ranks = np.sort(rng.uniform(1, k, k))
    names = [f"method of a long name {i}" for i in range(k)]
    distance = nemenyi_critical_difference(k, 20)
    shuffled = rng.permutation(k)
    ax = plot_critical_difference([names[i] for i in shuffled], ranks[shuffled], distance, highlight=names[0])
    dots = sorted(line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_allclose(dots, ranks)
    for name, rank in zip(names, ranks, strict=True):
        assert any(name in text.get_text() and f"{rank:.2f}" in text.get_text() for text in ax.texts)
    assert cut_texts(ax) == []
    assert overlapping(ax.texts) == []


def test_bars_join_ranks_that_are_not_told_apart():
    """A thick bar from the first to the last rank of every stretch within the critical difference."""
    ranks = [1.2, 1.9, 2.7, 4.2]
    ax = plot_critical_difference(list("abcd"), ranks, 1.0)
    thick = [line.get_xdata() for line in ax.lines if line.get_linewidth() > 3]
    expected = [(ranks[a], ranks[b]) for a, b in joined_ranks(ranks, 1.0)]
    assert expected == [(1.2, 1.9), (1.9, 2.7)]
    np.testing.assert_allclose(thick, expected, atol=0.05)


def test_reliability_dots_are_shares_of_rows():
    """Against a loop over rows; the title holds the mean distance above and below, whose sum is the error."""
    rng = np.random.default_rng(0)
    p = rng.random(500)
    right = rng.random(500) < p**2
    stated, true, counts = reliability_bins(p, right, n_bins=5)
    for b in range(5):
        inside = (p >= b / 5) & (p < (b + 1) / 5)
        assert counts[b] == inside.sum()
        assert stated[b] == pytest.approx(p[inside].mean())
        assert true[b] == pytest.approx(right[inside].mean())
    ax = plot_reliability(stated, true, counts, name="a name $ of a classifier that is long")
    np.testing.assert_allclose(ax.collections[1].get_offsets(), np.column_stack([stated, true]))
    above = 100 * (counts * np.maximum(stated - true, 0)).sum() / 500
    assert f"stated {above:.1f} points above" in ax.get_title(loc="left")
    assert cut_texts(ax) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_critical_difference(["a"], [1.0], 1.0), "at least two methods"),
        (lambda: plot_critical_difference(["a", "b"], [1.0, np.nan], 1.0), "ranks must be numbers"),
        (lambda: plot_critical_difference(["a", "b"], [1.0, 2.0], 0.0), "greater than 0"),
        (lambda: plot_reliability([], []), "one number for every bin"),
        (lambda: plot_reliability([0.5], [0.5, 0.6]), "one number for every bin"),
        (lambda: reliability_bins([], []), "at least one"),
        (lambda: reliability_bins([1.5], [1]), "probabilities from 0 to 1, got 1.5 to 1.5"),
    ],
)
def test_bad_numbers_are_refused_in_one_line(call, message):
    """What came and what was expected."""
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
