"""The eager classifiers as in a textbook: every count is looked up in the rows, nothing is kept.

Each function takes training codes (n, m), class codes (n,), sizes (m,), the number of classes r and the
codes of one query, and returns the log joint of every class. A code at or above its column's size is a
value never seen: it is in no count.
"""

import math

import numpy as np
from scipy.special import gammaln, logsumexp

__all__ = [
    "aode",
    "conditional_information",
    "hnb",
    "mutual_information",
    "naive_bayes",
    "tan",
    "tan_parents",
    "waode",
]


class Table:
    """Training rows that answer how many of them have a class and given values."""

    def __init__(self, codes, classes, sizes, r):
        self.codes, self.classes = np.asarray(codes, dtype=int), np.asarray(classes)
        self.sizes, self.r = [int(q) for q in sizes], r
        self.n, self.m = len(classes), len(sizes)

    def count(self, y=None, values=None, known=()):
        """Rows of class y (any, if None) with the values {attribute: code}, and some value of the known."""
        rows = np.ones(self.n, bool) if y is None else self.classes == y
        for i in known:
            rows = rows & (self.codes[:, i] < self.sizes[i])
        for i, value in (values or {}).items():
            rows = rows & (self.codes[:, i] == value) & (value < self.sizes[i])
        return int(rows.sum())


def naive_bayes(codes, classes, sizes, r, query, alpha=1.0):
    t = Table(codes, classes, sizes, r)
    scores = []
    for y in range(r):
        n_y = t.count(y)
        score = _log(alpha + n_y, alpha * r + t.n)
        for i, value in enumerate(query):
            score += _log(alpha + t.count(y, {i: value}), alpha * t.sizes[i] + n_y)
        scores.append(score)
    return np.array(scores)


def aode(codes, classes, sizes, r, query, min_count=1):
    t = Table(codes, classes, sizes, r)
    used = [p for p in range(t.m) if t.count(None, {p: query[p]}) >= min_count]
    if not used:
        return naive_bayes(codes, classes, sizes, r, query)
    scores = np.zeros((r, len(used)))
    for y in range(r):
        for k, p in enumerate(used):
            parent = {p: query[p]}
            n_py = t.count(y, parent)
            scores[y, k] = _log(n_py + 1, t.n + r * t.sizes[p])
            for i in set(range(t.m)) - {p}:
                scores[y, k] += _log(t.count(y, parent | {i: query[i]}) + 1, n_py + t.sizes[i])
    return logsumexp(scores, axis=1)


def waode(codes, classes, sizes, r, query):
    t = Table(codes, classes, sizes, r)
    weights = np.array([mutual_information(t, i) for i in range(t.m)])
    if not weights.any():
        weights[:] = 1
    scores = np.zeros((r, t.m))
    for y in range(r):
        for p in range(t.m):
            parent = {p: query[p]}
            n_py = t.count(y, parent)
            scores[y, p] = _log(n_py + 1 / (r * t.sizes[p]), t.n + 1)
            for i in set(range(t.m)) - {p}:
                scores[y, p] += _log(t.count(y, parent | {i: query[i]}) + 1 / t.sizes[i], n_py + 1)
    return logsumexp(scores, axis=1, b=np.broadcast_to(weights, scores.shape))


def hnb(codes, classes, sizes, r, query):
    t = Table(codes, classes, sizes, r)
    weights = np.array(
        [[conditional_information(t, i, j) if i != j else 0.0 for j in range(t.m)] for i in range(t.m)]
    )
    scores = []
    for y in range(r):
        n_y = t.count(y)
        score = _log(n_y + 1 / r, t.n + 1)
        for i, value in enumerate(query):
            if not weights[i].any():
                score += _log(t.count(y, {i: value}) + 1 / t.sizes[i], n_y + 1)
                continue
            mixture = 0.0
            for j in set(range(t.m)) - {i}:
                n_jy = t.count(y, {j: query[j]})
                n_ijy = t.count(y, {i: value, j: query[j]})
                mixture += weights[i, j] / weights[i].sum() * (n_ijy + 1 / t.sizes[i]) / (n_jy + 1)
            score += math.log(mixture)
        scores.append(score)
    return np.array(scores)


def tan(codes, classes, sizes, r, query, alpha=0.5, parents=None):
    t = Table(codes, classes, sizes, r)
    if parents is None:
        parents = tan_parents(codes, classes, sizes, r, alpha)
    scores = []
    for y in range(r):
        score = _log(alpha + t.count(y), alpha * r + t.n)
        for i, parent in enumerate(parents):
            given = {} if parent < 0 else {parent: query[parent]}
            score += _log(alpha + t.count(y, given | {i: query[i]}), alpha * t.sizes[i] + t.count(y, given))
        scores.append(score)
    return np.array(scores)


def tan_parents(codes, classes, sizes, r, alpha=0.5):
    """Parents of the tree: arcs one by one, the best between an attribute inside and one outside."""
    t = Table(codes, classes, sizes, r)
    gain = {
        (child, parent): _dirichlet_score(t, child, parent, alpha) - _dirichlet_score(t, child, None, alpha)
        for child in range(t.m)
        for parent in range(t.m)
        if child != parent
    }
    parents, inside = [-1] * t.m, set()
    for _ in range(t.m - 1):
        best = None
        for arc, value in gain.items():
            crosses = not inside or (arc[0] in inside) != (arc[1] in inside)
            if crosses and (best is None or value > gain[best]):
                best = arc
        tail, head = best if parents[best[1]] < 0 else best[::-1]
        parents[head] = tail
        inside |= set(best)
    return parents


def mutual_information(t, i):
    """Mutual information of an attribute and the class, in bits, without what is below 1e-6."""
    total = 0.0
    for value in range(t.sizes[i]):
        for y in range(t.r):
            joint, own, of_class = t.count(y, {i: value}), t.count(None, {i: value}), t.count(y, known=[i])
            if joint / t.n >= 1e-6 and own / t.n * (of_class / t.n) >= 1e-6:
                total += joint / t.n * math.log2(joint * t.count(known=[i]) / (own * of_class))
    return total


def conditional_information(t, i, j):
    """Mutual information of two attributes given the class, in bits, without what is below 1e-6."""
    total = 0.0
    for y in range(t.r):
        for a in range(t.sizes[i]):
            for b in range(t.sizes[j]):
                joint, both = t.count(y, {i: a, j: b}), t.count(y, known=[i, j])
                of_a, of_b = t.count(y, {i: a}, known=[j]), t.count(y, {j: b}, known=[i])
                if joint / t.n * (both / t.n) >= 1e-6 and of_a / t.n * (of_b / t.n) >= 1e-6:
                    total += joint / t.n * math.log2(joint * both / (of_a * of_b))
    return total


def _dirichlet_score(t, child, parent, alpha):
    """Log marginal likelihood of a child given class and parent; terms in the order that decides ties."""
    q = t.sizes[child]
    total = 0.0
    for y in range(t.r):
        for value in [None] if parent is None else range(t.sizes[parent]):
            given = {} if parent is None else {parent: value}
            for own in range(q):
                total += gammaln(alpha + t.count(y, given | {child: own}))
            total -= gammaln(alpha * q + t.count(y, given))
            total -= q * gammaln(alpha)
            total += gammaln(alpha * q)
    return float(total)


def _log(above, below):
    return math.log(above / below) if above > 0 else -math.inf
