"""Tables whose attributes are independent given the class, and naive Bayes on them, in any arithmetic."""

from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

positive = st.fractions(Fraction(1, 50), 50, max_denominator=60)


@st.composite
def independent_tables(draw, numbers=positive, max_attributes=4):
    """Unnormalised P(y) and P(x_i | y): the attributes are independent given the class, by construction."""
    r = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=max_attributes))
    prior = draw(st.lists(numbers, min_size=r, max_size=r))
    columns = [
        [draw(st.lists(numbers, min_size=q, max_size=q)) for q in sizes] for _ in range(r)
    ]  # columns[y][i][v]
    query = [draw(st.integers(0, q - 1)) for q in sizes]
    return prior, columns, sizes, query


def joint_table(prior, columns, sizes):
    """P(x, y) for every cell."""
    table = {}
    for y, p in enumerate(prior):
        for x in product(*map(range, sizes)):
            cell = p
            for i, v in enumerate(x):
                cell *= columns[y][i][v]
            table[x, y] = cell
    return table


def normalised(scores):
    return [score / sum(scores) for score in scores]


def naive_bayes_at(query, table, n_classes):
    """Unsmoothed naive Bayes fitted to a table of cell masses, at the query."""
    scores = []
    for y in range(n_classes):
        mass = sum(p for (_, label), p in table.items() if label == y)
        score = mass
        for i, v in enumerate(query):
            score *= sum(p for (x, label), p in table.items() if label == y and x[i] == v) / mass
        scores.append(score)
    return normalised(scores)
