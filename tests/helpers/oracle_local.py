"""The local Bayes classifier by loops over all rows: NumPy only."""

import numpy as np

ALPHA, PRIOR_ROWS = 0.5, 0.5


def gamma_of(V, kappa):
    """Base of the weights whose sum is kappa, by bisection."""
    if V[0] >= kappa and V.sum() > 0:
        return 0.0
    if V.sum() <= kappa:
        return 1.0
    low, high, powers = 0.0, 1.0, np.arange(len(V))
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (V * middle**powers).sum() < kappa else (low, middle)
    return (low + high) / 2


def sums(query, rows, y, r, tables, agreements, known, kappa):
    """Rho S and rho T of one query, from tables; attributes that are not known are left out."""
    m = len(query)
    distance = sum((tables[i][query[i], rows[:, i]] for i in range(m) if known[i]), np.zeros(len(rows), int))
    most = int(distance.max(initial=0)) + 1
    weights = np.zeros(len(rows))
    for k in range(r):
        V = np.bincount(distance[y == k], minlength=most).astype(float)
        weights[y == k] = gamma_of(V, kappa) ** distance[y == k].astype(float)
    rho = weights.sum() / (weights**2).sum() if weights.any() else 1.0
    S = np.array([weights[y == k].sum() for k in range(r)])
    T = np.zeros((r, m))
    for i in range(m):
        for k in range(r):
            if known[i]:
                T[k, i] = (weights * agreements[i][query[i], rows[:, i]])[y == k].sum()
    return rho * S, rho * T


def features(query, rows, y, r, tables, agreements, units, known, kappa):
    """Logs of the factors of every class: (r, 1 + m)."""
    S, T = sums(query, rows, y, r, tables, agreements, known, kappa)
    q = np.array([len(table) for table in tables])
    terms = np.log((ALPHA + T / units) / (ALPHA * q + S[:, None]))
    return np.column_stack([np.log1p(S), np.where(known, terms, 0.0)])


def averaged(probabilities, class_count):
    """Average of the kappas' probabilities and, as half a row, of the classes' shares."""
    n = class_count.sum()
    share = (ALPHA + class_count) / (ALPHA * len(class_count) + n)
    return (n * np.mean(probabilities, axis=0) + PRIOR_ROWS * share) / (n + PRIOR_ROWS)
