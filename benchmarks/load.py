"""One model under load: threads and processes ask it while it learns.

    python -m benchmarks.load --seconds 60

Eight threads, four forked and four spawned processes ask one classifier for probabilities, while the model
and each copy of it go on learning and forgetting. The rows come in batches, so the model has a known number
of states. The answer of every state is computed beforehand by `fit` on all its rows. An answer under load
must have the bits of one of them. Memory is looked at every half second.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import sys
import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import psutil

from localbayes import LCWNB
from localbayes.encoding import Coded

SIZES = [3] * 6 + [9] * 4
STATES, FIRST, MORE, QUERIES = 24, 600, 100, 32
THREADS, KINDS = 8, {"fork": 4, "spawn": 4}


def batch(k: int) -> tuple[Coded, np.ndarray]:
    """Rows and classes of one batch."""
    rng = np.random.default_rng([5, k])
    n = FIRST if k == 0 else MORE
    codes = rng.integers(0, SIZES, (n, len(SIZES))).astype(np.uint8)
    return Coded(codes, SIZES), (codes[:, 0] + codes[:, 6] + rng.integers(0, 3, n)) % 3


def queries() -> Coded:
    """The rows that are asked about."""
    rng = np.random.default_rng(6)
    return Coded(rng.integers(0, SIZES, (QUERIES, len(SIZES))).astype(np.uint8), SIZES)


def digest(model: Any, rows: Coded) -> str:
    """What a model answers, as a short text."""
    return hashlib.sha256(model.predict_proba(rows).tobytes()).hexdigest()


def answers() -> dict[str, int]:
    """The answer of every state, each from one fit on all its rows."""
    found = {}
    for k in range(STATES):
        parts = [batch(i) for i in range(k + 1)]
        rows = Coded(np.concatenate([X.codes for X, _ in parts]), SIZES)
        model = LCWNB(kappa=5).fit(rows, np.concatenate([y for _, y in parts]))
        found[digest(model, queries())] = k
    if len(found) != STATES:
        raise SystemExit(f"{STATES} states have {len(found)} answers; they must differ")
    return found


class Watch:
    """Counts answers; remembers what was wrong."""

    def __init__(self, known: dict[str, int], until: float) -> None:
        self.known, self.until = known, until
        self.counts: Counter[str] = Counter()
        self.states: set[int] = set()
        self.errors: list[str] = []
        self.lock = threading.Lock()

    def run(self, what: str, step: Any) -> None:
        """Repeat a step until the time is over; any error ends it."""
        while time.time() < self.until and not self.errors:
            try:
                state = step()
            except BaseException as error:
                self.errors.append(f"{what}: {type(error).__name__}: {error}")
                return
            with self.lock:
                self.counts[what] += 1
                self.states |= set() if state is None else {state}

    def ask(self, model: Any, rows: Coded) -> int:
        """Ask once; the number of the state that gave the answer."""
        answer = digest(model, rows)
        if answer not in self.known:
            raise ValueError("an answer is that of no state of the model")
        return self.known[answer]


class Learner:
    """Teaches a model batch after batch, and then lets it forget them, the last one first."""

    def __init__(self, model: Any) -> None:
        self.model, self.k, self.up = model, 0, True
        self.batches = [batch(k) for k in range(STATES)]
        model.fit(*self.batches[0])

    def step(self) -> None:
        """Learn one more batch, or forget the last one."""
        if self.up:
            self.k += 1
            self.model.partial_fit(*self.batches[self.k])
        else:
            n = FIRST + MORE * self.k
            self.model.forget(rows=np.arange(n - MORE, n))
            self.k -= 1
        self.up = self.k < STATES - 1 and (self.up or self.k == 0)


def process(model: Any, known: dict[str, int], until: float, results: Any, what: str) -> None:
    """Ask and teach a copy of the model in a process of its own."""
    watch, rows, learner = Watch(known, until), queries(), Learner(model)

    def both() -> int:
        state = watch.ask(model, rows)
        learner.step()
        return state

    watch.run(what, both)
    results.put((dict(watch.counts), watch.states, watch.errors))


def main() -> int:
    """Run the load and print figures; 0 if nothing went wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    known, rows = answers(), queries()
    model = LCWNB(kappa=5).fit(*batch(0))
    started = time.time()
    watch = Watch(known, started + seconds)
    learner = Learner(model)
    learn = ("learned in a thread", learner.step)
    threads = [threading.Thread(target=watch.run, args=learn)]
    ask = ("answered in threads", lambda: watch.ask(model, rows))
    threads += [threading.Thread(target=watch.run, args=ask) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    # Processes begin while threads ask and learn.
    workers, queues = [], []
    for kind, number in KINDS.items():
        context: Any = multiprocessing.get_context(kind)
        queues.append((context.Queue(), number))
        given = (model, known, watch.until, queues[-1][0], f"asked and learned, {kind}ed")
        workers += [context.Process(target=process, args=given) for _ in range(number)]
    for worker in workers:
        worker.start()
    memory = []
    while time.time() < watch.until:
        memory.append(psutil.Process().memory_info().rss / 2**20)
        time.sleep(0.5)
    for thread in threads:
        thread.join()
    for queue, number in queues:
        for _ in range(number):
            counts, states, errors = queue.get(timeout=seconds + 120)
            watch.counts.update(counts)
            watch.states |= states
            watch.errors += errors
    for worker in workers:
        worker.join()
        if worker.exitcode:
            watch.errors.append(f"a process ended with {worker.exitcode}")
    expected = {ask[0], learn[0]} | {f"asked and learned, {k}ed" for k in KINDS}
    watch.errors += [f"nothing was {what}" for what in sorted(expected - set(watch.counts))]
    quarter = max(1, len(memory) // 4)
    early, late = max(memory[quarter : 2 * quarter] or memory), max(memory[-quarter:])
    if late > 1.1 * early + 5:
        watch.errors.append(f"memory grew from {early:.0f} to {late:.0f} MB")
    print(f"{seconds:g} seconds, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    for what, count in sorted(watch.counts.items()):
        print(f"{what}: {count:,} times")
    print(f"states seen in answers: {len(watch.states)} of {STATES}")
    print(f"memory: {early:.1f} MB in the second quarter of the time, {late:.1f} MB in the last")
    print(f"errors: {len(watch.errors)}", *watch.errors[:9], sep="\n  ")
    return int(bool(watch.errors))


if __name__ == "__main__":
    sys.exit(main())
