"""Graphs of tasks whose names say what they do."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any
from uuid import uuid4

import dask

__all__ = ["FAN_IN", "Graph", "Near"]

# Results that one task of a tree reduction adds up.
FAN_IN = 8


class Near(dict[Any, Sequence[str]]):
    """Addresses of the workers that hold what a task needs, by key, in the form of a Dask annotation."""

    def __call__(self, key: Any) -> list[str]:
        """Give the addresses; none is any."""
        return list(self.get(key, ()))


class Graph(dict[Any, Any]):
    """A Dask graph under construction.

    Keys look like ``count-matches-17-3f9c...``: the dashboard groups by the words in front, the token
    keeps graphs apart.

    Examples
    --------
    >>> import dask
    >>> graph = Graph()
    >>> squares = [graph.call("square-number", pow, k, 2) for k in range(20)]
    >>> dask.get(graph, graph.tree("add-squares", sum, squares))
    2470
    """

    def __init__(self, *inputs: dict[Any, Any]) -> None:
        super().__init__()
        for graph in inputs:
            self.update(graph)
        self.token = uuid4().hex
        self.near = Near()
        self._calls = 0

    def call(self, name: str, function: Callable[..., Any], *arguments: Any, near: Sequence[str] = ()) -> str:
        """Add a task, which may be told what workers are best for it, and give its key.

        Keys among the arguments, also in lists, stand for results.
        """
        key = self.put(name, (function, *arguments))
        if near:
            self.near[key] = near
        return key

    def annotated(self) -> Any:
        """Context in which Dask hears of the best workers; where they are gone, others will do."""
        return dask.annotate(workers=self.near, allow_other_workers=True) if self.near else nullcontext()

    def put(self, name: str, value: Any) -> str:
        """Add a value under a key of its own, so that it is sent once however many tasks use it."""
        key = f"{name}-{self._calls}-{self.token}"
        self._calls += 1
        self[key] = value
        return key

    def tree(self, name: str, function: Callable[[Sequence[Any]], Any], keys: Sequence[str]) -> str:
        """Reduce results by a function of a list, neighbours first, order kept."""
        while len(keys) > 1:
            keys = [
                self.call(name, function, list(keys[k : k + FAN_IN])) for k in range(0, len(keys), FAN_IN)
            ]
        return keys[0]
