"""States of a classifier: threads that predict see it before or after learning, never between."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

__all__ = ["as_of_now", "learning", "snapshot"]

Model = TypeVar("Model")
Given = ParamSpec("Given")
Result = TypeVar("Result")

# Held briefly, while a state is copied or replaced.
_STATE = threading.Lock()
# Held while a classifier learns, one lock for each.
_LEARNING: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()


def snapshot(model: Model) -> Model:
    """Copy of a classifier that shares all it has learned; later learning does not change the copy.

    Examples
    --------
    >>> from localbayes import NB
    >>> model = NB().fit([["a"], ["b"]], ["no", "yes"])
    >>> before = snapshot(model)
    >>> _ = model.partial_fit([["a"], ["a"]], ["yes", "yes"])
    >>> before.predict([["a"]]).tolist(), model.predict([["a"]]).tolist()
    (['no'], ['yes'])
    """
    copy: Model = object.__new__(type(model))
    with _STATE:
        vars(copy).update(vars(model))
    return copy


def as_of_now(
    method: Callable[Concatenate[Model, Given], Result],
) -> Callable[Concatenate[Model, Given], Result]:
    """Run a method on a snapshot, so that it sees the classifier as it was when it was called."""

    @wraps(method)
    def on_a_copy(model: Model, /, *args: Given.args, **options: Given.kwargs) -> Result:
        return method(snapshot(model), *args, **options)

    return on_a_copy


@contextmanager
def learning(model: Model) -> Iterator[Model]:
    """Give a copy to learn with; when the block ends without an error, the classifier takes over its state.

    An error leaves the classifier as it was. Threads that fit the same classifier wait for each other, so
    that no rows are lost.
    """
    with _STATE:
        lock = _LEARNING.setdefault(model, threading.RLock())
    with lock:
        learner = snapshot(model)
        yield learner
        with _STATE:
            state = vars(model)
            for name in state.keys() - vars(learner).keys():
                del state[name]
            state.update(vars(learner))


def _forget_locks() -> None:
    """Replace the locks in a forked process: threads that held them do not exist there."""
    global _STATE
    _STATE = threading.Lock()
    _LEARNING.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)
