"""What the local Bayes classifier learns in fit: column weights, kappas and exponents."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Unpack

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.base import BayesClassifier
from localbayes.classifiers.exponents import Exponents, fit_exponents
from localbayes.classifiers.kappa import kappa_grid
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.classifiers.local_distance import (
    LocalDistance,
    column_weights,
    evenly,
    relevance,
)
from localbayes.classifiers.row_source import IndexedRows, RowSource, SampledRows
from localbayes.classifiers.shared import SharedParameters
from localbayes.counts import Codes, Distance, Floats, Rows
from localbayes.encoding.coded import unseen_code
from localbayes.encoding.rich_encoder import RichEncoder
from localbayes.fields import Fields
from localbayes.parameters import check_count

__all__ = ["ALPHA", "LocalLearning"]

# What the formula adds to the count of a value.
ALPHA = 0.5
# Rows that are left out at most, and how many of them tell roughly where the best kappa is.
_ROWS, _FEW_ROWS = 8000, 500
# Features that are held at once, and rows that are left out even if they have more.
_MOST_CELLS, _FEWEST_ROWS = 1 << 23, 200
# Comparisons of a left-out row with a training row.
_COMPARISONS = 1e9
# First every third kappa of the grid is tried, then so many around the best.
_STRIDE, _NEAR = 3, 5
# Kappas whose predictions are averaged.
_N_KAPPAS = 3
_RIDGE = 2.5
# Weights below this are those of no row but for rounding; above that, other rows have the value, too.
_NO_ROW, _ONE_ROW = 1e-9, 1.0 + 1e-9


class LocalLearning(LazyClassifier):
    """Learns column weights, kappas and exponents from training rows that are left out."""

    has_kappas: ClassVar[bool] = False
    learns_from_source: ClassVar[bool] = True
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

    # --- learning -------------------------------------------------------------------------------

    def adopt(self, statistic: Any) -> None:
        """Take an index as that of the training rows; learn column weights, kappas and exponents by it."""
        source = IndexedRows(statistic)
        self.index_ = statistic
        self.learn(source)
        self.index_ = source.index

    def learn(self, source: RowSource) -> None:
        """Learn column weights, kappas and exponents from a source of training rows."""
        n, n_classes = source.n_rows, np.count_nonzero(self.class_count)
        self.set_value_totals(source.value_totals())
        self.column_weights_ = np.ones(self._n_columns)
        self.loo_ = {"kappa": np.empty(0), "log_loss": np.empty(0)}
        if n < 2 or n_classes < 2:
            self._set_choice(np.array([float(max(n, 1))]), [self._plain()])
            return
        numbers = np.random.default_rng(self.random_state).permutation(n)[: self._most_rows(_NEAR)]
        rows = source.sample_rows(np.sort(numbers))
        rows = replace(rows, codes=self.known_codes(rows.codes, rows.own_weight))
        prior = self._learn_distance(rows)
        source.use_distance(self.value_distance())
        # First some kappas, by few of the rows; then those around the best, by all of them.
        grid = kappa_grid(self.class_count.sum())
        few = rows.take(evenly(len(rows), min(_FEW_ROWS, self._most_rows(len(grid)))))
        tried = np.unique(np.append(np.arange(0, len(grid), _STRIDE), len(grid) - 1))
        losses = [fit.loss for fit in self._fits(source, few, grid[tried], prior)]
        best = tried[int(np.argmin(losses))]
        first = min(max(best - _NEAR // 2, 0), max(len(grid) - _NEAR, 0))
        near = grid[first : first + _NEAR]
        fits = self._fits(source, rows, near, prior)
        chosen = np.sort(np.argsort([fit.loss for fit in fits], kind="stable")[:_N_KAPPAS])
        self.loo_ = {"kappa": near, "log_loss": np.array([fit.log_loss for fit in fits])}
        self._set_choice(near[chosen], [fits[k] for k in chosen])

    def set_value_totals(self, totals: list[Floats]) -> None:
        """Take the weight of the rows that have each value."""
        self._totals = totals

    def known_queries(self, codes: Codes) -> Codes:
        """Codes of queries in which a nominal value that no row has counts as never seen."""
        return self.known_codes(codes)

    def _most_rows(self, n_kappas: int) -> int:
        """Rows to leave out: fewer where there are many classes and columns, or very many rows."""
        cells = n_kappas * len(self.labels_) * (1 + len(self.sizes_))
        comparable = max(_FEW_ROWS, int(_COMPARISONS // max(self.class_count.sum(), 1)))
        return max(_FEWEST_ROWS, min(_ROWS, _MOST_CELLS // cells, comparable))

    def _learn_distance(self, rows: SampledRows) -> Floats:
        """Set the weights of columns; return the exponents before any row is seen."""
        plain = LocalDistance(tuple(self.ordered_sizes_.tolist()), self._n_columns)
        table = self.sizes_, rows.codes, rows.classes, rows.weights
        target = relevance(plain, *table)
        learned = column_weights(plain, *table, self.missing == "ignore", target)
        if learned.weights:
            self.column_weights_ = np.array(learned.weights)
        return self._prior(target)

    def _fits(self, source: RowSource, rows: SampledRows, kappas: Floats, prior: Floats) -> list[Exponents]:
        """Exponents for every kappa; the search begins with those of the one before."""
        fits: list[Exponents] = []
        for features in self.left_out_features(source, rows, kappas):
            start = fits[-1] if fits else None
            fits.append(fit_exponents(features, rows.classes, rows.weights, _RIDGE, prior, start))
        return fits

    def left_out_features(
        self, source: RowSource, rows: SampledRows, kappas: Floats
    ) -> npt.NDArray[np.float32]:
        """Features of training rows that do not count themselves, shape (k, n, r, 1 + m)."""
        shape = len(kappas), len(rows), len(self.labels_), 1 + len(self.sizes_)
        features = np.empty(shape, dtype=np.float32)

        def fill(at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            chunk = slice(at[0], at[-1] + 1)
            features[:, chunk] = source.left_out_features(rows.take(chunk), kappas, self.features, ALPHA)
            return at

        self.in_chunks(fill, np.arange(len(rows)), np.empty(len(rows), np.int64), sets=len(kappas))
        return features

    def as_others_know(self, rows: Rows) -> Rows:
        """Training rows in which a nominal value that no other row has counts as never seen."""
        return replace(rows, codes=self.known_codes(rows.codes, np.minimum(rows.each_weight, 1.0)))

    def known_codes(self, codes: Codes, own: Floats | float = 0.0) -> Codes:
        """Codes of queries in which a nominal value that no other row has counts as never seen."""
        unseen, changed = unseen_code(codes.dtype), codes
        for i, total in enumerate(self._totals):
            if self.ordered_sizes_[i] or total.min(initial=np.inf) > _ONE_ROW:
                continue
            others = np.append(total, np.inf)[np.minimum(codes[:, i], len(total))] - own
            lone = others < _NO_ROW
            if lone.any():
                changed = codes.copy() if changed is codes else changed
                changed[lone, i] = unseen
        return changed

    def _prior(self, of_columns: Floats) -> Floats:
        """Exponents before any row is seen: those of terms begin at zero."""
        return np.concatenate([[1.0], of_columns, np.zeros(len(self.sizes_) - len(of_columns))])

    def _plain(self) -> Exponents:
        return Exponents(self._prior(np.ones(self._n_columns)), np.zeros(len(self.labels_)))

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
        self.index_ = statistic.with_distance(self.value_distance())
        self.set_value_totals(self.index_.value_totals())
        self._set_choice(kappas, [Exponents(*pair) for pair in zip(w, b, strict=True)])
