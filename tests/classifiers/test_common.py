"""What every classifier of the registry does alike."""

import json
import pickle
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import cpu_count
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from localbayes.classifiers import LCWNB, METHODS
from localbayes.datasets import load
from localbayes.encoding import Coded
from localbayes.persistence import load_model, save_model
from mixed_tables import coded_table, mixed_table

EIGHT = {"LCWNB", "NB", "TAN", "AODE", "WAODE", "HNB", "LWNB", "ICLNB"}
WITH_TABLE_OF_PAIRS = EIGHT - {"LCWNB", "LWNB", "ICLNB", "NB"}

# Tables with and without names are compared on purpose; scikit-learn's warning is about just that.
pytestmark = pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names:UserWarning")

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def test_there_are_eight():
    """The registry holds the paper's classifier and its seven rivals."""
    assert set(METHODS) == EIGHT
    assert all(cls.__name__ == name for name, cls in METHODS.items())


@parametrize_with_checks([method() for method in METHODS.values()])
def test_scikit_learn_accepts_it(estimator, check):
    """Every check that scikit-learn has for a classifier passes."""
    check(estimator)


# --- tables ------------------------------------------------------------------------------------------


@every_method
def test_all_kinds_of_tables_agree(method):
    """pandas, polars, NumPy and lists of the same cells give the same probabilities, to the bit."""
    X, y = mixed_table()
    expected = method().fit(X, y).predict_proba(X)
    rows = X.astype(object).to_numpy()
    for same in (pl.from_pandas(X), rows, rows.tolist(), X.astype({"colour": object, "old": object})):
        model = method().fit(same, y)
        assert model.predict_proba(same).tobytes() == expected.tobytes()
        # A classifier fitted on one kind takes the other, if it is not told names it does not know.
        assert model.predict_proba(rows.tolist()[:7]).tobytes() == expected[:7].tobytes()


@every_method
def test_codes_are_a_table_too(method):
    """Coded, with the codes that the encoder gives, is the table."""
    X, y = mixed_table()
    model = method().fit(X, y)
    codes = Coded(model.encoder_.encode(X), model.encoder_.sizes)
    coded = method().fit(codes, y)
    assert coded.predict_proba(codes).tobytes() == model.predict_proba(X).tobytes()
    assert model.predict_proba(codes).tobytes() == model.predict_proba(X).tobytes()
    assert cross_val_score(method(), codes, y, cv=3).shape == (3,)
    with pytest.raises(ValueError, match=r"fitted on codes .*pass codes to it here too"):
        coded.predict(X)
    with pytest.raises(ValueError, match="X has 2 features, but it was fitted with 4"):
        coded.predict(Coded([[0, 0]], [2, 2]))


@every_method
def test_codes_of_a_narrow_dtype_are_compared_with_wide_domains(method):
    """Codes that fit a byte belong to a column of 300 values; those outside are never seen."""
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 250, (60, 2))
    y = (wide[:, 0] > 100).astype(int)
    expected = method().fit(Coded(wide, [300, 300]), y).predict_proba(Coded(wide, [300, 300]))
    narrow = Coded(wide.astype(np.uint8), [300, 300])
    assert method().fit(narrow, y).predict_proba(narrow).tobytes() == expected.tobytes()


@every_method
def test_names_of_columns_are_checked(method):
    """feature_names_in_ is what fit saw; other names, another order or number are refused."""
    X, y = mixed_table()
    model = method().fit(X, y)
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert method().fit(pl.from_pandas(X), y).feature_names_in_.tolist() == list(X.columns)
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- breadth"):
        model.predict(X.rename(columns={"height": "breadth"}))
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        model.predict(X[["old", "colour", "weight", "height"]])
    with pytest.raises(ValueError, match="missing:\n- height"):
        model.predict(X[["colour", "old", "weight"]])
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
        model.predict(X.to_numpy()[:, :3])
    model.fit(X.to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")


@every_method
@pytest.mark.parametrize(
    "X", [pd.DataFrame({"a": []}), pd.DataFrame(index=range(3)), pl.DataFrame({"a": []})]
)
def test_an_empty_table_is_refused(method, X):
    """A table without rows or without columns teaches nothing."""
    with pytest.raises(ValueError, match=r"Found array with 0 (sample|feature)\(s\)"):
        method().fit(X, ["x"] * len(X))


@every_method
def test_an_empty_table_of_codes_is_refused(method):
    """The message gives the shape that came."""
    with pytest.raises(ValueError, match=r"X must have rows and columns to learn from, got shape \(0, 2\)"):
        method().fit(Coded(np.empty((0, 2), int), [2, 2]), [])


# --- order, names, threads -----------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("seed", range(6))
def test_order_and_names_change_no_probability(method, seed):
    """Permuting rows, columns, codes of values or labels of classes moves probabilities by 1e-12 at most."""
    codes, sizes, y, rng = coded_table(seed)
    table = Coded(codes, sizes)
    model = method()
    before = model.fit(table, y).predict_proba(table)
    assert before.min() >= 0
    np.testing.assert_allclose(before.sum(axis=1), 1, rtol=1e-12)

    def check(X, labels, asked, columns=slice(None)):
        after = model.fit(X, labels).predict_proba(asked)[:, columns]
        np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)

    rows = rng.permutation(len(codes))
    check(table[rows], y[rows], table)
    order = rng.permutation(len(sizes))
    moved = Coded(codes[:, order], sizes[order])
    check(moved, y, moved)
    renamed = Coded(np.column_stack([rng.permutation(q)[codes[:, i]] for i, q in enumerate(sizes)]), sizes)
    check(renamed, y, renamed)
    if method.__name__ == "LCWNB":
        # The rows left out to choose among kappas may have ties, which fall to the class declared first.
        model.set_params(kappa=5)
        before = model.fit(table, y).predict_proba(table)
    new_label = rng.permutation(3)
    check(table, new_label[y], table, columns=new_label)


@every_method
def test_threads_do_not_change_a_bit(method):
    """One thread and several give the same bytes."""
    codes, sizes, y, _ = coded_table(1, n=200)
    table = Coded(codes, sizes)
    one, many = (method(n_jobs=n).fit(table, y) for n in (1, 3))
    assert one.predict_log_joint(table).tobytes() == many.predict_log_joint(table).tobytes()
    assert one.predict(table).tolist() == many.predict(table).tolist()


def test_threads_are_kept_and_do_not_pile_up():
    """Batches of all sizes share the threads of one n_jobs, at most as many as processors, or four."""
    codes, sizes, y, _ = coded_table(1, n=200)
    table = Coded(codes, sizes)
    model = LCWNB(5, n_jobs=7).fit(table, y)
    before = {thread.ident for thread in threading.enumerate()}
    for n in range(16, 200, 16):
        model.predict(table[:n])
    assert len({thread.ident for thread in threading.enumerate()} - before) < max(cpu_count(), 4)


@every_method
def test_who_predicts_while_another_thread_learns_sees_all_or_nothing(method):
    """Every answer is that of the rows learned so far, up to one call of partial_fit or the next."""
    rng = np.random.default_rng(3)
    first = rng.choice(["a", "b", "c"], (60, 4)).astype(object)
    parts = [first, *([[f"new {k}"] * 4, *first[: 5 * k]] for k in range(1, 8))]
    queries = first[:5]
    learner, model, states = method(), method(), []
    for part in parts:
        learner.partial_fit(part, [str(row[0] == "a") for row in part], classes=["False", "True"])
        states.append(learner.predict_log_joint(queries).tobytes())
    seen, learned = set(), threading.Event()

    def watch():
        while not learned.is_set():
            seen.add(model.predict_log_joint(queries).tobytes())

    watcher = threading.Thread(target=watch)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for k, part in enumerate(parts):
            model.partial_fit(part, [str(row[0] == "a") for row in part], classes=["False", "True"])
            if k == 0:
                watcher.start()
    finally:
        learned.set()
        watcher.join()
        sys.setswitchinterval(interval)
    assert seen <= set(states)
    assert model.predict_log_joint(queries).tobytes() == states[-1]


@every_method
def test_a_chunk_is_as_good_as_the_whole(method):
    """A row gets the same bits alone as among two thousand."""
    codes, sizes, y, _ = coded_table(2, n=2000)
    table = Coded(codes, sizes)
    model = method().fit(table, y)
    alone = [model.predict_log_joint(table[[row]]) for row in (0, 511, 512, 513, 1999)]
    together = model.predict_log_joint(table)[[0, 511, 512, 513, 1999]]
    assert np.concatenate(alone).tobytes() == together.tobytes()


@every_method
def test_the_outputs_fit_together(method):
    """log_proba is the normalised log joint, proba its exponential, predict its best column."""
    X, y = mixed_table()
    model = method().fit(X, y)
    joint, log_proba = model.predict_log_joint(X), model.predict_log_proba(X)
    np.testing.assert_allclose(log_proba - joint, (log_proba - joint)[:, [0]] * np.ones(3), atol=1e-12)
    np.testing.assert_array_equal(np.exp(log_proba), model.predict_proba(X))
    np.testing.assert_array_equal(model.classes_[log_proba.argmax(axis=1)], model.predict(X))
    assert model.score(X, y) == (model.predict(X) == y).mean()
    assert model.class_count_.tolist() == [int((y == c).sum()) for c in model.classes_]


# --- keeping -------------------------------------------------------------------------------------------


@every_method
def test_a_fitted_classifier_can_be_kept(method, tmp_path):
    """Pickled, cloned and refitted, or saved with skops and loaded, it gives the same bytes."""
    X, y = mixed_table()
    model = method(missing="category").fit(X, y)
    expected = model.predict_proba(X).tobytes()
    assert pickle.loads(pickle.dumps(model)).predict_proba(X).tobytes() == expected
    assert clone(model).fit(X, y).predict_proba(X).tobytes() == expected
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert type(loaded) is method
    assert loaded.predict_proba(X).tobytes() == expected
    more, labels = mixed_table(seed=9)
    assert (
        loaded.partial_fit(more, labels).predict_proba(X).tobytes()
        == model.partial_fit(more, labels).predict_proba(X).tobytes()
    )


@every_method
def test_learning_in_parts_is_learning_at_once(method):
    """With declared domains, any cut of the rows into parts gives the bits of one fit."""
    codes, sizes, y, _ = coded_table(3)
    table, labels = Coded(codes, sizes), pd.Categorical(y)
    whole = method().fit(table, labels).predict_log_joint(table)
    for n_parts in (2, 7):
        grown = method()
        for rows in np.array_split(np.arange(len(codes)), n_parts):
            grown.partial_fit(table[rows], labels[rows])
        assert grown.predict_log_joint(table).tobytes() == whole.tobytes()


@every_method
@pytest.mark.parametrize("missing", ["impute", "category"])
def test_domains_that_were_not_declared_take_in_what_comes_later(method, missing):
    """Values, and missing values as a category, that come in a later part count as in one fit."""
    codes, _, y, rng = coded_table(4)
    cells = np.array(list("abcdefgh"), dtype=object)[codes]
    if missing == "category":
        cells[rng.random(cells.shape) < 0.1] = None
    X = pd.DataFrame(cells, columns=[f"c{i}" for i in range(5)], dtype=object)
    # The first rows have few values and no hole; the classes are given since not all are among them.
    first = np.argsort(X.isna().any(axis=1).to_numpy() | (codes > 1).any(axis=1), kind="stable")
    X, y = X.iloc[first], y[first]
    grown = method(missing=missing).partial_fit(X[:3], y[:3], classes=[0, 1, 2])
    sizes_before = grown.sizes_.tolist()
    grown.partial_fit(X[3:40], y[3:40]).partial_fit(X[40:], y[40:])
    assert grown.sizes_.tolist() > sizes_before
    whole = method(missing=missing).fit(X, y)
    assert sorted(grown.sizes_.tolist()) == sorted(whole.sizes_.tolist())
    np.testing.assert_allclose(grown.predict_proba(X), whole.predict_proba(X), rtol=1e-12, atol=1e-12)


@every_method
@pytest.mark.parametrize("weighted_first", [True, False])
def test_rows_with_and_without_weights_add_up(method, weighted_first):
    """Parts with weights and parts without, in either order, are one fit in which the latter weigh one."""
    codes, sizes, y, rng = coded_table(7)
    table, labels = Coded(codes, sizes), pd.Categorical(y)
    weights = rng.uniform(0.1, 2.9, len(codes))
    halves = [np.arange(60), np.arange(60, 120)]
    plain = halves[1] if weighted_first else halves[0]
    weights[plain] = 1.0
    grown = method()
    for rows in halves:
        given = None if rows is plain else weights[rows]
        grown.partial_fit(table[rows], labels[rows], sample_weight=given)
    whole = method().fit(table, labels, sample_weight=weights)
    np.testing.assert_allclose(grown.class_count_, [weights[y == c].sum() for c in range(3)], rtol=1e-12)
    np.testing.assert_allclose(grown.predict_proba(table), whole.predict_proba(table), rtol=1e-9, atol=1e-12)


@every_method
def test_numbers_keep_the_bins_of_the_first_part(method):
    """Bins do not move: later numbers outside the first range go to the outer bins."""
    X = np.arange(40.0)[:, None] % 10
    y = (X[:, 0] > 4).astype(int)
    model = method().partial_fit(X, y)
    cuts = model.encoder_.columns[0].cuts.copy()
    model.partial_fit([[100.0], [-100.0]], [1, 0])
    np.testing.assert_array_equal(model.encoder_.columns[0].cuts, cuts)
    assert model.predict([[1e9], [-1e9]]).tolist() == [1, 0]


@every_method
def test_a_class_that_comes_too_late_is_refused(method):
    """The message names the class and says to pass all classes first; nothing learned is lost."""
    model = method().partial_fit([["a"], ["b"]], ["x", "y"])
    before = model.predict_proba([["a"]])
    with pytest.raises(ValueError, match=r"the class 'z', which is not among .*at the first partial_fit"):
        model.partial_fit([["a"]], ["z"])
    np.testing.assert_array_equal(model.predict_proba([["a"]]), before)


@every_method
def test_codes_may_follow_a_table(method):
    """A classifier that learned from a table takes more rows as codes of its encoder."""
    X, y = mixed_table()
    whole = method().fit(X, y)
    parts = method().fit(X, y)
    more = Coded(parts.encoder_.encode(X), parts.sizes_)
    assert (
        parts.partial_fit(more, y).predict_proba(X).tobytes()
        == whole.partial_fit(X, y).predict_proba(X).tobytes()
    )


@every_method
def test_a_failed_fit_leaves_what_was_fitted(method):
    """After an error in fit or partial_fit the classifier predicts as before."""
    X, y = mixed_table()
    model = method().fit(X, y)
    before = model.predict_proba(X).tobytes()
    other = pd.DataFrame({"p": [1.0, np.inf], "q": [0.0, 1.0]})
    for bad_X, bad_y in ((other, [0, 1]), (other[:0], []), (X, y[:-1]), (X.assign(weight="w"), None)):
        with pytest.raises(ValueError, match=r"infinity|0 sample|inconsistent|y is None"):
            model.fit(bad_X, bad_y)
        assert model.predict_proba(X).tobytes() == before
    for bad_X, bad_y in ((X.assign(weight=np.inf), y), (X.assign(height="tall"), y), (X, ["new"] * 90)):
        with pytest.raises(ValueError, match=r"infinity|is to be numeric|not among the declared"):
            model.partial_fit(bad_X.assign(colour="a colour that came later"), bad_y)
        assert model.predict_proba(X).tobytes() == before
    model.set_params(n_bins=-1)
    with pytest.raises(ValueError, match="n_bins must be a whole number >= 1, got -1"):
        model.fit(X, y)
    assert model.predict_proba(X).tobytes() == before


@pytest.mark.parametrize("name", sorted(WITH_TABLE_OF_PAIRS & set(METHODS)))
def test_a_table_of_pairs_that_grows_too_large_is_refused_every_time(name):
    """New values that would exceed the limit change nothing, however often they come."""
    first = pd.DataFrame({"a": ["p", "q"] * 3, "b": ["u", "v"] * 3})
    later = pd.DataFrame({"a": [f"p{k}" for k in range(60)], "b": [f"v{k}" for k in range(60)]})
    model = METHODS[name](max_table_bytes=5000).fit(first, [0, 1] * 3)
    before = model.predict_proba(first).tobytes()
    for _ in range(2):
        with pytest.raises(ValueError, match="column 'a' has the most values"):
            model.partial_fit(later, [0, 1] * 30)
        assert model.predict_proba(first).tobytes() == before
    # Nor do weights, for which counts become floating point and twice as large.
    model.set_params(max_table_bytes=1)
    model.counts_.max_table_bytes = model.counts_.pair_counts.nbytes
    with pytest.raises(ValueError, match="the table of pairs would take"):
        model.partial_fit(first, [0, 1] * 3, sample_weight=[2.0] * 6)
    assert model.class_count_.tolist() == model.counts_.class_counts.tolist() == [3, 3]
    untouched = METHODS[name](max_table_bytes=5000).fit(first, [0, 1] * 3)
    model.set_params(max_table_bytes=5000)
    one, other = (m.partial_fit(first, [0, 1] * 3).predict_proba(first) for m in (model, untouched))
    assert one.tobytes() == other.tobytes()


@every_method
@pytest.mark.parametrize("n_jobs", [0, 1.5, "a", True])
def test_what_is_no_number_of_threads_is_refused(method, n_jobs):
    """By fit, and by predict after set_params."""
    message = f"n_jobs must be None or a whole number other than 0 .*, got {n_jobs!r}"
    with pytest.raises(ValueError, match=message):
        method(n_jobs=n_jobs).fit([["a"], ["b"]], [0, 1])
    model = method().fit([["a"], ["b"]], [0, 1]).set_params(n_jobs=n_jobs)
    with pytest.raises(ValueError, match=message):
        model.predict([["a"]])


def test_classes_are_given_once():
    """The same classes may be given again in any order; others, and one that is missing, are refused."""
    model = LCWNB(1).partial_fit([["a"], ["b"]], [0, 1], classes=[0, 1, 2])
    model.partial_fit([["a"]], [2], classes=[2, 1, 0])
    with pytest.raises(
        ValueError, match=r"classes must be those of the first partial_fit, \[0, 1, 2\], got \[0, 1\]"
    ):
        model.partial_fit([["a"]], [1], classes=[0, 1])
    with pytest.raises(ValueError, match="missing"):
        LCWNB(1).partial_fit([["a"]], [1], classes=[None, 1])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_labels_with_weights_of_zero(frame):
    """Labels in a frame of one column lose the rows that weigh nothing, as labels in a list do."""
    X, y = [["a"], ["b"], ["b"]], ["no", "yes", "no"]
    with pytest.warns(DataConversionWarning):
        model = LCWNB(1).fit(X, frame({"class": y}), sample_weight=[0, 1, 1])
    np.testing.assert_array_equal(model.predict_proba(X), LCWNB(1).fit(X[1:], y[1:]).predict_proba(X))


@every_method
@pytest.mark.parametrize("later", ["a", "new"])
def test_an_interrupted_partial_fit_leaves_what_was_learned(method, later):
    """Rows, domains and counts are those of before, and learning goes on from there."""

    class Interrupted(method):
        def adopt(self, statistic):
            super().adopt(statistic)
            if self.class_count.sum() > 10:
                raise KeyboardInterrupt

    X, y = [["a", "b"], ["b", "c"], ["a", "c"]], [0, 1, 0]
    model = Interrupted().partial_fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit([[later, "b"]] * 9, [1] * 9)
    expected = method().partial_fit(X, y).partial_fit(X, y).predict_proba([["a", "b"], ["new", "c"]])
    np.testing.assert_array_equal(model.partial_fit(X, y).predict_proba([["a", "b"], ["new", "c"]]), expected)


def test_codes_of_values_that_are_still_to_come_are_refused():
    """A domain that may grow would give the code to another value; a declared one never does."""
    X = pd.DataFrame({"a": ["p", "q"], "b": pd.Categorical(["u", "v"])})
    model = LCWNB(1).fit(X, [0, 1])
    model.partial_fit(Coded([[0, 7]], [2, 8]), [0])
    with pytest.raises(ValueError, match="column 'a' has the code 7, but 2 values so far; pass"):
        model.partial_fit(Coded([[7, 0]], [8, 2]), [0])


# --- company -------------------------------------------------------------------------------------------


@every_method
def test_it_works_in_pipelines_and_searches(method):
    """Pipeline, set_output, cross_val_score and GridSearchCV treat it as any classifier."""
    X, y = mixed_table()
    encode = OrdinalEncoder().set_output(transform="pandas")
    pipeline = make_pipeline(FunctionTransformer(lambda X: X[["colour", "old"]]), encode, method())
    pipeline.set_output(transform="pandas").fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["colour", "old"]
    assert pipeline.predict_proba(X).shape == (90, 3)
    scores = cross_val_score(method(), X, y, cv=3, error_score="raise")
    assert (scores > 0.3).all()
    search = GridSearchCV(method(), {"n_bins": [2, 5]}, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["n_bins"] in (2, 5)


def test_a_search_over_kappa():
    """GridSearchCV finds the kappa that plain loops over the same folds find."""
    X, y = load("glass")
    grid = [1, 5, 20, "switch"]
    search = GridSearchCV(METHODS["LCWNB"](), {"kappa": grid}, cv=4, error_score="raise").fit(X, y)
    means = [cross_val_score(METHODS["LCWNB"](kappa), X, y, cv=4).mean() for kappa in grid]
    assert search.best_params_["kappa"] == grid[int(np.argmax(means))]
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], means)


@every_method
def test_a_notebook_shows_it(method):
    """The HTML names the class and a parameter that was set; the text is a call that makes it."""
    model = method(n_bins=7)
    assert method.__name__ in model._repr_html_()
    assert "n_bins" in model._repr_html_()
    assert repr(model) == f"{method.__name__}(n_bins=7)"
    fitted = method().fit([["a"], ["b"]], [0, 1])
    assert "fitted" in fitted._repr_html_()


# --- imports -------------------------------------------------------------------------------------------


def run(code):
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


OPTIONAL = ["pandas", "polars", "matplotlib", "dask", "distributed", "jinja2", "pyarrow"]


def test_importing_the_package_imports_nothing_optional():
    """pandas and the rest are loaded where they are used; what scikit-learn itself loads is not counted."""
    loaded = run(
        "import json, sys, sklearn.utils.validation, sklearn.utils.multiclass, joblib\n"
        "before = set(sys.modules)\n"
        "import localbayes, localbayes.classifiers\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    assert "localbayes.kernels" in json.loads(loaded)
    assert not set(OPTIONAL) & set(json.loads(loaded))


def test_it_works_where_nothing_optional_is_installed():
    """With the optional packages out of reach, arrays and lists are fitted and predicted all the same."""
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import numpy as np
from localbayes.classifiers import METHODS
rows = [["a", 1.0, None], ["b", 2.0, "u"], ["a", float("nan"), "v"], ["b", 5.0, "u"]]
for method in METHODS.values():
    model = method().fit(rows, ["x", "y", "x", "y"])
    assert model.predict(rows[:2]).tolist() == ["x", "y"], method
    assert method().fit(np.eye(4), [0, 1, 0, 1]).predict(np.eye(4)).shape == (4,)
print("done")
"""
    assert run(code) == "done\n"
