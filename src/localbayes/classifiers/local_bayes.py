"""The local Bayes classifier for raw tables (LocalBayesClassifier)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.kappa import mix
from localbayes.classifiers.lazy import NeighbourWeights, Weighting
from localbayes.classifiers.lcwnb import cell_weightings
from localbayes.classifiers.local_learning import LocalLearning
from localbayes.classifiers.local_views import averaged_weights
from localbayes.classifiers.scores import log_total, mix_terms
from localbayes.classifiers.shared import with_shared_parameters
from localbayes.counts import Codes, Floats, MatchCounts, Rows
from localbayes.parameters import Discretize, Missing

__all__ = ["LocalBayesClassifier"]

# Added to every count of a value.
_ALPHA = 0.5
# Rows that speak for the shares of the classes, whatever the query is.
_PRIOR_ROWS = 0.5


class LocalBayesClassifier(LocalLearning):
    """A local naive Bayes for tables of numbers, categories, dates and missing values.

    Around every query a naive Bayes is fitted to training rows that weigh gamma_y^d, as in :class:`LCWNB`.
    The distance d knows the order of bins and how much each column tells. Near bins agree in part. The score
    of class y is::

        b_y + w_0 log(1 + rho S_y) + sum_i w_i log[(1/2 + rho T_iy) / (q_i / 2 + rho S_y)]

    with exponents w >= 0 and biases b of least log loss on training rows that are left out. The prediction is
    the average over three kappas; half a row more speaks for the shares of the classes. A value that was
    never seen carries no evidence.

    Parameters
    ----------
    n_bins, discretize : int and str, default=20 and "merged"
        How numbers are cut: into bins of equal width, and as many of equal numbers of rows.
    missing : {"category", "impute", "ignore"}, default="category"
        A value of its own in place of a missing one; its mean or mode; or left unknown.
    random_state : int, default=0
        Seed of the samples of training rows that are left out.
    categorical_features, class_weight, priors, n_jobs
        As in :class:`BayesClassifier`.

    Attributes
    ----------
    kappas_ : ndarray of shape (3,)
        Expected numbers of rows of each class that count.
    exponents_ : list of Exponents
        For every kappa the exponents of the class's weight and of the attributes, and the biases.
    column_weights_ : ndarray of shape (m,)
        How much each column counts in the distance, from 0 to 1.
    loo_ : dict
        Arrays ``kappa`` and ``log_loss`` of the rows that were left out.

    Examples
    --------
    >>> X = [[1.0, "red"], [1.2, "red"], [5.1, "green"], [5.3, "red"]] * 10
    >>> y = ["apple", "apple", "pepper", "pepper"] * 10
    >>> LocalBayesClassifier().fit(X, y).predict([[1.1, "red"], [5.2, "blue"]]).tolist()
    ['apple', 'pepper']
    """

    @with_shared_parameters
    def __init__(
        self,
        *,
        n_bins: int = 20,
        discretize: Discretize = "merged",
        missing: Missing = "category",
        random_state: int = 0,
        **shared: Any,
    ) -> None:
        super().__init__(n_bins=n_bins, discretize=discretize, missing=missing, **shared)
        self.random_state = random_state

    def weightings(self, distance_counts: npt.NDArray[Any], kappas: Floats | None = None) -> list[Weighting]:
        """rho gamma_y^d for every kappa, where sum_d V_yd gamma_y^d = kappa."""
        return cell_weightings(distance_counts, self.kappas_ if kappas is None else kappas)

    def features(self, codes: Codes, S: Floats, T: Floats) -> Floats:
        """Logs of the factors, shape (n, r, 1 + m), of S (n, r) and T (n, r, m), both scaled by rho."""
        m = len(self.sizes_)
        known = T[..., m:] if self.index_.may_miss else S[..., None]
        q, units = self.sizes_.astype(np.float64), self.index_.measure.units
        features = np.empty((*S.shape, 1 + m))
        features[..., 0] = np.log1p(S)
        np.log((_ALPHA + T[..., :m] / units) / (_ALPHA * q + known), out=features[..., 1:])
        row, attribute = np.nonzero(codes >= self.sizes_)  # never seen, or not known
        features[row, :, 1 + attribute] = 0.0
        return features

    def log_joint_of_sums(self, codes: Codes, weighting: Weighting, matches: Floats) -> Floats:
        """Log probabilities under one kappa."""
        return self.exponents_[weighting.number].log_proba(self.features(codes, weighting.total, matches))

    def combine(self, log_joints: Sequence[Floats] | Floats, distance_counts: Any = None) -> Floats:
        """Average the probabilities, and those of the classes alone as if half a row more had said them."""
        log_share, shares = self._with_prior()
        return mix(np.stack([*log_joints, np.broadcast_to(log_share, log_joints[0].shape)]), shares)

    def _with_prior(self) -> tuple[Floats, Floats]:
        """Log shares of the classes, smoothed (n, r), and the shares of all that is averaged (k + 1, n).

        Counts are the same for all queries (n = 1), but for rows that are left out.
        """
        count = np.atleast_2d(self.class_count)
        n = count.sum(axis=1)
        log_share: Floats = np.log((_ALPHA + count) / (_ALPHA * len(self.labels_) + n[:, None]))
        shares = np.vstack([np.outer(self.kappa_weights_, n), np.full(len(n), _PRIOR_ROWS)])
        return log_share, shares / (n + _PRIOR_ROWS)

    def log_joint(self, codes: Codes) -> Floats:
        """Log of the average probabilities, in one compiled pass over the rows."""
        codes = self.known_codes(codes)
        return self._joint(codes, self.index_.count(codes))

    def _joint(self, codes: Codes, counts: MatchCounts) -> Floats:
        _, _, S, T = counts.cell_sums(self.kappas_)
        parts = [
            exponents.log_proba(self.features(codes, *sums))
            for exponents, *sums in zip(self.exponents_, S, T, strict=True)
        ]
        return self.combine(parts)

    def contenders(self, codes: Codes) -> Floats:
        """The log joint of all classes."""
        return self.log_joint(codes)

    def terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split the log joint; what terms made of columns add belongs to the columns."""
        codes = self.known_codes(codes)
        return self._split(codes, self.index_.count(codes))

    def _split(self, codes: Codes, counts: MatchCounts) -> tuple[Floats, Floats]:
        _, _, S, T = counts.cell_sums(self.kappas_)
        parts = []
        for exponents, *sums in zip(self.exponents_, S, T, strict=True):
            each = exponents.w * self.features(codes, *sums)
            base = each[..., 0] + exponents.b
            parts.append((base - log_total(base + each[..., 1:].sum(axis=2)), self.by_column(each[..., 1:])))
        log_share, shares = self._with_prior()
        base, own = parts[0]
        parts.append((np.broadcast_to(log_share, base.shape), np.zeros(own.shape)))
        return mix_terms(
            [(base + np.log(s)[:, None], own) for (base, own), s in zip(parts, shares, strict=True)]
        )

    def others_log_joint(self, rows: Rows) -> Floats:
        """Log joint of training rows without themselves."""
        others = self.as_others_know(rows)
        return self._joint(others.codes, self._count_others(others))

    def others_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        """The same, split."""
        return super().others_terms(self.as_others_know(rows))

    def neighbour_weights(self, distance_counts: npt.NDArray[Any]) -> NeighbourWeights:
        """gamma^d, gamma and rho, averaged over the kappas in use."""
        return averaged_weights(distance_counts, self.kappas_, self.kappa_weights_)
