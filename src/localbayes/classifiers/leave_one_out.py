"""Leave-one-out of LCWNB: how well each kappa predicts training rows without themselves."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from localbayes.classifiers.class_shares import shifted
from localbayes.classifiers.kappa import (
    KappaChoice,
    LeftOut,
    LeftOutRequest,
    check_grid,
    choose,
    kappa_grid,
    others_count,
    rows_to_leave_out,
    switching_rule,
)
from localbayes.classifiers.lazy import LazyClassifier, Weighting
from localbayes.classifiers.scores import log_total
from localbayes.classifiers.state import as_of_now
from localbayes.counts import Codes, Floats
from localbayes.fields import Fields
from localbayes.parameters import check_count, check_number

__all__ = ["LeaveOneOut"]

# Memory of the predictions that are held at once.
_MOST_BYTES = 32 << 20


class LeaveOneOut(LazyClassifier):
    """Chooses kappa, or weights for several kappas, by training rows that are left out."""

    kappa: float | str
    calibrate: Any
    loo_rows: int
    random_state: Any

    @property
    def base_meaning(self) -> str:
        """What the base of :meth:`terms` stands for, in words."""
        return super().base_meaning + (" and averaging" if len(self.kappas_) > 1 else "")

    @property
    def n_weightings(self) -> int:
        """Number of kappas whose predictions are mixed."""
        return len(self.kappas_)

    def bytes_per_query(self) -> int:
        """Scratch memory for one query and kappa; counts and weights stay inside the kernel."""
        return 8 * (len(self.sizes_) + 3 * len(self.labels_))

    # --- choosing -------------------------------------------------------------------------------

    def left_out_request(self, n_rows: int) -> LeftOutRequest | None:
        """Kappas to choose from and rows to choose by; None if there is no choice."""
        grid = self._grid()
        n, classes_seen = self.class_count.sum(), np.count_nonzero(self.class_count)
        if n < 2 or classes_seen < 2 or (len(grid) == 1 and not self._calibrates()):
            return None
        return LeftOutRequest(grid, rows_to_leave_out(n_rows, self.loo_rows, self.random_state))

    def choose(self, left_out: LeftOut | None) -> None:
        """Set ``kappas_``, ``kappa_weights_``, ``temperature_``, ``kappa_`` and ``loo_``."""
        grid = self._grid()
        if left_out is None:
            # Without rows to choose by, use the paper's kappa.
            choice, self.loo_ = KappaChoice(grid if len(grid) == 1 else np.array([5.0]), np.ones(1)), None
        else:
            rule = self.kappa if self.kappa in ("loo", "mixture") else "loo"
            choice = choose(str(rule), grid, left_out, self._calibrates())
            total = left_out.weights.sum()
            self.loo_ = {
                "kappa": grid,
                "accuracy": left_out.correct() / total,
                "log_loss": left_out.losses() / total,
            }
        self._set_choice(choice)

    def _set_choice(self, choice: KappaChoice) -> None:
        self.kappas_, self.kappa_weights_, self.temperature_ = (
            choice.kappas,
            choice.weights,
            choice.temperature,
        )
        self.kappa_ = float(self.kappas_[self.kappa_weights_.argmax()])

    def learned(self) -> dict[str, Any]:
        """What was chosen, by name, for a model file."""
        chosen = {
            "kappas": self.kappas_,
            "kappa_weights": self.kappa_weights_,
            "temperature": self.temperature_,
        }
        return {**chosen, "loo": self.loo_}

    def restore(self, statistic: Any, learned: Fields) -> None:
        """Take an index and what was chosen when it was learned."""
        super().restore(statistic, learned)
        kappas = check_grid(learned.array("kappas", "f", 1))
        weights, temperature = learned.array("kappa_weights", "f", 1), learned.get("temperature", float)
        if weights.shape != kappas.shape or not (weights > 0).all() or not np.isclose(weights.sum(), 1.0):
            raise ValueError("kappa_weights must be positive numbers that sum to 1, one for every kappa")
        if not 0 < temperature < np.inf:
            raise ValueError(f"temperature must be a number > 0, got {temperature}")
        self._set_choice(KappaChoice(kappas, weights, temperature))
        self.loo_ = None
        if learned.optional("loo", dict) is not None:
            table = learned.inner("loo")
            self.loo_ = {name: table.array(name, "f", 1) for name in ("kappa", "accuracy", "log_loss")}
            if (
                len({len(column) for column in self.loo_.values()}) > 1
                or not np.isin(kappas, self.loo_["kappa"]).all()
            ):
                raise ValueError("the leave-one-out table does not fit the kappas")

    def leave_out(self, request: LeftOutRequest) -> LeftOut:
        """Predictions for training rows in memory without themselves."""
        return LeftOut.joined(list(self._left_out_parts(request)))

    def _grid(self) -> Floats:
        if self.kappa == "switch":
            return np.array([switching_rule(len(self.sizes_))])
        if isinstance(self.kappa, str):
            return kappa_grid(self.class_count.sum())
        return np.array([float(self.kappa)])

    def _calibrates(self) -> bool:
        return self.kappa in ("loo", "mixture") if self.calibrate == "auto" else bool(self.calibrate)

    def score_left_out(
        self,
        codes: Codes,
        classes: npt.NDArray[np.int64],
        distance_counts: npt.NDArray[Any],
        matches: Callable[[Weighting], Floats],
        request: LeftOutRequest,
        weights: Floats | None = None,
    ) -> LeftOut:
        """Predictions for left-out rows from sums that were added up elsewhere.

        Parameters
        ----------
        codes, classes : ndarray of shape (n, m) and (n,)
            The rows.
        distance_counts : ndarray of shape (n, r, n_distances)
            V of all other rows.
        matches : callable
            Gives T of all other rows for a weighting.
        request : LeftOutRequest
            What was asked for.
        weights : ndarray of shape (n,), optional
            Weights of the rows.
        """
        joints = [
            self.log_joint_of_sums(codes, weighting, matches(weighting))
            for weighting in self.weightings(distance_counts, request.grid)
        ]
        each = np.ones(len(classes)) if weights is None else weights
        return LeftOut.of_scores(np.stack(joints), classes, each, self.class_count)

    # --- looking --------------------------------------------------------------------------------

    @as_of_now
    def leave_one_out(self, kappas: npt.ArrayLike) -> dict[str, Floats]:
        """Accuracy and log loss of every kappa, each training row classified without itself.

        Priors and class weights are applied here; in ``loo_`` they are not.

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

        >>> from localbayes import LCWNB
        >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
        >>> LCWNB(1).fit(X, y).leave_one_out([1, 2])["accuracy"].round(3).tolist()
        [0.333, 0.333]
        """
        check_is_fitted(self, "labels_")
        grid = check_grid(kappas)
        if self.index_.n_rows < 2:
            raise ValueError("leave_one_out needs two training rows or more, got 1")
        correct, losses, total = np.zeros(len(grid)), np.zeros(len(grid)), 0.0
        for left_out in map(self._moved, self._left_out_parts(LeftOutRequest(grid, None))):
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
        from localbayes.plots.loo_plot import plot_loo

        check_is_fitted(self, "labels_")
        if self.loo_ is None:
            raise ValueError("there is no leave-one-out table; fit with kappa='loo' or kappa='mixture'")
        return plot_loo(self.loo_, self.kappas_, self.kappa_weights_, ax)

    def _left_out_parts(self, request: LeftOutRequest) -> Iterator[LeftOut]:
        """Predictions for training rows without themselves, in parts, before priors and class weights."""
        grid, r = request.grid, len(self.labels_)
        step = max(1, _MOST_BYTES // (8 * r * len(grid)))
        for codes, classes, _, weights in self.index_.training_rows(request.rows, step):
            rows = self.index_.as_queries(codes)
            # A row of weight 2 counts as two rows, of which one is left out at a time.
            own_weight = None if weights is None else np.minimum(weights, 1.0)

            def scores(
                at: npt.NDArray[np.int64], rows: Any = rows, own: Any = classes, weight: Any = own_weight
            ) -> Floats:
                counts = self.index_.count(rows[at], own[at], None if weight is None else weight[at])
                return np.moveaxis(counts.cell_log_joint(grid, *self.laplace()), 0, 1)

            out = np.empty((len(rows), len(grid), r))
            log_joint = self.in_chunks(scores, np.arange(len(rows)), out, sets=len(grid))
            total = np.ones(len(rows)) if weights is None else weights
            yield LeftOut.of_scores(np.moveaxis(log_joint, 1, 0), classes, total, self.class_count)

    def _moved(self, left_out: LeftOut) -> LeftOut:
        """The same predictions under priors and class weights, both computed from the other rows only."""
        others = others_count(self.class_count, left_out.truth, left_out.weights)
        shift = self.class_shift(others)
        if shift is None:
            return left_out
        log_joint = shifted(left_out.log_proba, shift, others)
        return replace(left_out, log_proba=log_joint - log_total(log_joint))

    def check_parameters(self) -> None:
        """Refuse an invalid kappa and invalid options."""
        super().check_parameters()
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
