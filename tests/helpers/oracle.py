"""Slow textbook versions of the kernels, in NumPy alone: the specification the compiled code must meet."""

from fractions import Fraction

import numpy as np

UNSEEN, MISSING = -1, -2


def match_counts(codes, class_codes, n_classes, query, weights=None):
    """V[y, d] and C[y, d, i] of one query by looking at every training row."""
    n, m = codes.shape
    dtype = np.int64 if weights is None else np.float64
    V = np.zeros((n_classes, m + 1), dtype)
    C = np.zeros((n_classes, m + 1, m), dtype)
    for j in range(n):
        w = 1 if weights is None else weights[j]
        agrees = codes[j] == query
        d = m - int(agrees.sum())
        V[class_codes[j], d] += w
        C[class_codes[j], d] += w * agrees
    return V, C


def match_counts_with_missing(codes, class_codes, n_classes, query):
    """V, C and the counts of known values when an unknown value neither matches nor mismatches."""
    n, m = codes.shape
    V = np.zeros((n_classes, m + 1), np.int64)
    C = np.zeros((n_classes, m + 1, m), np.int64)
    K = np.zeros((n_classes, m + 1, m), np.int64)
    for j in range(n):
        known = codes[j] != MISSING
        both = known & (query != MISSING)
        agrees = both & (codes[j] == query)
        d = int((both & ~agrees).sum())
        V[class_codes[j], d] += 1
        C[class_codes[j], d] += agrees
        K[class_codes[j], d] += known
    return V, C, K


def solve_gamma(V, kappa):
    """Binary search for gamma with sum_d V[d] gamma^d closest to kappa, as in the paper's pseudo-code."""
    powers = np.arange(len(V))
    if V[0] >= kappa and V.sum() > 0:
        return 0.0
    if V.sum() <= kappa:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if (V * middle**powers).sum() < kappa:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def lcwnb_scores(codes, class_codes, sizes, n_classes, query, kappa):
    """log Q(y) of the paper's pseudo-code, row by row."""
    n, m = codes.shape
    V, _ = match_counts(codes, class_codes, n_classes, query)
    gamma = np.array([solve_gamma(V[y], kappa) for y in range(n_classes)])
    S = np.zeros(n_classes)
    T = np.zeros((n_classes, m))
    square = 0.0
    for j in range(n):
        y = class_codes[j]
        agrees = codes[j] == query
        weight = gamma[y] ** (m - int(agrees.sum()))
        S[y] += weight
        T[y] += weight * agrees
        square += weight**2
    rho = S.sum() / square
    return np.array(
        [
            np.log(1 + rho * S[y])
            + sum(np.log((1 + rho * T[y, i]) / (sizes[i] + rho * S[y])) for i in range(m))
            for y in range(n_classes)
        ]
    )


def weighted_sums(codes, class_codes, n_classes, query, weight):
    """S[y] and T[y][i] of rows that weigh ``weight(row)``, in the arithmetic of the weights."""
    n, m = codes.shape
    S = [0] * n_classes
    T = [[0] * m for _ in range(n_classes)]
    for j in range(n):
        y, w = class_codes[j], weight(j)
        S[y] += w
        for i in range(m):
            if codes[j, i] == query[i]:
                T[y][i] += w
    return S, T


def naive_bayes_scores(S, T, sizes, alpha=1):
    """log of (alpha + S_y) / (alpha r + sum S) * prod_i (alpha + T_iy) / (alpha q_i + S_y)."""
    r = len(S)
    return np.array(
        [
            np.log(float(Fraction(alpha + S[y]) / Fraction(alpha * r + sum(S))))
            + sum(
                np.log(float(Fraction(alpha + t) / Fraction(alpha * int(q) + S[y])))
                for t, q in zip(T[y], sizes, strict=True)
            )
            for y in range(r)
        ]
    )


def hamming(codes, query):
    """Number of attributes in which each row differs from the query."""
    return [sum(a != b for a, b in zip(row, query, strict=True)) for row in codes.tolist()]


def lwnb_sums(codes, class_codes, n_classes, query, k):
    """S and T of LWNB as exact fractions, by sorting the training rows by distance."""
    distance = hamming(codes, list(query))
    farthest = sorted(distance)[:k][-1]
    weights = [1 - Fraction(d, farthest) if d < farthest else Fraction(0) for d in distance]
    if not any(weights):
        weights = [Fraction(int(d == farthest)) for d in distance]
    scale = sum(1 for w in weights if w) / sum(weights)
    return weighted_sums(codes, class_codes, n_classes, query, lambda j: scale * weights[j])


def iclnb_sums(codes, class_codes, n_classes, query, k):
    """S and T of ICLNB: the k nearest rows and their ties, each as often as it shares values, plus once."""
    distance = hamming(codes, list(query))
    farthest = sorted(distance)[:k][-1]
    m = codes.shape[1]
    clones = [1 + m - d if d <= farthest else 0 for d in distance]
    return weighted_sums(codes, class_codes, n_classes, query, lambda j: clones[j])


def known_distances(codes, query):
    """Number of attributes in which each row differs from the query, of those that both know."""
    return [
        sum(a != b for a, b in zip(row, query, strict=True) if MISSING not in (a, b))
        for row in np.asarray(codes).tolist()
    ]


def local_weights(method, distance, class_codes, n_classes, m, row_weights, size):
    """Weight of every training row around a query; ``size`` is kappa or k. A row's own weight is a factor."""
    d, w = np.asarray(distance), np.asarray(row_weights, float)
    if method == "LCWNB":
        V = np.zeros((n_classes, m + 1))
        np.add.at(V, (class_codes, d), w)
        gamma = np.array([solve_gamma(V[y], size) for y in range(n_classes)])
        local = gamma[class_codes] ** d
        return w * local * (w * local).sum() / (w * local**2).sum()
    within = [w[d <= at].sum() for at in range(m + 1)]
    farthest = next(at for at in range(m + 1) if within[at] >= min(size, w.sum()) - 1e-9)
    if method == "ICLNB":
        return w * np.where(d <= farthest, 1.0 + m - d, 0.0)
    local = np.where(d < farthest, 1 - d / max(farthest, 1), 0.0)
    if not local.any():
        local = (d == farthest).astype(float)
    return w * local * w[local > 0].sum() / (w * local).sum()


def naive_bayes_with_missing(codes, class_codes, sizes, n_classes, query, weights, alpha=1.0):
    """Log joint of a naive Bayes on weighted rows; an unknown value is in no count of its attribute."""
    codes, weights = np.asarray(codes), np.asarray(weights, float)
    scores = []
    for y in range(n_classes):
        own = weights * (class_codes == y)
        score = _log_share(alpha + own.sum(), alpha * n_classes + weights.sum())
        for i, value in enumerate(query):
            if value != MISSING:
                known = own[codes[:, i] != MISSING].sum()
                score += _log_share(alpha + own[codes[:, i] == value].sum(), alpha * int(sizes[i]) + known)
        scores.append(score)
    return np.array(scores)


def _log_share(above, below):
    return np.log(above / below) if above > 0 else -np.inf
