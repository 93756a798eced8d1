"""How the local Bayes classifier answers from rows in memory, with and without a row of its own."""

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.lazy import NeighbourWeights
from localbayes.classifiers.local_learning import ALPHA, LocalLearning
from localbayes.classifiers.local_views import averaged_weights
from localbayes.counts import Codes, Floats, Rows

__all__ = ["ALPHA", "LocalScores"]

# Rows that speak for the shares of the classes, whatever the query is.
_PRIOR_ROWS = 0.5


class LocalScores(LocalLearning):
    """Scores in one compiled pass, equal to the formula of :class:`LocalBayesClassifier` in NumPy."""

    @abstractmethod
    def features(self, codes: Codes, S: Floats, T: Floats) -> Floats:
        """Logs of the factors of every class, shape (n, r, 1 + m)."""

    def with_prior(self) -> tuple[Floats, Floats]:
        """Log shares of the classes, smoothed (n, r), and the shares of all that is averaged (k + 1, n).

        Counts are the same for all queries (n = 1), but for rows that are left out.
        """
        count = np.atleast_2d(self.class_count)
        n = count.sum(axis=1)
        log_share: Floats = np.log((ALPHA + count) / (ALPHA * len(self.labels_) + n[:, None]))
        shares = np.vstack([np.outer(self.kappa_weights_, n), np.full(len(n), _PRIOR_ROWS)])
        return log_share, shares / (n + _PRIOR_ROWS)

    def log_joint(self, codes: Codes) -> Floats:
        """Log of the average probabilities, in one compiled pass over the rows."""
        return self._averages(codes, contenders=False)

    def contenders(self, codes: Codes) -> Floats:
        """The same of the classes that can win."""
        return self._averages(codes, contenders=True)

    def _averages(self, codes: Codes, contenders: bool) -> Floats:
        log_share, shares = self.with_prior()
        return self.index_.count(self.known_codes(codes)).average_log_proba(
            *(self.kappas_, self.sizes_, self.index_.measure.units, ALPHA),
            exponents=np.array([exponents.w for exponents in self.exponents_]),
            biases=np.array([exponents.b for exponents in self.exponents_]),
            shares=shares[:, 0],
            prior=np.exp(log_share[0]),
            first=self._n_columns,
            contenders=contenders,
        )

    def bytes_per_prediction(self) -> int:
        """Memory for the scores of one query; the compiled pass takes few queries at a time."""
        return 8 * len(self.labels_) * (1 + len(self.kappas_))

    def others_log_joint(self, rows: Rows) -> Floats:
        """Log joint of training rows without themselves."""
        others = self.as_others_know(rows)
        _, _, S, T = self._count_others(others).cell_sums(self.kappas_)
        each = zip(self.exponents_, S, T, strict=True)
        parts = [exponents.log_proba(self.features(others.codes, *sums)) for exponents, *sums in each]
        return self.combine(parts, None)

    def others_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        """The same, split."""
        return super().others_terms(self.as_others_know(rows))

    def neighbour_weights(self, distance_counts: npt.NDArray[Any]) -> NeighbourWeights:
        """gamma^d, gamma and rho, averaged over the kappas in use."""
        return averaged_weights(distance_counts, self.kappas_, self.kappa_weights_)
