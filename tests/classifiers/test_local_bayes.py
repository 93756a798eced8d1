"""The local Bayes classifier against loops over all rows, and what it promises for raw tables."""

import warnings
from dataclasses import replace
from datetime import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import softmax
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import oracle_local as oracle
from localbayes import LocalBayesClassifier, load_model, save_model
from localbayes.classifiers.row_source import IndexedRows, RowSource, SampledRows
from localbayes.datasets import load
from localbayes.encoding import Coded


@parametrize_with_checks([LocalBayesClassifier()])
def test_scikit_learn_accepts_it(estimator, check):
    """Every check that scikit-learn has for a classifier passes."""
    check(estimator)


def raw_table(seed, n=70):
    """Numbers, whole numbers, categories and holes, and three classes that depend on them."""
    random = np.random.default_rng(seed)
    size, grade = random.normal(size=n), random.integers(0, 6, n)
    colour = random.choice(["red", "green", "blue", "pink"], n, p=[0.5, 0.3, 0.15, 0.05])
    y = np.where(size + (colour == "red") > 0.5, "big", np.where(grade % 2 == 0, "even", "odd"))
    X = pd.DataFrame({"size": size, "grade": grade, "colour": colour, "other": random.normal(size=n)})
    X.loc[random.random(n) < 0.1, "size"] = np.nan
    X["colour"] = X["colour"].where(random.random(n) > 0.1, None)
    return X, y


class Seen:
    """What a fitted classifier knows, as plain arrays for the oracle."""

    def __init__(self, model):
        self.model, self.r = model, len(model.labels_)
        parts = list(model.index_.training_rows())
        order = np.argsort(np.concatenate([part[2] for part in parts]))
        self.rows = np.concatenate([part[0] for part in parts])[order].astype(int)
        self.y = np.concatenate([part[1] for part in parts])[order]
        distance = model.value_distance()
        self.tables, self.agreements, self.units = [], [], []
        for i, q in enumerate(model.sizes_.tolist()):
            agreement, unit = distance.agreement(i, q)
            self.tables.append(distance.table(i, q).astype(int))
            self.agreements.append(np.asarray(agreement))
            self.units.append(unit)

    def known(self, query, rows):
        """Attributes whose value some row has, if they are nominal."""
        inside = query < self.model.sizes_
        seen = [(rows[:, i] == query[i]).any() for i in range(len(query))]
        return inside & (np.array(seen) | (self.model.ordered_sizes_ > 0))

    def features(self, query, rows, y, kappa):
        """Features of a query over given rows."""
        known = self.known(query, rows)
        safe = np.where(known, query, 0)
        return oracle.features(safe, rows, y, self.r, self.tables, self.agreements, self.units, known, kappa)


@pytest.mark.parametrize("seed", range(4))
def test_predictions_are_those_of_a_loop_over_all_rows(seed):
    """Gamma, soft agreement, exponents and averages, with unseen and missing values among the queries."""
    X, y = raw_table(seed)
    model = LocalBayesClassifier().fit(X, y)
    asked = pd.concat(
        [X[:12], pd.DataFrame({"size": [9.0], "grade": [99], "colour": ["new"], "other": [0.0]})]
    )
    seen, expected = Seen(model), []
    for query in model.encode(asked).astype(int):
        each = [
            softmax(exponents.b + seen.features(query, seen.rows, seen.y, kappa) @ exponents.w)
            for kappa, exponents in zip(model.kappas_, model.exponents_, strict=True)
        ]
        expected.append(oracle.averaged(each, model.class_count))
    np.testing.assert_allclose(
        model.predict_proba(asked), np.array(expected)[:, model.labels_.columns], atol=1e-9
    )


def test_left_out_rows_see_all_rows_but_themselves():
    """Features of a training row are those of a query to the other rows, whichever way they are computed."""
    X, y = raw_table(7)
    model = LocalBayesClassifier().fit(X, y)
    seen, kappas, source = Seen(model), model.kappas_, IndexedRows(model.index_)
    rows = source.sample_rows(np.arange(len(y)))
    assert (rows.classes == seen.y).all()
    rows = replace(rows, codes=model.known_codes(rows.codes, rows.own_weight))
    compiled = model.left_out_features(source, rows, kappas)
    of_sums = RowSource.left_out_features(source, rows, kappas, model.features, 0.5)
    for row in range(0, len(y), 7):
        others = np.arange(len(y)) != row
        for k, kappa in enumerate(kappas):
            expected = seen.features(seen.rows[row], seen.rows[others], seen.y[others], kappa)
            np.testing.assert_allclose(of_sums[k, row], expected, atol=1e-9)
            np.testing.assert_allclose(compiled[k, row], expected, atol=1e-5)


def test_another_source_of_rows_and_sums_gives_the_same_model():
    """Learning sees rows and sums only, so that a cluster can answer; here two parts do."""
    X, y = raw_table(8, n=300)
    model = LocalBayesClassifier().fit(X, y)
    codes, classes = model.encode(X), model.labels_.encode(y)
    other = LocalBayesClassifier().fit(X, y)
    other.learn(TwoParts(model, codes, classes, 130))
    np.testing.assert_array_equal(other.kappas_, model.kappas_)
    np.testing.assert_array_equal(other.column_weights_, model.column_weights_)
    for ours, theirs in zip(other.exponents_, model.exponents_, strict=True):
        np.testing.assert_allclose(ours.w, theirs.w, atol=1e-3)


class TwoParts(RowSource):
    """Training rows in two indexes, whose counts are added up."""

    def __init__(self, model, codes, classes, cut):
        self.codes, self.classes, self.cut, self.model = codes, classes, cut, model
        self.parts = [model.empty_statistic(model.sizes_, len(model.labels_)) for _ in range(2)]
        for part, rows in zip(self.parts, (slice(cut), slice(cut, None)), strict=True):
            part.add(codes[rows], classes[rows])

    @property
    def n_rows(self):
        return len(self.classes)

    def value_totals(self):
        return [a + b for a, b in zip(*(part.value_totals() for part in self.parts), strict=True)]

    def sample_rows(self, numbers):
        return SampledRows(self.codes[numbers], self.classes[numbers], np.ones(len(numbers)), numbers)

    def use_distance(self, distance):
        self.parts = [part.with_distance(distance) for part in self.parts]

    def left_out_sums(self, rows, kappas):
        whole = self.parts[0] + self.parts[1]
        V = sum(part.count(rows.codes).distance_counts.astype(float) for part in self.parts)
        own = np.arange(len(rows))
        V[own, rows.classes, 0] -= 1  # a row is at distance zero from itself
        sums = []
        for weighting in self.model.weightings(V, kappas):
            T = whole.count(rows.codes, rows.classes).weighted_sums(weighting.weights)[1]
            sums.append((weighting.total, T))
        return tuple(np.stack(arrays) for arrays in zip(*sums, strict=True))


def test_learning_in_parts_is_learning_at_once_with_the_same_encoder():
    """Rows that come later change the model as if they had come at once."""
    X, y = raw_table(3, n=120)
    X["colour"] = pd.Categorical(X["colour"], ["red", "green", "blue", "pink"])
    parts = (
        LocalBayesClassifier().partial_fit(X[:60], y[:60], classes=np.unique(y)).partial_fit(X[60:], y[60:])
    )
    whole = LocalBayesClassifier()
    whole.encoder_ = parts.encoder_
    whole.n_features_in_, whole.feature_names_in_ = parts.n_features_in_, parts.feature_names_in_
    whole.begin(parts.sizes_, parts.labels_)
    whole.set_class_count(parts.class_count)
    index = whole.empty_statistic(parts.sizes_, len(parts.labels_))
    index.add(parts.encoder_.encode(X), parts.labels_.encode(y))
    whole.adopt(index)
    assert whole.predict_proba(X).tobytes() == parts.predict_proba(X).tobytes()


def test_a_row_of_weight_two_is_the_row_twice():
    """Weights count in bins, terms, column weights, kappas and exponents."""
    X, y = raw_table(5, n=60)
    weights = np.random.default_rng(0).integers(1, 4, 60)
    weighted = LocalBayesClassifier().fit(X, y, sample_weight=weights)
    repeated = LocalBayesClassifier().fit(X.loc[np.repeat(X.index, weights)], np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=2e-3)


def test_a_rare_value_of_a_row_of_weight_two_is_that_of_two_rows():
    """Whether another row has a value is a matter of weight, as if the row were there twice."""
    X, y = raw_table(9, n=50)
    X["colour"] = [f"colour {k // 2}" if k < 20 else "other" for k in range(50)]
    X.loc[0, "colour"] = "mine"
    twice = LocalBayesClassifier().fit(pd.concat([X, X]), np.concatenate([y, y]))
    weighted = LocalBayesClassifier().fit(X, y, sample_weight=np.full(50, 2.0))
    np.testing.assert_allclose(weighted.column_weights_, twice.column_weights_, atol=1e-4)
    np.testing.assert_allclose(weighted.predict_proba(X), twice.predict_proba(X), atol=1e-3)


def test_a_whole_number_may_speak_value_by_value():
    """Whether a number is even is known, though near numbers are of the other class."""
    x = np.random.default_rng(0).integers(0, 26, 400)
    scores = cross_val_score(LocalBayesClassifier(), pd.DataFrame({"x": x}), x % 2, cv=5)
    assert scores.mean() == 1.0


def test_terms_of_a_large_table_are_learned_from_a_part_of_its_rows(monkeypatch):
    """A sample of the rows tells that even numbers are another class."""
    monkeypatch.setattr("localbayes.encoding.rich_encoder._TERM_ROWS", 150)
    x = np.random.default_rng(0).integers(0, 26, 400)
    X = pd.DataFrame({"x": x, "c": np.where(x > 9, "a", "b")})
    model = LocalBayesClassifier().fit(X, x % 2)
    assert (model.predict(X) == x % 2).all()


def test_a_value_never_seen_carries_no_evidence():
    """It adds nothing to any class."""
    X, y = raw_table(2)
    answer = LocalBayesClassifier().fit(X, y).explain(X[:1].assign(colour="never"))
    column = list(X.columns).index("colour")
    np.testing.assert_array_equal(answer.contributions[0, :, column], 0.0)


def test_ids_and_texts_are_left_out_with_one_warning():
    """Columns in which nearly every row has its own value change no prediction, and are named."""
    X, y = raw_table(1)
    plain = LocalBayesClassifier().fit(X, y).predict_proba(X)
    messy = X.assign(
        id=[f"C{k:05}" for k in range(len(X))], note=[f"called {k} times on a day" for k in X.index]
    )
    with pytest.warns(UserWarning, match="left out columns 'id', 'note': nearly every row") as caught:
        model = LocalBayesClassifier().fit(messy, y)
    assert len(caught) == 1
    np.testing.assert_allclose(model.predict_proba(messy), plain, atol=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = LocalBayesClassifier().fit(messy.drop(columns="note").astype({"id": "category"}), y)
    assert kept.sizes_[4] == len(X)


def test_dates_are_numbers_in_order():
    """A column of dates, or of texts that are dates, is its seconds."""
    X, y = raw_table(4)
    days = np.random.default_rng(1).integers(0, 2000, len(X))
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")
    seconds = (dates - pd.Timestamp("1970-01-01")).total_seconds().to_numpy()
    expected = LocalBayesClassifier().fit(X.assign(day=seconds), y).predict_proba(X.assign(day=seconds))
    for given in (dates, dates.strftime("%Y-%m-%d")):
        table = X.assign(day=np.asarray(given))
        assert LocalBayesClassifier().fit(table, y).predict_proba(table).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "given",
    [
        lambda lengths: lengths,
        lambda lengths: lengths.astype("timedelta64[ms]"),
        lambda lengths: lengths.astype(object).where(lengths.notna(), None),
        lambda lengths: lengths.astype(pd.ArrowDtype(pa.duration("us"))),
        lambda lengths: lengths.to_numpy().astype("m8[ms]").astype(object),
        lambda lengths: lengths.astype(str).where(lengths.notna(), None),
        lambda lengths: [None if pd.isna(x) else str(x.to_pytimedelta()) for x in lengths],
    ],
    ids=["pandas", "milliseconds", "objects", "Arrow", "Python", "texts of pandas", "texts of Python"],
)
def test_durations_are_numbers_in_order(given, tmp_path):
    """A column of durations is its seconds, in every form, with holes, in a file too."""
    X, y = raw_table(4)
    random = np.random.default_rng(1)
    seconds = pd.Series(random.integers(0, 10**8, len(X)) / 1000).where(random.random(len(X)) < 0.9)
    expected = LocalBayesClassifier().fit(X.assign(took=seconds), y).predict_proba(X.assign(took=seconds))
    table = X.assign(took=given(pd.to_timedelta(seconds, unit="s").dt.round("ms")))
    model = LocalBayesClassifier().fit(table, y)
    assert model.encoder_.roles[-1].kind == "duration"
    assert model.predict_proba(table).tobytes() == expected.tobytes()
    save_model(model, tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").predict_proba(table).tobytes() == expected.tobytes()


def test_times_of_day_are_in_order():
    """They are seconds since midnight, as times and as texts."""
    X, y = raw_table(4)
    minutes = np.random.default_rng(1).integers(0, 1440, len(X))
    times = [time(m // 60, m % 60) for m in minutes.tolist()]
    expected = (
        LocalBayesClassifier().fit(X.assign(at=minutes * 60.0), y).predict_proba(X.assign(at=minutes * 60.0))
    )
    for given in (times, [str(t) for t in times]):
        table = X.assign(at=pd.Series(given, dtype=object))
        assert LocalBayesClassifier().fit(table, y).predict_proba(table).tobytes() == expected.tobytes()


@pytest.mark.parametrize("text", ["7:30", "1:60:00", "a day", "days", "1", "10 days ago", "1 days 5"])
def test_other_texts_are_no_durations(text):
    """One such value among durations makes the column nominal."""
    X, y = raw_table(4)
    table = X.assign(took=pd.Series(["1 day", "2 days", text] * len(X), dtype=object)[: len(X)])
    assert LocalBayesClassifier().fit(table, y).encoder_.roles[-1].kind == "nominal"


def test_durations_and_dates_are_not_mixed():
    """A column of both is nominal, and a date in a column of durations is missing."""
    X, y = raw_table(4)
    length, day = pd.Timedelta("1D"), pd.Timestamp("2024-01-31")
    both = X.assign(when=pd.Series([length, day] * (len(X) // 2), dtype=object))
    assert LocalBayesClassifier().fit(both, y).encoder_.roles[-1].kind == "nominal"
    model = LocalBayesClassifier().fit(X.assign(when=length * (1 + np.arange(len(X)) % 9)), y)
    date, none = (X[:5].assign(when=pd.Series([cell] * 5, dtype=object)) for cell in (day, None))
    assert model.predict_proba(date).tobytes() == model.predict_proba(none).tobytes()


@pytest.mark.parametrize("missing", ["category", "impute", "ignore"])
def test_contributions_sum_to_the_prediction_and_a_file_gives_the_same_bits(missing, tmp_path):
    """With each way to treat missing values."""
    X, y = raw_table(6)
    model = LocalBayesClassifier(missing=missing).fit(X, y)
    answer = model.explain(X[:9], top=3)
    np.testing.assert_allclose(np.exp(answer.log_proba), model.predict_proba(X[:9]), atol=1e-9)
    save_model(model, tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_priors_and_class_weights_move_probabilities():
    """A class weight multiplies the odds of its class."""
    X, y = load("vote")
    plain = LocalBayesClassifier().fit(X, y).predict_log_proba(X[:20])
    moved = LocalBayesClassifier(class_weight={"democrat": 3.0}).fit(X, y).predict_log_proba(X[:20])
    np.testing.assert_allclose(moved[:, 0] - moved[:, 1], plain[:, 0] - plain[:, 1] + np.log(3.0), atol=1e-9)


def test_tables_with_nothing_to_learn_from():
    """One class, one row, constant columns and codes are no errors."""
    assert LocalBayesClassifier().fit([["a"], ["b"]], [1, 1]).predict([["a"]]).tolist() == [1]
    assert LocalBayesClassifier().fit([["a"]], ["x"]).predict([["b"]]).tolist() == ["x"]
    constant = LocalBayesClassifier().fit([["a", 1.0]] * 6, [0, 1, 1, 1, 0, 1])
    assert (
        constant.predict_proba([["a", 1.0]])[0].round(1).tolist() == [0.4, 0.6]
        or constant.predict([["a", 1.0]]) == 1
    )
    codes = Coded(np.random.default_rng(0).integers(0, 4, (50, 3)), [4, 4, 4], ordered=[True, True, False])
    model = LocalBayesClassifier().fit(codes, codes.codes[:, 0] > 1)
    assert (model.predict(codes) == (codes.codes[:, 0] > 1)).mean() > 0.95


def test_reasons_point_the_way_the_evidence_points():
    """A column that alone separates two classes speaks for the right one, and more than a column of noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([y + rng.uniform(-0.4, 0.4, 200), rng.normal(size=200)])
    clf = LocalBayesClassifier().fit(X, y)
    explanation = clf.explain(X[:20])
    for row in range(20):
        odds = explanation.log_odds(row)
        told, noise = (reason.log_odds for reason in odds.attributes)
        assert odds.for_class == y[row]
        assert told > abs(noise)
        assert told > abs(odds.start.log_odds)


def test_a_row_alone_gets_the_bits_it_gets_among_others():
    """Log odds of training rows are cuts, so that the last digit would decide if it depended on the batch."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 9))
    y = (X @ rng.normal(size=9) > 0).astype(int)
    clf = LocalBayesClassifier().fit(X, y)
    assert "Odds" in {type(term).__name__ for term in clf.encoder_.terms}
    alone = np.concatenate([clf.predict_proba(X[k : k + 1]) for k in range(len(X))])
    np.testing.assert_array_equal(alone, clf.predict_proba(X))
