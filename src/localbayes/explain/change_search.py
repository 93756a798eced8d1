"""Search for the smallest changes of a row that make another class win."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.classifiers.scores import first_best
from localbayes.counts import Codes, Floats
from localbayes.explain.candidates import AS_IT_IS, Candidates, Picks
from localbayes.explain.why_not import Counterfactual

__all__ = ["Search"]

# Rows that are scored at once.
_BATCH = 1 << 14


@dataclass(frozen=True)
class Tried:
    """Candidates and their scores, classes in declared order."""

    picks: Picks
    scores: Floats

    def wins(self, y: int) -> npt.NDArray[np.bool_]:
        """Where a class is predicted."""
        won: npt.NDArray[np.bool_] = first_best(self.scores) == y if len(self.scores) else np.empty(0, bool)
        return won

    def lead(self, y: int) -> Floats:
        """By how much a class is ahead of the best other one; minus infinity where it is impossible."""
        others = np.delete(self.scores, y, axis=1).max(axis=1)
        with np.errstate(invalid="ignore"):
            ahead = self.scores[:, y] - others
        lead: Floats = np.nan_to_num(ahead, nan=-np.inf, neginf=-np.inf)
        return lead


class Search:
    """Finds changes of one query: all of one attribute, all of two, then one after the other.

    1. Every value of every attribute.
    2. If that does not do, every pair of them. Where these are more than ``most``, only the single changes
       that bring a wanted class furthest are combined, and the answer is not complete.
    3. If that does not do, the best pair is changed further, at each step by the change that brings the class
       furthest, until it wins; changes that are not needed then are taken back.
    4. If that does not do, the row takes over all values of a near training row of the class.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier.
    candidates : Candidates
        Values to try.
    q : int
        The query.
    most : int
        Most rows to try at each stage.
    near : callable
        Codes of training rows near the query, of a class.
    """

    def __init__(
        self,
        model: BayesClassifier,
        candidates: Candidates,
        q: int,
        most: int,
        near: Callable[[int], Codes],
    ) -> None:
        self._near = near
        self._model, self._candidates, self._q, self._most = model, candidates, q, most
        self._pairs = candidates.singles(q)

    def run(self, wanted: Sequence[int], ways: int) -> dict[int, tuple[tuple[Counterfactual, ...], bool]]:
        """Smallest changes for every wanted class, and whether all of one and two attributes were tried."""
        singles = self._tried(self._candidates.applied(self._pairs))
        found = {y: (self._best(singles, y, ways), self._candidates.complete) for y in wanted}
        open_ = [y for y in wanted if not found[y][0]]
        if not open_ or not len(self._pairs):
            return found
        chosen, complete = self._to_combine(singles, open_)
        doubles = self._tried(self._combined(chosen))
        for y in open_:
            ways_found = self._best(doubles, y, ways)
            if not ways_found:
                further = self._further(singles, doubles, y, self._most // len(open_)) or self._as_others(y)
                ways_found = () if further is None else self._best(further, y, 1)
            found[y] = ways_found, complete
        return found

    def _tried(self, picks: Picks) -> Tried:
        model = self._model
        scores = np.empty((len(picks), len(model.labels_)))
        for begin in range(0, len(picks), _BATCH):
            part = slice(begin, begin + _BATCH)
            codes = self._candidates.codes(self._q, picks[part])
            scores[part] = model.finished(model.log_joint_in_chunks(codes))
        return Tried(picks, scores)

    def _best(self, tried: Tried, y: int, ways: int) -> tuple[Counterfactual, ...]:
        """Winning candidates: the smallest change first, one for every set of attributes."""
        picks = tried.picks[tried.wins(y)]
        if not len(picks):
            return ()
        codes = self._candidates.codes(self._q, picks)
        log_joint = self._model.log_joint_in_chunks(codes)
        column = int(self._model.labels_.sorted_position[y])
        proba = self._model.answer(log_joint, "predict_proba")[:, column]
        order = np.lexsort((-proba, self._candidates.distance(self._q, picks)))
        kept: dict[bytes, int] = {}
        for k in order.tolist():
            kept.setdefault((picks[k] != AS_IT_IS).tobytes(), k)
        chosen = np.array(list(kept.values())[:ways])
        # Each is checked by what predict does.
        chosen = chosen[self._model.best_class(codes[chosen]) == y]
        return tuple(
            Counterfactual(self._candidates.changes(self._q, picks[k]), float(proba[k]))
            for k in chosen.tolist()
        )

    def _to_combine(self, singles: Tried, open_: Sequence[int]) -> tuple[Picks, bool]:
        """Single changes to combine: all, or those that bring the wanted classes furthest."""
        _, sizes = np.unique(self._pairs[:, 0], return_counts=True)
        n_pairs = (int(sizes.sum()) ** 2 - int((sizes**2).sum())) // 2
        if n_pairs <= self._most:
            return self._pairs, self._candidates.complete
        # So many changes have at most as many pairs as may be tried.
        n = max(2, int((2 * self._most) ** 0.5))
        order = np.stack([np.argsort(-singles.lead(y), kind="stable") for y in open_], axis=1).ravel()
        kept = list(dict.fromkeys(order.tolist()))[:n]
        return self._pairs[np.sort(kept)], False

    def _combined(self, pairs: Picks) -> Picks:
        """All pairs of changes of different attributes."""
        both = np.array(list(combinations(range(len(pairs)), 2)), np.int64).reshape(-1, 2)
        both = both[pairs[both[:, 0], 0] != pairs[both[:, 1], 0]]
        return self._candidates.applied(pairs[both[:, 1]], self._candidates.applied(pairs[both[:, 0]]))

    def _further(self, singles: Tried, doubles: Tried, y: int, most: int) -> Tried | None:
        """Change one attribute after the other until the class wins; None if it never does."""
        begin = doubles if len(doubles.picks) else singles
        now = begin.picks[int(np.argmax(begin.lead(y)))]
        pairs = self._best_values(singles, y, most)
        while True:
            pairs = pairs[now[pairs[:, 0]] == AS_IT_IS]
            if not len(pairs):
                return None
            tried = self._tried(self._candidates.applied(pairs, now))
            best = int(np.argmax(tried.lead(y)))
            now = tried.picks[best]
            if tried.wins(y)[best]:
                return self._only_needed(now, y)

    def _as_others(self, y: int) -> Tried | None:
        """Take over values of a near row of the class, those that are needed; None if that does not do."""
        tried = self._tried(self._candidates.like(self._near(y)))
        wins = tried.wins(y)
        if not wins.any():
            return None
        found = [self._only_needed(now, y) for now in tried.picks[wins]]
        return min(found, key=lambda one: int((one.picks != AS_IT_IS).sum()))

    def _best_values(self, singles: Tried, y: int, most: int) -> Picks:
        """The values of every attribute that bring a class furthest, as many as may be tried step by step."""
        by_attribute: dict[int, list[int]] = {}
        for k in np.argsort(-singles.lead(y), kind="stable").tolist():
            by_attribute.setdefault(int(self._pairs[k, 0]), []).append(k)
        # At most as many steps as attributes, each with a few values of each.
        attributes = list(by_attribute.values())[: max(1, int(most**0.5))]
        values = max(1, most // len(attributes) ** 2)
        chosen: Picks = self._pairs[np.sort([k for own in attributes for k in own[:values]])]
        return chosen

    def _only_needed(self, now: npt.NDArray[np.int64], y: int) -> Tried:
        """Take back changes, one after the other, as long as the class wins."""
        while True:
            changed = np.flatnonzero(now != AS_IT_IS)
            back = np.column_stack([changed, np.full(len(changed), AS_IT_IS)])
            tried = self._tried(self._candidates.applied(back, now))
            wins = tried.wins(y)
            if not wins.any():
                return self._tried(now[None])
            now = tried.picks[int(np.argmax(np.where(wins, tried.lead(y), -np.inf)))]
