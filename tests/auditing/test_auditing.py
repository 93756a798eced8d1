"""Audits: labels that other rows contradict, identical rows, columns."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import localbayes
from localbayes import LocalBayesClassifier
from localbayes.auditing import audit, profile_columns
from localbayes.auditing.same_rows import row_groups, same_rows
from localbayes.datasets import load


def random_table(seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Columns of few values, so that rows repeat; missing values among them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    words = rng.choice(["a", "b", None], n)
    numbers = rng.choice([1.5, 2.5, np.nan], n)
    labels = pd.Series(rng.choice(["yes", "no", "maybe"], n))
    return pd.DataFrame({"word": words, "number": numbers, "flag": rng.choice([True, False], n)}), labels


def keys(X: pd.DataFrame) -> list[tuple[str, ...]]:
    return [
        tuple("?" if pd.isna(cell) else repr(cell) for cell in row) for row in X.astype(object).to_numpy()
    ]


@pytest.mark.parametrize("seed", range(20))
def test_identical_rows_are_those_that_a_loop_finds(seed):
    """Groups, conflicts, repeated rows and the best accuracy are those of a dictionary of rows."""
    X, y = random_table(seed)
    rows: dict[tuple[str, ...], list[int]] = {}
    for number, key in enumerate(keys(X)):
        rows.setdefault(key, []).append(number)
    found = audit(X, y)
    expected = {tuple(r): Counter(y[r]) for r in rows.values() if len(set(y[r])) > 1}
    assert {conflict.rows: Counter(conflict.labels) for conflict in found.conflicts} == expected
    pairs = list(zip(keys(X), y, strict=True))
    assert found.repeated.tolist() == [k for k, pair in enumerate(pairs) if pair in pairs[:k]]
    right = sum(max(Counter(y[r]).values()) for r in rows.values())
    assert found.best_accuracy == pytest.approx(right / len(X))


@pytest.mark.parametrize("seed", range(10))
def test_what_a_column_tells_is_a_vote_of_the_other_rows(seed):
    """A row's class is found if it is the first of the most frequent ones among other rows of its value."""
    X, y = random_table(seed)
    for column, profile in zip(X.columns, profile_columns(X, y), strict=True):
        of_value = ["?" if pd.isna(v) else v for v in X[column]]
        right = 0
        for row, value in enumerate(of_value):
            votes = Counter(y[k] for k, other in enumerate(of_value) if other == value and k != row)
            best = min((-count, label) for label, count in votes.items()) if votes else None
            right += best is not None and best[1] == y[row]
        assert profile.tells == pytest.approx(right / len(X))
        assert profile.missing == pytest.approx(X[column].isna().mean())


def test_wrong_labels_come_first():
    """Of votes with a few labels turned round, most rows at the top are those."""
    X, y = load("vote")
    rng = np.random.default_rng(0)
    wrong = rng.choice(len(y), 20, replace=False)
    noisy = y.astype(str).to_numpy()
    noisy[wrong] = np.where(noisy[wrong] == "democrat", "republican", "democrat")
    found = audit(X, noisy)
    assert np.isin(found.ranking[:20], wrong).sum() >= 14
    first = found.suspects[0]
    assert first.given == noisy[first.row]
    assert first.p_given < first.p_likely <= 1
    thorough = audit(X, noisy, LocalBayesClassifier())
    assert np.isin(thorough.ranking[:20], wrong).sum() >= 14


def test_rows_of_a_test_table_are_found_by_what_they_say():
    """Rows with the same values as text or as numbers, their columns in another order, are the same rows."""
    X = pd.DataFrame({"code": ["7", "8", "9", "7"], "size": [1.0, 2.0, None, 1.0]})
    test = pd.DataFrame({"size": [2, 5], "code": [8, 7]})
    assert audit(X, ["p", "q", "p", "q"], against=test).shared == [(0, 1)]
    here, there = same_rows(X, X.iloc[::-1])
    assert here.tolist() == there[::-1].tolist()
    with pytest.raises(ValueError, match="the other table lacks the column 'size'"):
        same_rows(X, X[["code"]])


def test_roles_and_advice():
    """Ids, constants, free text, dates and a column that gives the class away are told apart."""
    rng = np.random.default_rng(0)
    n = 200
    y = rng.choice(["yes", "no"], n)
    X = pd.DataFrame(
        {
            "id": [f"C-{k:05d}" for k in range(n)],
            "unit": "cm",
            "size": rng.normal(size=n),
            "grade": rng.integers(1, 6, n),
            "day": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "remark": [" ".join(rng.choice(list("abcdefgh"), 6)) for _ in range(n)],
            "outcome": np.where(y == "yes", "paid", "open"),
            "rare": np.where(rng.random(n) < 0.8, None, "x"),
        }
    )
    found = {column.name: column for column in profile_columns(X, y)}
    kinds = {name: column.kind for name, column in found.items()}
    assert kinds["id"] == "id"
    assert kinds["unit"] == "constant"
    assert kinds["size"] == "number"
    assert kinds["grade"] == "whole number"
    assert kinds["day"] == "date"
    assert not found["remark"].used
    assert found["outcome"].tells == 1.0
    assert "known before the class" in found["outcome"].advice
    assert "missing in" in found["rare"].advice
    assert found["size"].advice == ""


def test_what_a_date_tells_is_told_by_its_bin():
    """Every day has one row, so that only days together tell when the class changed."""
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=200).strftime("%Y-%m-%d")})
    changed = np.arange(200) >= 90
    assert profile_columns(days, changed)[0].tells > 0.95


def test_bad_input_gets_one_line():
    """An empty table, labels of another length and missing labels are refused."""
    X = pd.DataFrame({"a": ["x", "y"]})
    with pytest.raises(ValueError, match="minimum of 1"):
        audit(X.iloc[:0], [])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        audit(X, ["p"])
    with pytest.raises(ValueError, match="y"):
        audit(X, ["p", None])


def test_page_and_text_hold_what_was_found_and_run_nothing():
    """What came from data is text on the page; print gives lines of at most 80 characters."""
    evil = "<img src=x onerror=alert(1)>"
    X = pd.DataFrame({evil: [evil, "b"] * 15, "n" * 300: range(30)})
    found = localbayes.audit(X, ["p", "q"] * 14 + ["q", "q"])
    page = found.to_html(evil)
    assert "<img" not in page
    assert "&lt;img src=x" in page
    assert "http:" not in page
    assert "https:" not in page
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'" in page
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found).startswith("AuditReport(30 rows")


def test_groups_are_numbered_by_their_first_row():
    """Missing equals missing; 1 and 1.0 are one number."""
    assert row_groups(pd.DataFrame({"a": [None, "x", None], "b": [1, 1, 1.0]})).tolist() == [0, 1, 0]


def test_dates_of_unknown_order_are_asked_about():
    """Of 3/4/2024 one cannot tell the month; of 2024/4/3 and 3.4.2024 one can."""
    slashes = [f"{k % 12 + 1}/{k % 28 + 1}/2024" for k in range(60)]
    dots = [f"{k % 28 + 1}.{k % 12 + 1}.2024" for k in range(60)]
    found = profile_columns(pd.DataFrame({"slashes": slashes, "dots": dots}), ["a", "b"] * 30)
    assert [column.kind == "date" for column in found] == [False, True]
    assert "write them as 2024-01-31" in found[0].advice
    assert found[1].advice == ""
