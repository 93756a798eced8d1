"""The local Bayes classifier for raw tables (LocalBayesClassifier)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.kappa import mix
from localbayes.classifiers.lazy import Weighting
from localbayes.classifiers.lcwnb import cell_weightings
from localbayes.classifiers.local_distance import agreement_units
from localbayes.classifiers.local_scores import ALPHA, LocalScores
from localbayes.classifiers.scores import log_total, mix_terms
from localbayes.classifiers.shared import with_shared_parameters
from localbayes.counts import Codes, Floats, MatchCounts
from localbayes.parameters import Discretize, Missing

__all__ = ["LocalBayesClassifier"]


class LocalBayesClassifier(LocalScores):
    """A local naive Bayes for tables of numbers, categories, dates and missing values.

    Around every query a naive Bayes is fitted to training rows that weigh gamma_y^d, as in :class:`LCWNB`.
    The distance d knows the order of bins and how much each column tells. Near bins agree in part. The score
    of class y is::

        b_y + w_0 log(1 + rho S_y)
            + sum_i w_i log[(1/2 + rho T_iy) / (q_i / 2 + rho S_y)]

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
        known = T[..., m:] if T.shape[-1] > m else S[..., None]
        q, units = self.sizes_.astype(np.float64), agreement_units(self.ordered_sizes_)
        features = np.empty((*S.shape, 1 + m))
        features[..., 0] = np.log1p(S)
        np.log((ALPHA + T[..., :m] / units) / (ALPHA * q + known), out=features[..., 1:])
        row, attribute = np.nonzero(codes >= self.sizes_)  # never seen, or not known
        features[row, :, 1 + attribute] = 0.0
        return features

    def log_joint_of_sums(self, codes: Codes, weighting: Weighting, matches: Floats) -> Floats:
        """Log probabilities under one kappa."""
        return self.exponents_[weighting.number].log_proba(self.features(codes, weighting.total, matches))

    def combine(self, log_joints: Sequence[Floats] | Floats, distance_counts: Any = None) -> Floats:
        """Average the probabilities, and those of the classes alone as if half a row more had said them."""
        log_share, shares = self.with_prior()
        return mix(np.stack([*log_joints, np.broadcast_to(log_share, log_joints[0].shape)]), shares)

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
            base, own = base - log_total(base + each[..., 1:].sum(axis=2)), self.by_column(each[..., 1:])
            # Averaging shrinks terms to zero, so zero must favour no class: what all classes share is base.
            level = own.mean(axis=1, keepdims=True)
            parts.append((base + level.sum(axis=2), own - level))
        log_share, shares = self.with_prior()
        base, own = parts[0]
        parts.append((np.broadcast_to(log_share, base.shape), np.zeros(own.shape)))
        return mix_terms(
            [(base + np.log(s)[:, None], own) for (base, own), s in zip(parts, shares, strict=True)]
        )
