"""Methods of one's own for the tests: odd ones, failing ones and hostile ones."""

from __future__ import annotations

import builtins
import os
import signal
import threading

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import LinearSVC

from localbayes.classifiers import NB
from localbayes.study import Method


class Stubborn(NB):
    """Fails on every other fold of the first run, and dies or hangs on nothing."""

    def fit(self, X, y):
        if len(X) % 2:
            raise RuntimeError("an odd\nnumber of rows")
        return super().fit(X, y)


class Deadly(NB):
    """Takes its process with it."""

    def fit(self, X, y):
        if os.environ.get("STUDY_TEST_PARENT") != str(os.getpid()):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class Numbered(LinearSVC):
    """Answers with numbers in place of classes, as a classifier that encodes them and forgets to decode."""

    def fit(self, X, y):
        return super().fit(X, np.unique(y, return_inverse=True)[1])


class Contrary(NB):
    """Predicts the first class always, whatever its probabilities."""

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class Even(NB):
    """Has the same probability for every class, and predicts as NB does."""

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


class Misshapen(DummyClassifier):
    """Answers with too few labels or probabilities."""

    def __init__(self, fault="label"):
        super().__init__()
        self.fault = fault

    def predict(self, X):
        labels = super().predict(X)
        return {"label": labels[:1], "none": None, "column": labels[:, None]}.get(self.fault, labels)

    def predict_proba(self, X):
        proba = super().predict_proba(X)
        changed = {"zeros": 0 * proba, "row": proba[:1], "classes": proba[:, :1], "negative": -proba}
        return changed.get(self.fault, proba)


class Leaving(NB):
    """Ends the program, or is interrupted."""

    def fit(self, X, y):
        raise SystemExit("that was it")


class Interrupted(NB):
    def fit(self, X, y):
        raise KeyboardInterrupt


class Vanishing(NB):
    """Ends its process as if all were well."""

    def fit(self, X, y):
        os._exit(0)


class Lingering(NB):
    """Leaves a thread behind that never ends."""

    def fit(self, X, y):
        threading.Thread(target=threading.Event().wait).start()
        return super().fit(X, y)


class Unreadable(Exception):
    """An error that cannot say what it is."""

    def __str__(self):
        raise RuntimeError("no message")


class Raising(DummyClassifier):
    """Raises what it is told to."""

    def __init__(self, what="ValueError"):
        super().__init__()
        self.what = what

    def fit(self, X, y):
        own = {"surrogate": ValueError("odd \udc80 text"), "unreadable": Unreadable()}
        raise own.get(self.what) or getattr(builtins, self.what)(self.what)


def make_method():
    return given


def make_dummy():
    return DummyClassifier(strategy="most_frequent")


not_a_classifier = 3


given = Method("given", ("given",), lambda fold: None, lambda model, fold, columns: {})


frames = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype")


frames.study_input = "frame"


codes = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype")


codes.study_input = "codes"


wrong_input = DummyClassifier()


wrong_input.study_input = "picture"
