"""Tables that tests of all classifiers share."""

import numpy as np
import pandas as pd


def mixed_table(n=90, seed=0):
    """Text, bool and numbers, with some dependence on the class."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "perhaps", "yes"], n, p=[0.5, 0.2, 0.3])
    lean = np.searchsorted(["no", "perhaps", "yes"], y)
    X = pd.DataFrame(
        {
            "colour": np.array(["blue", "green", "red", "white"])[(lean + rng.integers(0, 3, n)) % 4],
            "old": rng.random(n) < 0.3 + 0.2 * lean,
            "weight": rng.normal(lean, 1.0),
            "height": rng.integers(0, 30, n).astype(float),
        }
    )
    return X, y


def coded_table(seed, n=120, m=5, r=3):
    """Random codes with unequal counts, so that no two trees or parents score alike."""
    rng = np.random.default_rng(seed)
    sizes = np.array([2, 3, 4, 3, 5, 2, 6][:m])
    y = np.concatenate([np.arange(r), rng.choice(r, n - r, p=rng.dirichlet(np.full(r, 3)))])
    noise = (rng.beta(0.7, 1.1, (n, m)) * sizes).astype(int)
    codes = np.where(rng.random((n, m)) < 0.4, (y[:, None] + np.arange(m)) % sizes, noise)
    return codes, sizes, y, rng
