"""What the local Bayes classifier learns in fit: column weights, kappas and exponents."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Unpack

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.base import BayesClassifier
from localbayes.classifiers.exponents import Exponents, fit_exponents
from localbayes.classifiers.kappa import LeftOutRequest, kappa_grid
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.classifiers.local_distance import LocalDistance, column_weights
from localbayes.classifiers.shared import SharedParameters
from localbayes.counts import Codes, Distance, Floats, MatchIndex, Rows
from localbayes.encoding.coded import unseen_code
from localbayes.encoding.rich_encoder import RichEncoder
from localbayes.fields import Fields
from localbayes.parameters import check_count

__all__ = ["LocalLearning"]

# Rows that are left out to choose kappas, and to learn exponents for those chosen.
_ROWS_KAPPA, _ROWS_EXPONENTS = 1000, 4000
# Kappas whose predictions are averaged.
_N_KAPPAS = 3
_RIDGE = 2.5


class LocalLearning(LazyClassifier):
    """Learns column weights, kappas and exponents from training rows that are left out."""

    has_kappas: ClassVar[bool] = False
    random_state: int
    encoder_: Any

    def __init__(self, **shared: Unpack[SharedParameters]) -> None:
        # The constant and the distance are those of the formula, not parameters as of other lazy classifiers.
        BayesClassifier.__init__(self, **shared)

    def check_parameters(self) -> None:
        """Refuse a seed that is none."""
        check_count("random_state", self.random_state, at_least=0)

    def new_encoder(self) -> RichEncoder:
        """Encoder for raw tables."""
        return RichEncoder(self.categorical_features, self.n_bins, self.missing, self.discretize)

    def class_pseudo_count(self, n_classes: int) -> float:
        """Rows that are added to those of every class before their shares are taken."""
        return 1.0

    def value_distance(self) -> Distance:
        """Distance of ordered bins; columns count as much as they tell, as far as that was learned."""
        weights = tuple(getattr(self, "column_weights_", ()))
        return LocalDistance(tuple(self.ordered_sizes_.tolist()), self._n_columns, weights)

    @property
    def _n_columns(self) -> int:
        return len(self.sizes_) if self.encoder_ is None else len(self.encoder_.columns)

    @property
    def n_weightings(self) -> int:
        """Number of kappas whose predictions are averaged."""
        return len(self.kappas_)

    @property
    def base_meaning(self) -> str:
        """What the base of :meth:`terms` stands for, in words."""
        return "weight of the class nearby and averaging"

    def bytes_per_query(self) -> int:
        """Scratch memory for one query and kappa."""
        return 8 * len(self.labels_) * (4 * (len(self.sizes_) + 1) + self.index_.n_distances)

    def left_out_request(self, n_rows: int) -> LeftOutRequest | None:
        """Refuse rows that are not in memory."""
        raise ValueError(
            "LocalBayesClassifier learns from rows in memory, not on a cluster; fit it on a sample, or use "
            "LCWNB there"
        )

    # --- learning -------------------------------------------------------------------------------

    def adopt(self, statistic: Any) -> None:
        """Take an index as that of the training rows; learn column weights, kappas and exponents by it."""
        self._take(statistic)
        n, n_classes = statistic.n_rows, np.count_nonzero(self.class_count)
        order = np.random.default_rng(self.random_state).permutation(n)
        self.column_weights_ = np.ones(self._n_columns)
        self.loo_ = {"kappa": np.empty(0), "log_loss": np.empty(0)}
        if n < 2 or n_classes < 2:
            self._set_choice(np.array([float(max(n, 1))]), [self._plain()])
            return
        self._learn_distance(np.sort(order[:_ROWS_KAPPA]))
        grid = kappa_grid(self.class_count.sum())
        few, truth, weights = self._left_out(np.sort(order[:_ROWS_KAPPA]), grid)
        fits = [self._fit(features, truth, weights) for features in few]
        best = np.sort(np.argsort([fit.loss for fit in fits], kind="stable")[:_N_KAPPAS])
        losses = [
            -fit.log_proba(f)[np.arange(len(truth)), truth] @ weights
            for fit, f in zip(fits, few, strict=True)
        ]
        self.loo_ = {"kappa": grid, "log_loss": np.array(losses) / weights.sum()}
        chosen = [fits[k] for k in best]
        if n > _ROWS_KAPPA:
            del few
            many, truth, weights = self._left_out(np.sort(order[:_ROWS_EXPONENTS]), grid[best])
            chosen = [self._fit(features, truth, weights) for features in many]
        self._set_choice(grid[best], chosen)

    def _take(self, index: MatchIndex) -> None:
        self.index_ = index
        self._totals = index.value_totals()

    def _learn_distance(self, sample: npt.NDArray[np.int64]) -> None:
        codes, classes, weights = self._rows(sample)
        plain = LocalDistance(tuple(self.ordered_sizes_.tolist()), self._n_columns)
        queries = self.known_codes(codes, own=1)
        learned = column_weights(plain, self.sizes_, queries, classes, weights, self.index_.may_miss)
        if learned.weights:
            self.column_weights_ = np.array(learned.weights)
        self.index_ = self.index_.with_distance(learned)

    def _rows(self, numbers: npt.NDArray[np.int64]) -> tuple[Codes, npt.NDArray[np.int64], Floats]:
        """Codes, classes and weights of training rows, by number."""
        parts = [
            (self.index_.as_queries(codes), classes, at, np.ones(len(at)) if weights is None else weights)
            for codes, classes, at, weights in self.index_.training_rows(numbers)
        ]
        codes, classes, at, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        order = np.argsort(at, kind="stable")
        return codes[order], classes[order], weights[order]

    def _left_out(
        self, numbers: npt.NDArray[np.int64], grid: Floats
    ) -> tuple[list[Floats], npt.NDArray[np.int64], Floats]:
        """Features of training rows without themselves by kappa, their classes and weights."""
        codes, classes, weights = self._rows(numbers)
        queries = self.known_codes(codes, own=1)
        r, p = len(self.labels_), 1 + len(self.sizes_)
        features = np.empty((len(grid), len(numbers), r, p))
        weighted = bool((weights != 1).any())

        def fill(at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            own = np.minimum(weights[at], 1.0) if weighted else None
            _, _, S, T = self.index_.count(queries[at], classes[at], own).cell_sums(grid)
            for k in range(len(grid)):
                features[k, at] = self.features(queries[at], S[k], T[k])
            return at

        self.kappas_ = grid
        self.in_chunks(fill, np.arange(len(numbers)), np.empty(len(numbers), np.int64), sets=len(grid))
        return list(features), classes, weights

    def as_others_know(self, rows: Rows) -> Rows:
        """Training rows in which a nominal value that no other row has counts as never seen."""
        own = (rows.each_weight <= 1).astype(np.int64)
        return replace(rows, codes=self.known_codes(rows.codes, own))

    def known_codes(self, codes: Codes, own: int | npt.NDArray[np.int64] = 0) -> Codes:
        """Codes of queries in which a nominal value that no other row has counts as never seen.

        Of the rows that have a value ``own`` are the query itself.
        """
        unseen, changed = unseen_code(codes.dtype), codes
        for i, total in enumerate(self._totals):
            if self.ordered_sizes_[i] or not (total <= np.max(own)).any():
                continue
            others = np.append(total, np.iinfo(np.int64).max)
            lone = others[np.minimum(codes[:, i], len(total))] <= own
            if lone.any():
                changed = codes.copy() if changed is codes else changed
                changed[lone, i] = unseen
        return changed

    def _fit(self, features: Floats, truth: npt.NDArray[np.int64], weights: Floats) -> Exponents:
        return fit_exponents(features, truth, weights, _RIDGE, self._prior())

    def _prior(self) -> Floats:
        """Exponents before any row is seen: those of terms begin at zero."""
        prior = np.ones(1 + len(self.sizes_))
        prior[1 + self._n_columns :] = 0.0
        return prior

    def _plain(self) -> Exponents:
        return Exponents(self._prior(), np.zeros(len(self.labels_)))

    def _set_choice(self, kappas: Floats, exponents: Sequence[Exponents]) -> None:
        self.kappas_, self.exponents_ = kappas, list(exponents)
        self.kappa_weights_ = np.full(len(kappas), 1 / len(kappas))

    def by_column(self, terms: Floats) -> Floats:
        """Terms by column: what is made of a column counts for it, half for each of two."""
        made = () if self.encoder_ is None else self.encoder_.terms
        columns = terms[..., : self._n_columns].copy()
        for k, term in enumerate(made):
            for source in term.sources:
                columns[..., source] += terms[..., self._n_columns + k] / len(term.sources)
        return columns

    # --- model files ----------------------------------------------------------------------------

    def learned(self) -> dict[str, Any]:
        """What was learned beside the rows, by name, for a model file."""
        return {
            "kappas": self.kappas_,
            "exponents": np.array([e.w for e in self.exponents_]),
            "biases": np.array([e.b for e in self.exponents_]),
            "column_weights": self.column_weights_,
            "loo": self.loo_,
        }

    def restore(self, statistic: Any, learned: Fields) -> None:
        """Take an index and what was learned with it."""
        kappas = learned.array("kappas", "f", 1)
        w, b = learned.array("exponents", "f", 2), learned.array("biases", "f", 2)
        k, weights, loo = len(kappas), learned.array("column_weights", "f", 1), learned.inner("loo")
        fits = w.shape == (k, 1 + len(self.sizes_)) and b.shape == (k, len(self.labels_)) and k > 0
        finite = all(np.isfinite(array).all() for array in (kappas, w, b, weights))
        if not fits or not finite or (kappas <= 0).any() or (w < 0).any():
            raise ValueError("kappas, exponents and biases do not fit each other")
        if weights.shape != (self._n_columns,) or ((weights < 0) | (weights > 1)).any():
            raise ValueError("column_weights must be numbers from 0 to 1, one for every column")
        self.column_weights_ = weights
        self.loo_ = {name: loo.array(name, "f", 1) for name in ("kappa", "log_loss")}
        self._take(statistic.with_distance(self.value_distance()))
        self._set_choice(kappas, [Exponents(*pair) for pair in zip(w, b, strict=True)])
