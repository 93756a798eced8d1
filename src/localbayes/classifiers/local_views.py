"""Looking inside LCWNB: the local models around queries, samples of them, and other kappas."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from localbayes.classifiers.kappa import check_grid
from localbayes.classifiers.lazy import LazyClassifier, NeighbourWeights
from localbayes.classifiers.scores import or_prior
from localbayes.classifiers.state import as_of_now
from localbayes.counts import Codes, Floats, cell_weights, marked

__all__ = ["LocalModel", "LocalViews", "averaged_weights"]

# Memory of the counts that are held at once.
_MOST_BYTES = 64 << 20


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


class LocalViews(LazyClassifier):
    """Methods that show the weights gamma^d around queries."""

    has_kappas: ClassVar[bool] = True
    kappa_: float
    kappas_: Floats
    kappa_weights_: Floats

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "weights" in cls.__dict__:
            raise TypeError(
                f"{cls.__name__}: weights of LCWNB are compiled in and would stay as they are; "
                "derive a weighting of your own from LazyClassifier"
            )

    def weights(self, distance_counts: npt.NDArray[Any]) -> Floats:
        """rho * gamma_y^d under ``kappa_``, see the paper's Sections 3.2 and 3.3."""
        return cell_weights(distance_counts, self.kappa_)[2]

    def neighbour_weights(self, distance_counts: npt.NDArray[Any]) -> NeighbourWeights:
        """gamma^d, gamma and rho, averaged over the kappas in use."""
        return averaged_weights(distance_counts, self.kappas_, self.kappa_weights_)

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

        >>> from localbayes import LCWNB
        >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
        >>> LCWNB(1).fit(X, y).local_model([["a", "b"]]).gamma.round(3).tolist()
        [[0.0, 0.618]]
        """
        codes = self.encode(X)
        order = self.labels_.columns
        parts = []
        step = max(1, min(self.most_queries(), _MOST_BYTES // self.index_.bytes_per_query()))
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
        expected number of rows of class y is S_y. A row of weight 2 counts as two rows. A fraction of a row
        is kept with that fraction of the probability.

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
        >>> from localbayes import LCWNB
        >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
        >>> LCWNB(1).fit(X, y).sample_local([["a", "c"]], random_state=0)[0].tolist()
        [0, 1]
        """
        codes = self.encode(X)
        random = check_random_state(random_state)
        gamma = self.in_chunks(
            lambda part: cell_weights(self.index_.count(part).distance_counts, self.kappa_)[0],
            codes,
            np.empty((len(codes), len(self.labels_))),
        )
        asked = marked(codes, self.sizes_, self.index_.may_miss)
        kept: list[list[npt.NDArray[np.int64]]] = [[] for _ in codes]
        for part, classes, numbers, weights in self.index_.training_rows():
            rows = marked(part, self.sizes_, self.index_.may_miss)
            for q, query in enumerate(asked):
                probability = gamma[q, classes] ** self.index_.measure.distances(query, rows)
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
        >>> from localbayes import LCWNB
        >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
        >>> both = LCWNB(1).fit(X, y).log_joint_many([["a", "b"]], [1, 2])
        >>> bool((both[1] == LCWNB(2).fit(X, y).predict_log_joint([["a", "b"]])).all())
        True
        """
        return self.labels_.arranged(self.moved(self.log_joint_by_kappa(self.encode(X), check_grid(kappas))))

    def log_joint_by_kappa(self, codes: Codes, grid: Floats) -> Floats:
        """Log joint by kappa, query and class in declared order, before priors and class weights."""
        # In memory kappas come first, as the kernel gives them, so that chunks are copied as they are.
        out = np.moveaxis(np.empty((len(grid), len(codes), len(self.labels_))), 0, 1)

        def scores(part: Codes) -> Floats:
            by_kappa = self.index_.count(part).cell_log_joint(grid, *self.laplace())
            return np.moveaxis(or_prior(by_kappa, self.class_count), 0, 1)

        joint: Floats = np.moveaxis(self.in_chunks(scores, codes, out, sets=len(grid)), 1, 0)
        return joint


def averaged_weights(distance_counts: npt.NDArray[Any], kappas: Floats, shares: Floats) -> NeighbourWeights:
    """gamma^d, gamma and rho, averaged over kappas with the given shares."""
    solved = [cell_weights(distance_counts, kappa) for kappa in kappas]
    plain = [(weights / rho[:, None, None], gamma, rho) for gamma, rho, weights in solved]
    return NeighbourWeights(
        *(
            sum(share * part for share, part in zip(shares, parts, strict=True))
            for parts in zip(*plain, strict=True)
        )
    )
