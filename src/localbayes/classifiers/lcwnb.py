"""Lazy cell-weighted naive Bayes (LCWNB)."""

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.kappa import could_change, mix
from localbayes.classifiers.lazy import Weighting
from localbayes.classifiers.leave_one_out import LeaveOneOut
from localbayes.classifiers.local_views import LocalModel, LocalViews
from localbayes.classifiers.scores import defined_terms, log_total, mix_terms, or_prior
from localbayes.classifiers.shared import SharedParameters, with_shared_parameters
from localbayes.counts import Codes, Distance, Floats, MatchCounts, cell_weights

__all__ = ["LCWNB", "LocalModel", "cell_weightings"]

# A class that stays this far below the best under every kappa of a mixture is left out of a prediction.
_MARGIN = 5.0


class LCWNB(LeaveOneOut, LocalViews):
    """Lazy cell-weighted naive Bayes.

    Around every query a naive Bayes is fitted to training rows that weigh gamma_y^d, where d is the
    distance and gamma_y is chosen so that the weights of class y sum to ``kappa``. If the
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
    calibrate : bool or "auto", default="auto"
        Whether to raise probabilities to the power that makes the log loss of the left-out rows least,
        before priors and class weights move them. Without these it changes no prediction. "auto" does
        so for ``"loo"`` and ``"mixture"``.
    loo_rows : int, default=5000
        At most so many rows are left out, a seeded sample of them; fewer on tables above 200,000 rows.
    random_state : int, RandomState or None, default=0
        Seed of that sample; None draws another one each time.
    distance, categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`LazyClassifier` and :class:`BayesClassifier`.

    Attributes
    ----------
    kappa_ : float
        The kappa in use, or the one that weighs most.
    kappas_, kappa_weights_ : ndarray of shape (k,)
        The kappas in use and their weights.
    temperature_ : float
        The power of the probabilities; below 1 it makes them less certain.
    loo_ : dict or None
        Arrays ``kappa``, ``accuracy`` and ``log_loss`` of the rows left out, before priors and class
        weights.

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

    @with_shared_parameters
    def __init__(
        self,
        kappa: float | str = "mixture",
        *,
        alpha: float = 1.0,
        distance: str | Distance = "hamming",
        calibrate: bool | Literal["auto"] = "auto",
        loo_rows: int = 5000,
        random_state: Any = 0,
        **shared: Unpack[SharedParameters],
    ) -> None:
        super().__init__(alpha=alpha, distance=distance, **shared)
        self.kappa = kappa
        self.calibrate = calibrate
        self.loo_rows = loo_rows
        self.random_state = random_state

    def weightings(self, distance_counts: npt.NDArray[Any], kappas: Floats | None = None) -> list[Weighting]:
        """rho gamma_y^d for every kappa, where sum_d V_yd gamma_y^d = kappa (the paper's Section 3.2)."""
        return cell_weightings(distance_counts, self.kappas_ if kappas is None else kappas)

    def combine(self, log_joints: Sequence[Floats], distance_counts: npt.NDArray[Any]) -> Floats:
        """Mix the probabilities of all kappas, and calibrate them."""
        return self._mixed(log_joints)

    def _mixed(self, log_joints: Sequence[Floats] | Floats) -> Floats:
        scores = log_joints[0]
        if len(log_joints) > 1 or self.temperature_ != 1:
            scores = or_prior(np.asarray(log_joints), self.class_count)
            scores = mix(scores - log_total(scores), self.kappa_weights_) if len(scores) > 1 else scores[0]
        return scores if self.temperature_ == 1 else self.temperature_ * scores

    def combine_terms(
        self, parts: Sequence[tuple[Floats, Floats]], distance_counts: npt.NDArray[Any]
    ) -> tuple[Floats, Floats]:
        """The same for base and terms, whose sum over attributes :meth:`combine` mixes."""
        kept = []
        for (base, own), share in zip(parts, self.kappa_weights_, strict=True):
            if len(parts) > 1 or self.temperature_ != 1:
                base, own = defined_terms(base, own, self.class_count)
            if len(parts) > 1:
                base = base + np.log(share) - log_total(base + own.sum(axis=2))
            kept.append((base, own))
        base, own = mix_terms(kept)
        return self.temperature_ * base, self.temperature_ * own

    def scores(self, counts: MatchCounts, margin: float) -> Floats:
        """What :meth:`combine` gives, for all kappas in one compiled pass."""
        return self._mixed(counts.cell_log_joint(self.kappas_, *self.laplace(), margin))

    def contenders(self, codes: Codes) -> Floats:
        """Log joint in which the class that wins is the one that wins among all."""
        if len(self.kappas_) == 1:
            return super().contenders(codes)
        scores = self.scores(self.index_.count(codes), _MARGIN)
        unsure = could_change(scores / self.temperature_, _MARGIN)
        if unsure.any():
            scores[unsure] = self.log_joint(codes[unsure])
        return scores


def cell_weightings(V: npt.NDArray[Any], kappas: Floats) -> list[Weighting]:
    """Weights rho gamma_y^d and their sums rho S_y for every kappa."""
    found = []
    for number, kappa in enumerate(kappas):
        gamma, rho, weights = cell_weights(V, kappa)
        # No gamma reaches kappa where that many rows equal the query, or where a class has fewer rows.
        S = np.where(gamma < 1, np.where(gamma > 0, kappa, V[..., 0]), V.sum(axis=2))
        found.append(Weighting(weights, rho[:, None] * S, number))
    return found
