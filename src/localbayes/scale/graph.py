"""Graphs of tasks whose names say what they do."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

__all__ = ["FAN_IN", "Graph"]

# Results that one task of a tree reduction adds up.
FAN_IN = 8


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
        self._calls = 0

    def call(self, name: str, function: Callable[..., Any], *arguments: Any) -> str:
        """Add a task; keys among the arguments, also in lists, stand for results. Give its key."""
        return self.put(name, (function, *arguments))

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
