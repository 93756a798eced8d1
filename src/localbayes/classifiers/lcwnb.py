"""Lazy cell-weighted naive Bayes (LCWNB)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from localbayes.classifiers.base import Floats, first_best, or_prior
from localbayes.classifiers.lazy import LazyClassifier, check_number
from localbayes.classifiers.terms import defined_terms, sum_of_terms
from localbayes.encoding.coded import Codes
from localbayes.kernels import MatchCounts, cell_weights

__all__ = ["LCWNB", "LocalModel"]


@dataclass(frozen=True)
class LocalModel:
    """The weighted naive Bayes models fitted around queries; classes in the order of ``classes_``.

    Attributes
    ----------
    gamma : ndarray of shape (n, r)
        Base of the weights gamma^distance.
    class_weight_sum : ndarray of shape (n, r)
        S, the expected number of rows that the acceptance-rejection sample keeps.
    weight_scale : ndarray of shape (n,)
        rho, the factor that makes the total weight the effective sample size.
    effective_size : ndarray of shape (n,)
        C-hat, the effective sample size of the weighted rows.
    attribute_weight_sum : ndarray of shape (n, r, m)
        T, the part of S whose rows agree with the query on an attribute.
    """

    gamma: Floats
    class_weight_sum: Floats
    weight_scale: Floats
    effective_size: Floats
    attribute_weight_sum: Floats


class LCWNB(LazyClassifier):
    """Lazy cell-weighted naive Bayes.

    Around every query a naive Bayes is fitted to training rows that weigh gamma_y^d, where d is the
    Hamming distance and gamma_y is chosen so that the weights of class y sum to ``kappa``. If the
    attributes are independent given the class, they stay so under these weights, and the posterior
    at the query is unchanged; where they are not, the fit is local. The score of class y is the
    paper's ``Q(y) = (1 + rho S_y) prod_i (1 + rho T_iy) / (q_i + rho S_y)``.

    Parameters
    ----------
    kappa : float or "switch", default=5.0
        Expected number of rows of each class that count: small is local, a number above n is naive
        Bayes. ``"switch"`` is the paper's rule LCWNB*: 20 for fewer than 14 attributes, 10 for 14 or
        15, else 5.
    alpha : float, default=1.0
        Laplace's constant; 0 gives weighted relative frequencies.
    categorical_features : {"from_dtype", "all"} or array-like, default="from_dtype"
        Which columns are categories; others are cut into bins.
    n_bins : int, default=10
        Bins of a numeric column.
    discretize : {"width", "quantile", "mdl"}, default="width"
        Bins of equal width, of equal numbers of rows, or cut where the classes part (Fayyad and
        Irani's minimum description length; ``n_bins`` is then of no use). Learned in fit.
    missing : {"impute", "category", "ignore"}, default="impute"
        Mean or mode in place of a missing value; a value of its own; or left unknown, so that it
        neither matches nor mismatches (lazy classifiers and NB).
    class_weight : dict or "balanced", optional
        Factors by which the probabilities of the classes are multiplied; "balanced" makes them inverse
        to the numbers of training rows.
    priors : array-like of shape (r,), optional
        Class probabilities to use in place of those of the training rows, in the order of
        ``classes_``.
    n_jobs : int, optional
        Threads; the answer does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (r,)
        Class labels, sorted.
    kappa_ : float
        The kappa in use.
    n_features_in_ : int
        Number of columns.

    References
    ----------
    K.-H. Li and C. T. Li, "Locally Weighted Learning for Naive Bayes Classifier".

    Examples
    --------
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "round"]]
    >>> y = ["apple", "pepper", "pepper", "apple"]
    >>> LCWNB(kappa=1).fit(X, y).predict([["red", "round"], ["green", "long"]]).tolist()
    ['apple', 'pepper']
    """

    def __init__(
        self,
        kappa: float | str = 5.0,
        *,
        alpha: float = 1.0,
        categorical_features: Any = "from_dtype",
        n_bins: int = 10,
        discretize: str = "width",
        missing: str = "impute",
        class_weight: Any = None,
        priors: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kappa = kappa
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.n_bins = n_bins
        self.discretize = discretize
        self.missing = missing
        self.class_weight = class_weight
        self.priors = priors
        self.n_jobs = n_jobs

    def weights(self, distance_counts: npt.NDArray[Any]) -> Floats:
        """rho * gamma_y^d, see the paper's Sections 3.2 and 3.3."""
        return cell_weights(distance_counts, self.kappa_)[2]

    def local_model(self, X: Any) -> LocalModel:
        """Look inside: gamma, S, rho, the effective sample size and T for every row of X."""
        codes = self._queries(X)
        order = self.labels_.columns
        parts = []
        step = max(1, (64 << 20) // self._bytes_per_query())
        for begin in range(0, max(len(codes), 1), step):
            counts = self.index_.count(codes[begin : begin + step])
            gamma, rho, weights = cell_weights(counts.distance_counts, self.kappa_)
            S, T = counts.weighted_sums(weights / rho[:, None, None])
            parts.append((gamma[:, order], S[:, order], rho, rho * S.sum(axis=1), T[:, order]))
        return LocalModel(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def sample_local(self, X: Any, random_state: Any = None) -> list[npt.NDArray[np.int64]]:
        """Draw the paper's acceptance-rejection sample B around every row of X.

        A training row of class y at distance d is kept with probability gamma_y^d, so that the
        expected number of rows of class y is S_y.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Queries.
        random_state : int, RandomState or None
            Seed.

        Returns
        -------
        samples : list of n arrays
            Numbers of the training rows kept, in the order in which they were given to fit.
        """
        codes = self._queries(X)
        random = check_random_state(random_state)
        gamma = self._in_chunks(
            codes,
            lambda part: cell_weights(self.index_.count(part).distance_counts, self.kappa_)[0],
            np.float64,
            len(self.labels_),
        )
        wide = np.where(codes < self.sizes_, codes.astype(np.int64), -1)
        kept: list[list[npt.NDArray[np.int64]]] = [[] for _ in codes]
        for rows, classes, numbers, _ in self.index_.training_rows():
            for q, query in enumerate(wide):
                probability = gamma[q, classes] ** (rows != query).sum(axis=1)
                kept[q].append(numbers[random.random_sample(len(rows)) < probability].astype(np.int64))
        return [np.sort(np.concatenate(parts)) if parts else np.empty(0, np.int64) for parts in kept]

    def log_joint_many(self, X: Any, kappas: npt.ArrayLike) -> Floats:
        """Log joint for several kappas from one pass over the counts.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Queries.
        kappas : array-like of shape (k,)
            Values of kappa.

        Returns
        -------
        log_joint : ndarray of shape (k, n, r)
            Classes in the order of ``classes_``.
        """
        grid = check_grid(kappas)
        out = self._in_chunks(
            self._queries(X),
            lambda part: or_prior(self._score_many(self.index_.count(part), grid), self._class_count),
            np.float64,
            len(grid),
            len(self.labels_),
            sets=len(grid),
        )
        result: Floats = np.moveaxis(out, 1, 0)[:, :, self.labels_.columns]
        return result

    def leave_one_out(self, kappas: npt.ArrayLike) -> dict[str, Floats]:
        """Accuracy and log loss of every kappa, each training row classified without itself.

        Parameters
        ----------
        kappas : array-like of shape (k,)
            Values of kappa.

        Returns
        -------
        table : dict
            Arrays ``kappa``, ``accuracy`` and ``log_loss``.
        """
        check_is_fitted(self, "labels_")
        grid = check_grid(kappas)
        n = self.index_.n_rows
        if n < 2:
            raise ValueError("leave_one_out needs two training rows or more, got 1")
        correct, loss = np.zeros(len(grid)), np.zeros(len(grid))
        for rows, classes, _, _ in self.index_.training_rows():
            scored = self._in_chunks(
                np.column_stack([rows, classes.astype(rows.dtype)]),
                self._left_out(grid),
                np.float64,
                len(grid),
                2,
                sets=len(grid),
            )
            correct += scored[:, :, 0].sum(axis=0)
            loss += scored[:, :, 1].sum(axis=0)
        return {"kappa": grid, "accuracy": correct / n, "log_loss": loss / n}

    def _left_out(self, grid: Floats) -> Any:
        def score(rows_and_class: Codes) -> Floats:
            own = rows_and_class[:, -1].astype(np.int64)
            counts = self.index_.count(rows_and_class[:, :-1], own)
            others = self._class_count - np.eye(len(self.labels_), dtype=np.int64)[own]
            log_joint = or_prior(self._score_many(counts, grid), others[:, None, :])
            flat = log_joint.reshape(-1, log_joint.shape[2])
            truth = np.repeat(own, len(grid))
            best = flat.max(axis=1, keepdims=True)
            log_proba = flat - best - np.log(np.exp(flat - best).sum(axis=1, keepdims=True))
            loss = -log_proba[np.arange(len(flat)), truth]
            return np.stack([first_best(flat) == truth, loss], axis=1).reshape(len(own), len(grid), 2)

        return score

    def _score_many(self, counts: MatchCounts, grid: Floats) -> Floats:
        """Log joint by query, kappa and class, from one count of the matches."""
        totals = counts.distance_counts.astype(np.float64)
        weights = np.stack([cell_weights(totals, kappa)[2] for kappa in grid])
        return np.moveaxis(self._score(counts, weights), 0, 1)

    def _terms(self, codes: Codes) -> tuple[Floats, Floats]:
        if len(getattr(self, "kappas_", [])) < 2:
            return super()._terms(codes)
        counts = self.index_.count(codes)
        bases, terms = [], []
        for kappa, share in zip(self.kappas_, self.kappa_weights_, strict=True):
            weights = cell_weights(counts.distance_counts, kappa)[2]
            base, own = defined_terms(*self._score_terms(codes, counts, weights), self._class_count)
            with np.errstate(divide="ignore"):
                base = base + np.log(share) - logsumexp(base + own.sum(axis=2), axis=1, keepdims=True)
            bases.append(base)
            terms.append(own)
        return sum_of_terms(np.stack(bases, axis=2), np.stack(terms, axis=2))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.kappa, str):
            if self.kappa != "switch":
                raise ValueError(f"kappa must be a number > 0 or 'switch', got {self.kappa!r}")
        else:
            check_number("kappa", self.kappa, above=0)

    def _start(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> None:
        super()._start(sizes, n_classes)
        self.kappa_ = switching_rule(len(sizes)) if self.kappa == "switch" else float(self.kappa)


def switching_rule(n_attributes: int) -> float:
    """Kappa of the paper's LCWNB*; the paper's m counts the class, so it is one more than ours."""
    m = n_attributes + 1
    return 20.0 if m < 15 else 10.0 if m <= 16 else 5.0


def check_grid(kappas: npt.ArrayLike) -> Floats:
    """A grid of kappas as an array; empty or not positive is refused."""
    grid = np.atleast_1d(np.asarray(kappas, dtype=np.float64))
    if grid.ndim != 1 or not len(grid) or not (np.isfinite(grid) & (grid > 0)).all():
        raise ValueError(f"kappas must be one or more numbers > 0, got {kappas!r}")
    return grid
