"""The paper's study: its data sets, columns, printed table, tests and figures, as a benchmark of the engine.

K.-H. Li and C. T. Li, *Locally Weighted Learning for Naive Bayes Classifier*.
"""

from localbayes.study.benchmark import Benchmark
from localbayes.study.paper.paper_answers import answers, answers_on_more
from localbayes.study.paper.paper_columns import DEFAULT_COLUMNS, GROUPS, paper_methods
from localbayes.study.paper.paper_report import SECTIONS, TESTS_NOTE, entries, facts, pictures
from localbayes.study.paper.paper_sets import CATALOGUE
from localbayes.study.paper.printed_table import (
    DECLARED,
    PAPER_COLUMNS,
    PRINTED_COUNTS,
    REFERENCE,
    paper_table,
)

__all__ = ["PAPER", "paper_table"]

PAPER = Benchmark(
    label="paper",
    possessive="the paper's",
    citation=("Locally Weighted Learning for Naive Bayes Classifier", "K.-H. Li and C. T. Li"),
    catalogue=CATALOGUE,
    columns=PAPER_COLUMNS,
    reference=REFERENCE,
    default_columns=DEFAULT_COLUMNS,
    groups=GROUPS,
    methods=paper_methods,
    table=paper_table,
    counts=PRINTED_COUNTS,
    repeats=DECLARED,
    answers=answers,
    answers_on_more=answers_on_more,
    tests_note=TESTS_NOTE,
    facts=facts,
    pictures=pictures,
    sections=SECTIONS,
    templates="localbayes.study.paper",
    data=entries,
)
