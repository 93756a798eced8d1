"""The paper's tests over data sets, for its printed table and for a measured one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from localbayes.classifiers.kappa import switching_rule
from localbayes.study import significance
from localbayes.study.accuracy_table import SetInfo, Table
from localbayes.study.comparison import Answer, answer, counted, equality, own_or_not
from localbayes.study.paper.kappa_ranks import rank_panel
from localbayes.study.paper.paper_columns import KAPPAS, RIVALS
from localbayes.study.paper.printed_table import PAPER_COLUMNS, REFERENCE

__all__ = ["answers", "answers_on_more", "switching_column"]

_KAPPAS = tuple(KAPPAS)
_SMALLEST = 10


def answers(table: Table) -> Iterator[Answer]:
    """Compute every test of the paper that a table of its sets and columns allows.

    Examples
    --------
    >>> from localbayes.study.paper import paper_table
    >>> found = {test.key: test for test in answers(paper_table())}
    >>> round(found["friedman-kappa"].pvalue, 4)
    0.2366
    """
    if table.has(*_KAPPAS) and len(table.shared_sets(_KAPPAS)) > 1:
        yield from _kappa_answers(table)
    trials = len(table.shared_sets([REFERENCE]))
    need = significance.wins_needed(trials)
    # On three data sets or fewer no number of wins is too large for chance.
    if need is not None:
        yield Answer(
            "sign-threshold",
            f"LCWNB5 wins on at least {need} of {trials} sets of the paper by chance",
            "binomial with 1/2: the level of the dots in the bottom row",
            significance.binomial_at_least(need, trials),
            need,
        )
    every = [c for c in PAPER_COLUMNS if table.has(c)]
    sets = table.shared_sets(every)
    if len(every) > 2 and len(sets) > 1:
        question = f"the {len(every)} columns of the paper are equal, on {_of_the_paper(sets)}"
        yield from equality("all", question, table.means(every))
    yield from _mean_rank_answers(table)


def answers_on_more(table: Table) -> Iterator[Answer]:
    """Test the mean rank of every column that is not the paper's among its rivals."""
    for column in table.columns:
        wanted = [column, *RIVALS]
        sets = table.shared_sets(wanted)
        if column not in PAPER_COLUMNS and table.has(*wanted) and len(sets) > 1:
            yield _mean_rank(f"mean-rank-{column}", column, own_or_not(sets), table.means(wanted))


def switching_column(table: Table) -> list[float]:
    """Printed means of LCWNB*: kappa 20 if m < 15, 10 if m is 15 or 16, else 5, where m counts the class."""
    sets = table.shared_sets([*_KAPPAS, *RIVALS])
    rows = table.only([s.name for s in sets], _KAPPAS).means(_KAPPAS)
    chosen = [f"LCWNB{switching_rule(s.m - 1):g}" for s in sets]
    return [float(row[_KAPPAS.index(c)]) for row, c in zip(rows, chosen, strict=True)]


def _kappa_answers(table: Table) -> Iterator[Answer]:
    means = table.means(_KAPPAS)
    n = len(means)
    sets = _of_the_paper(table.shared_sets(_KAPPAS))
    equal = f"kappa 5, 10 and 20 are equal, on {sets}"
    yield from equality("kappa", equal, means)
    yield answer("quade-kappa", equal, "Quade", significance.quade(means))
    for i, other in ((1, "LCWNB10"), (2, "LCWNB20")):
        test = significance.wilcoxon_better(means[:, 0], means[:, i])
        question = f"LCWNB5 is no better than {other}, on {sets}"
        yield answer(f"wilcoxon-{other}", question, "Wilcoxon, one-sided", test)
    rank = significance.ranks(means)
    middle, first = int((rank[:, 1] == 2).sum()), int((rank[:, 0] == 1).sum())
    for key, text, count in (
        ("middle", "LCWNB10 is in the middle", middle),
        ("first", "LCWNB5 is first", first),
    ):
        p = significance.binomial_at_least(count, n, 1 / 3)
        question = f"{text} on {count} of {sets} by chance"
        yield Answer(f"{key}-count", question, "binomial with 1/3", p, count)
    if n >= 2 * _SMALLEST:
        yield _pattern_in_m(table)


def _pattern_in_m(table: Table) -> Answer:
    signs = rank_panel(table, "m")[0][0].partition(": ")[2].replace("-", " ").split(" ")
    last = len(signs) - len("".join(signs).rstrip("1"))
    low = signs[:_SMALLEST].count("3")
    p = (1 / 3) ** last * significance.binomial_at_least(low, _SMALLEST, 1 / 3)
    return Answer(
        "pattern-m",
        f"LCWNB5 is first on the {last} sets with the largest m, "
        f"last on {low} of the {_SMALLEST} with the smallest, of {_of_the_paper(table.shared_sets(_KAPPAS))}",
        "product of two binomials with 1/3",
        p,
    )


def _mean_rank_answers(table: Table) -> Iterator[Answer]:
    sets = table.shared_sets([REFERENCE, *RIVALS])
    if not (table.has(REFERENCE, *RIVALS) and sets):
        return
    yield _mean_rank("mean-rank-LCWNB5", REFERENCE, _of_the_paper(sets), table.means([REFERENCE, *RIVALS]))
    if table.has(*_KAPPAS) and (sets := table.shared_sets([*_KAPPAS, *RIVALS])):
        rivals = table.only([s.name for s in sets], RIVALS).means(RIVALS)
        means = np.column_stack([switching_column(table), rivals])
        yield _mean_rank("mean-rank-LCWNB*", "LCWNB*", _of_the_paper(sets), means)


def _mean_rank(key: str, name: str, sets: str, means: Any) -> Answer:
    test = significance.mean_rank_test(means)
    question = f"{name} is no better than the others, on {sets}"
    detail = f"Gaussian test of its mean rank among itself, {', '.join(RIVALS)}"
    return Answer(key, question, detail, test.pvalue, test.mean_rank)


def _of_the_paper(sets: list[SetInfo]) -> str:
    return f"{counted(sets)} of the paper"
