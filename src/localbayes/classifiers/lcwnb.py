"""Lazy cell-weighted naive Bayes (LCWNB)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from localbayes.classifiers.base import TIE, Floats, as_of_now, log_total, or_prior
from localbayes.classifiers.kappa import KappaChoice, LeftOut, choose, kappa_grid, mix, rows_to_leave_out
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.classifiers.terms import defined_terms, sum_of_terms
from localbayes.classifiers.weights import shifted
from localbayes.encoding.coded import Codes, missing_code
from localbayes.kernels import MatchCounts, MatchIndex, cell_weights
from localbayes.parameters import Discretize, Missing, check_count, check_number

__all__ = ["LCWNB", "LocalModel"]

# A class that stays this far below the best under every kappa of a mixture is left out of a prediction.
_MARGIN = 5.0
# Sums of squares of smaller weights would vanish.
_SMALLEST_KAPPA = 1e-100


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
    kappa : float, "mixture", "loo" or "switch", default="mixture"
        Expected number of rows of each class that count: small is local, a number above n is naive
        Bayes. The paper's method is ``kappa=5``. ``"loo"`` takes the kappa of a grid that makes the
        fewest errors when training rows are classified without themselves; ``"mixture"`` averages the
        probabilities of all of them, weighted by ``exp(-errors / 2)`` (but for those below a thousandth of
        the best). ``"switch"`` is the paper's rule LCWNB*: 20 for fewer than 14 attributes, 10 for 14 or
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
    calibrate : bool or "auto", default="auto"
        Whether to raise probabilities to the power that makes the log loss of the left-out rows least,
        before priors and class weights move them. Without these it changes no prediction. "auto" does
        so for ``"loo"`` and ``"mixture"``.
    loo_rows : int, default=5000
        At most so many rows are left out, a seeded sample of them; fewer on tables above 200,000 rows.
    random_state : int, RandomState or None, default=0
        Seed of that sample; None draws another one each time.
    n_jobs : int, optional
        Threads; the answer does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (r,)
        Class labels, sorted.
    kappa_ : float
        The kappa in use, or the one that weighs most.
    kappas_, kappa_weights_ : ndarray of shape (k,)
        The kappas in use and their weights.
    temperature_ : float
        The power of the probabilities; below 1 it makes them less certain.
    loo_ : dict or None
        Arrays ``kappa``, ``accuracy`` and ``log_loss`` of the rows left out, before priors and class
        weights.
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

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "weights" in cls.__dict__:
            raise TypeError(
                f"{cls.__name__}: weights of LCWNB are compiled in and would stay as they are; "
                "derive a weighting of your own from LazyClassifier"
            )

    def __init__(
        self,
        kappa: float | str = "mixture",
        *,
        alpha: float = 1.0,
        calibrate: bool | Literal["auto"] = "auto",
        loo_rows: int = 5000,
        categorical_features: Any = "from_dtype",
        n_bins: int = 10,
        discretize: Discretize = "width",
        missing: Missing = "impute",
        class_weight: Any = None,
        priors: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.kappa = kappa
        self.alpha = alpha
        self.calibrate = calibrate
        self.loo_rows = loo_rows
        self.random_state = random_state
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

    @as_of_now
    def local_model(self, X: Any) -> LocalModel:
        """Look inside: gamma, S, rho, the effective sample size and T for every row of X.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Queries.

        Returns
        -------
        local : LocalModel
            What the prediction of every row is made of.

        Examples
        --------
        The class "yes" has rows at distances 1 and 2; gamma + gamma^2 = 1 at 0.618.

        >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
        >>> LCWNB(1).fit(X, y).local_model([["a", "b"]]).gamma.round(3).tolist()
        [[0.0, 0.618]]
        """
        codes = self._queries(X)
        order = self.labels_.columns
        parts = []
        step = max(1, (64 << 20) // self.index_.bytes_per_query())
        for begin in range(0, max(len(codes), 1), step):
            counts = self.index_.count(codes[begin : begin + step])
            gamma, rho, weights = cell_weights(counts.distance_counts, self.kappa_)
            S, T = counts.weighted_sums(weights / rho[:, None, None])
            T = T[:, order, : len(self.sizes_)]
            parts.append((gamma[:, order], S[:, order], rho, rho * S.sum(axis=1), T))
        return LocalModel(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    @as_of_now
    def sample_local(self, X: Any, random_state: Any = None) -> list[npt.NDArray[np.int64]]:
        """Draw the paper's acceptance-rejection sample B around every row of X.

        A training row of class y at distance d is kept with probability gamma_y^d, so that the
        expected number of rows of class y is S_y. A row of weight 2 is two rows; of a fraction, that share of
        the probability is left.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Queries.
        random_state : int, RandomState or None
            Seed.

        Returns
        -------
        samples : list of n arrays
            Numbers of the training rows kept, in the order in which they were given to fit; rows of
            weight zero are not counted.

        Examples
        --------
        >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
        >>> LCWNB(1).fit(X, y).sample_local([["a", "c"]], random_state=0)[0].tolist()
        [0, 1]
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
        # Where values may be missing, distances are taken over those known on both sides.
        known = np.ones(codes.shape, bool)
        if self.index_.may_miss:
            known = codes != missing_code(codes.dtype)
        kept: list[list[npt.NDArray[np.int64]]] = [[] for _ in codes]
        for rows, classes, numbers, weights in self.index_.training_rows():
            compared = rows != missing_code(rows.dtype)
            for q, query in enumerate(wide):
                differ = (rows != query) & compared & known[q]
                probability = gamma[q, classes] ** differ.sum(axis=1)
                if weights is None:
                    times = random.random_sample(len(rows)) < probability
                else:
                    whole = np.floor(weights).astype(np.int64)
                    times = random.binomial(whole, probability)
                    times += random.random_sample(len(rows)) < (weights - whole) * probability
                kept[q].append(np.repeat(numbers, times).astype(np.int64))
        return [np.sort(np.concatenate(parts)) if parts else np.empty(0, np.int64) for parts in kept]

    @as_of_now
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

        Examples
        --------
        >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
        >>> both = LCWNB(1).fit(X, y).log_joint_many([["a", "b"]], [1, 2])
        >>> bool((both[1] == LCWNB(2).fit(X, y).predict_log_joint([["a", "b"]])).all())
        True
        """
        return self.labels_.arranged(self._shifted(self._joint_by_kappa(X, check_grid(kappas))))

    def _joint_by_kappa(self, X: Any, grid: Floats) -> Floats:
        """Log joint by kappa, query and class in declared order, before priors and class weights."""
        codes = self._queries(X)
        # The kernel gives kappas first, and so do we: chunks are copied as they are.
        out = np.moveaxis(np.empty((len(grid), len(codes), len(self.labels_))), 0, 1)
        out = self._in_chunks(
            codes,
            lambda part: or_prior(self._score_many(self.index_.count(part), grid), self._class_count),
            np.float64,
            sets=len(grid),
            out=out,
        )
        joint: Floats = np.moveaxis(out, 1, 0)
        return joint

    @as_of_now
    def leave_one_out(self, kappas: npt.ArrayLike) -> dict[str, Floats]:
        """Accuracy and log loss of every kappa, each training row classified without itself.

        Given priors and class weights count, which in ``loo_`` they do not.

        Parameters
        ----------
        kappas : array-like of shape (k,)
            Values of kappa.

        Returns
        -------
        table : dict
            Arrays ``kappa``, ``accuracy`` and ``log_loss``.

        Examples
        --------
        Of the three rows only the last is recognised by the two others:

        >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
        >>> LCWNB(1).fit(X, y).leave_one_out([1, 2])["accuracy"].round(3).tolist()
        [0.333, 0.333]
        """
        check_is_fitted(self, "labels_")
        grid = check_grid(kappas)
        if self.index_.n_rows < 2:
            raise ValueError("leave_one_out needs two training rows or more, got 1")
        correct, losses, total = np.zeros(len(grid)), np.zeros(len(grid)), 0.0
        for left_out in map(self._moved, self._left_out(grid)):
            correct += left_out.correct()
            losses += left_out.losses()
            total += left_out.weights.sum()
        return {"kappa": grid, "accuracy": correct / total, "log_loss": losses / total}

    def plot_loo(self, ax: Any = None) -> Any:
        """Draw accuracy and log loss of the left-out rows against kappa; see ``loo_``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a figure is made if none is given.

        Returns
        -------
        ax : matplotlib Axes
            The drawing.
        """
        from localbayes.classifiers.kappa_plot import plot_loo

        check_is_fitted(self, "labels_")
        if self.loo_ is None:
            raise ValueError("there is no leave-one-out table; fit with kappa='loo' or kappa='mixture'")
        return plot_loo(self.loo_, self.kappas_, self.kappa_weights_, ax)

    def _left_out(self, grid: Floats, chosen: npt.NDArray[np.int64] | None = None) -> Iterator[LeftOut]:
        """Predictions for training rows without themselves, in parts, before priors and class weights."""
        r = len(self.labels_)
        step = max(1, (32 << 20) // (8 * r * len(grid)))
        for codes, classes, _, weights in self.index_.training_rows(chosen, step):
            rows = self._as_queries(codes)
            total = np.ones(len(rows)) if weights is None else weights
            # A row of weight 2 is two rows, of which one is left out at a time.
            own_weight = None if weights is None else np.minimum(weights, 1.0)
            out = np.ones(len(rows)) if own_weight is None else own_weight
            others = self._class_count - np.eye(r)[classes] * out[:, None]
            score = partial(
                self._score_left_out, grid=grid, rows=rows, classes=classes, weight=own_weight, others=others
            )
            log_joint = self._in_chunks(np.arange(len(rows)), score, np.float64, len(grid), r, sets=len(grid))
            log_joint -= log_total(log_joint)
            yield LeftOut(np.moveaxis(log_joint, 1, 0), classes, total)

    def _score_left_out(
        self,
        at: npt.NDArray[np.int64],
        grid: Floats,
        rows: Codes,
        classes: npt.NDArray[np.int64],
        weight: Floats | None,
        others: Floats,
    ) -> Floats:
        counts = self.index_.count(rows[at], classes[at], None if weight is None else weight[at])
        return or_prior(self._score_many(counts, grid), others[at, None, :])

    def _moved(self, left_out: LeftOut) -> LeftOut:
        """The same predictions under the given priors and class weights, which see the other rows only."""
        if self._log_shift is None:
            return left_out
        own = np.minimum(left_out.weights, 1.0)[:, None] * np.eye(len(self.labels_))[left_out.truth]
        others = self._class_count - own
        shift = self._shift(self.labels_, others)
        if shift is None:  # parameters were changed after fit
            return left_out
        log_joint = shifted(left_out.log_proba, shift, others)
        return replace(left_out, log_proba=log_joint - log_total(log_joint))

    def _score_many(self, counts: MatchCounts, grid: Floats) -> Floats:
        """Log joint by query, kappa and class, from one count of the matches."""
        return np.moveaxis(counts.cell_log_joint(grid, *self._laplace()), 0, 1)

    def _contenders(self, codes: Codes) -> Floats:
        """Log joint in which the class that wins is the one that wins among all.

        A mixture normalises under every kappa, for which all classes count. But a class that is left out
        stays a margin below the best under each kappa, so it takes little from the others and has little
        itself. Where that little could change the winner, all classes are scored after all.
        """
        if len(self.kappas_) == 1:
            return super()._contenders(codes)
        if not isinstance(self.index_, MatchIndex):  # counts that came from a cluster
            return self._log_joint(codes)
        scores = self._scores(codes, _MARGIN)
        n_left_out = np.isneginf(scores).sum(axis=1)
        if not n_left_out.any():
            return scores
        second, best = np.partition(scores, -2, axis=1)[:, -2:].T / self.temperature_
        at_least = best - np.log1p(n_left_out * np.exp(-_MARGIN)) - TIE
        unsure = (n_left_out > 0) & (at_least <= np.maximum(second, -_MARGIN) + TIE)
        if unsure.any():
            scores[unsure] = self._log_joint(codes[unsure])
        return scores

    def _scores(self, codes: Codes, margin: float) -> Floats:
        scores: Floats = self.index_.count(codes).cell_log_joint(self.kappas_, *self._laplace(), margin)
        if len(self.kappas_) == 1:
            # Calibration raises the prior to its power too, where that is all there is.
            scores = scores[0] if self.temperature_ == 1 else or_prior(scores[0], self._class_count)
        else:
            scores = or_prior(scores, self._class_count)
            scores = mix(scores - log_total(scores), self.kappa_weights_)
        return scores if self.temperature_ == 1 else self.temperature_ * scores

    def _terms(self, codes: Codes) -> tuple[Floats, Floats]:
        counts = self.index_.count(codes)
        bases, terms = [], []
        for kappa, share in zip(self.kappas_, self.kappa_weights_, strict=True):
            weights = cell_weights(counts.distance_counts, kappa)[2]
            base, own = self._score_terms(codes, counts, weights)
            if len(self.kappas_) > 1 or self.temperature_ != 1:
                base, own = defined_terms(base, own, self._class_count)
            if len(self.kappas_) > 1:
                with np.errstate(divide="ignore"):
                    base = base + np.log(share) - log_total(base + own.sum(axis=2))
            bases.append(base)
            terms.append(own)
        base, own = sum_of_terms(np.stack(bases, axis=2), np.stack(terms, axis=2))
        return self.temperature_ * base, self.temperature_ * own

    def _bytes_per_query(self) -> int:
        # Counts and weights stay inside the kernel: scores, and the copies that come of them.
        return 8 * (len(self.sizes_) + 3 * len(self.labels_))

    def _n_sets(self) -> int:
        return len(self.kappas_)

    def _learn(self, codes: Codes, class_codes: npt.NDArray[np.int64], weights: Floats | None = None) -> None:
        super()._learn(codes, class_codes, weights)
        choice, self.loo_ = self._choose_kappa()
        self.kappas_, self.kappa_weights_, self.temperature_ = (
            choice.kappas,
            choice.weights,
            choice.temperature,
        )
        self.kappa_ = float(self.kappas_[self.kappa_weights_.argmax()])

    def _choose_kappa(self) -> tuple[KappaChoice, dict[str, Floats] | None]:
        n = self._class_count.sum()
        rule = self.kappa if self.kappa in ("loo", "mixture") else "loo"
        calibrate = rule == self.kappa if self.calibrate == "auto" else bool(self.calibrate)
        if self.kappa == "switch":
            grid = np.array([switching_rule(len(self.sizes_))])
        elif isinstance(self.kappa, str):
            grid = kappa_grid(n)
        else:
            grid = np.array([float(self.kappa)])
        classes_seen = np.count_nonzero(self._class_count)
        if n < 2 or classes_seen < 2 or (len(grid) == 1 and not calibrate):
            # Nothing to choose, or nothing to choose by: the paper's kappa.
            only = grid if len(grid) == 1 else np.array([5.0])
            return KappaChoice(only, np.ones(1)), None
        parts = list(
            self._left_out(grid, rows_to_leave_out(self.index_.n_rows, self.loo_rows, self.random_state))
        )
        left_out = LeftOut(
            np.concatenate([part.log_proba for part in parts], axis=1),
            np.concatenate([part.truth for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )
        total = left_out.weights.sum()
        table = {
            "kappa": grid,
            "accuracy": left_out.correct() / total,
            "log_loss": left_out.losses() / total,
        }
        return choose(rule, grid, left_out, calibrate), table

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.kappa, str):
            if self.kappa not in ("mixture", "loo", "switch"):
                raise ValueError(
                    f"kappa must be a number > 0, 'mixture', 'loo' or 'switch', got {self.kappa!r}"
                )
        else:
            check_number("kappa", self.kappa, above=0)
            check_grid(self.kappa)
        check_count("loo_rows", self.loo_rows)
        if self.random_state is not None and not isinstance(self.random_state, np.random.RandomState):
            check_count("random_state", self.random_state, at_least=0)
        if self.calibrate not in (True, False, "auto"):
            raise ValueError(f"calibrate must be True, False or 'auto', got {self.calibrate!r}")


def switching_rule(n_attributes: int) -> float:
    """Kappa of the paper's LCWNB*; the paper's m counts the class, so it is one more than ours."""
    m = n_attributes + 1
    return 20.0 if m < 15 else 10.0 if m <= 16 else 5.0


def check_grid(kappas: npt.ArrayLike) -> Floats:
    """A grid of kappas as an array; what is empty, not positive or too small to be squared is refused."""
    try:
        grid = np.atleast_1d(np.asarray(kappas, dtype=np.float64))
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or not len(grid) or not (np.isfinite(grid) & (grid > 0)).all():
        raise ValueError(f"kappas must be one or more numbers > 0, got {kappas!r}")
    if grid.min() < _SMALLEST_KAPPA:
        raise ValueError(f"kappa must be at least {_SMALLEST_KAPPA:g}, got {grid.min()}")
    return grid
