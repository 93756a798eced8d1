"""Factors of the local Bayes classifier from match counts, in one compiled pass."""

from typing import Any

import numpy as np

from localbayes.counts.protocol import Floats

__all__ = ["ExponentCounts"]


class ExponentCounts:
    """What :class:`MatchCounts` gives to the local Bayes classifier.

    Examples
    --------
    One class with a row that equals the query; with kappa one it weighs one.

    >>> from localbayes.counts import MatchIndex
    >>> index = MatchIndex(np.array([2, 4], np.uint32), n_classes=1)
    >>> index.add(np.array([[0, 1]], np.uint8), np.array([0]))
    >>> counts = index.count(np.array([[0, 1]], np.uint8))
    >>> np.exp(counts.cell_features([1.0], [2, 4], [1, 1], alpha=0.5))[0, 0, 0].round(9).tolist()
    [2.0, 0.75, 0.5]
    """

    _counts: Any

    def cell_features(self, kappas: Any, sizes: Any, units: Any, alpha: float) -> Floats:
        """Logs of the factors of the local Bayes classifier, for every kappa from one count of the matches.

        They are log(1 + S) and log((alpha + T / units) / (alpha sizes + S)), S and T as in :meth:`cell_sums`.
        A value that was never seen, or is not known, has the factor one.

        Parameters
        ----------
        kappas : array of shape (k,)
            Sums of the weights of each class.
        sizes, units : arrays of shape (m,)
            Number of values of every attribute; how much agreement is one row.
        alpha : float
            Added to the count of every value.

        Returns
        -------
        features : array of shape (k, n_queries, n_classes, 1 + m)
            Logs of the factors.
        """
        given = (np.ascontiguousarray(numbers, dtype=np.float64) for numbers in (kappas, sizes, units))
        features: Floats = self._counts.cell_features(*given, alpha)
        return features
