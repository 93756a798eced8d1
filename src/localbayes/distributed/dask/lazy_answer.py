"""Predictions that are computed when wanted, on the cluster that has the training rows."""

from typing import Any

import dask.array as da

from localbayes.distributed.dask.connection import check_client, release, result

__all__ = ["LazyAnswer"]


class LazyAnswer(da.Array):  # type: ignore[misc]
    """A Dask array that knows its client: ``compute`` and ``persist`` need not be told.

    What is made of it (a slice, a sum) is a plain Dask array, for which Dask takes the current client.
    """

    client: Any

    def compute(self, **options: Any) -> Any:
        """Compute the answer on its own cluster, unless ``scheduler`` names another one."""
        if options.get("scheduler") is not None:
            return super().compute(**options)
        check_client(self.client, "the training rows went with it: connect again and call fit")
        future = self.client.compute(self, optimize_graph=options.get("optimize_graph", True))
        try:
            return result(future, "queries")
        except BaseException:
            release([future])
            raise

    def persist(self, **options: Any) -> Any:
        """Compute the answer and keep it on the workers of its own cluster."""
        if options.get("scheduler") is not None:
            return super().persist(**options)
        check_client(self.client, "the training rows went with it: connect again and call fit")
        return self.client.persist(self, optimize_graph=options.get("optimize_graph", True))
