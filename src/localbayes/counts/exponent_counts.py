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

    def average_log_proba(
        self,
        kappas: Any,
        sizes: Any,
        units: Any,
        alpha: float,
        *,
        exponents: Any,
        biases: Any,
        shares: Any,
        prior: Any,
        first: int,
        contenders: bool = False,
    ) -> Floats:
        """Log of the average probabilities of the classes over kappas, and of a prior.

        Parameters
        ----------
        kappas, sizes, units, alpha
            As of :meth:`cell_features`.
        exponents, biases : arrays of shape (k, 1 + m) and (k, n_classes)
            A score is the bias plus the features times the exponents, which are not negative.
        shares : array of shape (k + 1,)
            Shares of the kappas and of the prior in the average.
        prior : array of shape (n_classes,)
            Probabilities of the classes alone.
        first : int
            How many attributes to look at first, to find classes that cannot win.
        contenders : bool
            Whether a class that cannot win may get minus infinity, without its matches being counted.

        Returns
        -------
        log_proba : array of shape (n_queries, n_classes)
            Logs of the averages.
        """
        arrays = (kappas, sizes, units, exponents, biases, shares, prior)
        kappas, sizes, units, exponents, biases, shares, prior = (
            np.ascontiguousarray(numbers, dtype=np.float64) for numbers in arrays
        )
        scores: Floats = self._counts.exponent_scores(
            *(kappas, sizes, units, alpha, exponents, biases),
            *(shares[:-1].copy(), prior, float(shares[-1]), first, contenders),
        )
        return scores
