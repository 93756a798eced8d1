"""Chunks of queries on threads, within bounded memory."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from typing import Any

import numpy.typing as npt
from joblib import cpu_count, effective_n_jobs

from localbayes.parameters import check_jobs

__all__ = ["BATCH", "MOST_QUERIES", "run_in_chunks", "shares"]

# Scratch memory of a chunk of queries, so that it fits in cache.
_CACHE_BYTES = 4 << 20
# Most queries of a chunk, and fewest queries that are worth a thread.
MOST_QUERIES, _FEWEST_QUERIES = 1024, 16
# Number of threads that is allowed even on a machine with fewer processors.
_THREADS = 4
# Smaller batches cost more per query: on letter 2 % on two threads, on a million rows 20 %.
BATCH = 128


def run_in_chunks(
    function: Callable[[npt.NDArray[Any]], Any],
    queries: npt.NDArray[Any],
    out: npt.NDArray[Any],
    *,
    n_jobs: int | None,
    bytes_per_query: int,
    most_queries: int = MOST_QUERIES,
) -> npt.NDArray[Any]:
    """Fill ``out`` with what a function gives for chunks of queries, on ``n_jobs`` threads.

    Parameters
    ----------
    function : callable
        Takes some of the queries, gives as many results.
    queries : array of shape (n, ...)
        All queries.
    out : array of shape (n, ...)
        Where results go.
    n_jobs : int or None
        Number of threads, as in joblib.
    bytes_per_query : int
        Memory that the function needs for one query.
    most_queries : int
        Most queries of a chunk; an interrupt (Ctrl-C) is handled between chunks.
    """
    check_jobs(n_jobs)
    n = len(queries)
    most_threads = _n_threads(n_jobs) if n >= 2 * _FEWEST_QUERIES else 1
    threads = min(most_threads, max(1, n // _FEWEST_QUERIES))
    fitting = _CACHE_BYTES // bytes_per_query
    cut = shares(n, threads, max(1, min(most_queries, fitting)))

    def run(chunks: Iterator[tuple[int, int]]) -> None:
        for begin, end in chunks:
            out[begin:end] = function(queries[begin:end])

    if threads == 1:
        run(iter(cut))
    else:
        _run_on_threads(run, cut, threads, most_threads)
    return out


def _run_on_threads(
    run: Callable[[Iterator[tuple[int, int]]], None],
    cut: list[tuple[int, int]],
    threads: int,
    most_threads: int,
) -> None:
    """Let threads of the pool, and this one, take chunks from one iterator."""
    # Joblib's dispatch takes as long as some thousand queries.
    others: list[Future[None]] = []
    chunks = iter(cut)
    try:
        with suppress(RuntimeError):  # the interpreter is shutting down, or no thread can be started
            others.extend(_pool(most_threads - 1).submit(run, chunks) for _ in range(threads - 1))
        if len(others) < threads - 1:
            # submit() may fail after it has queued the task. Such a task may still start later and would take
            # chunks that nothing waits for. So this thread works through all chunks itself.
            chunks = iter(cut)
        run(chunks)
    finally:
        for _ in chunks:  # after an error no thread takes another chunk
            pass
        others = [other for other in others if not other.cancel()]
        wait(others)
    for other in others:
        other.result()


def shares(n: int, threads: int, most: int) -> list[tuple[int, int]]:
    """Cut n queries into chunks (begin, end) that threads take one after the other.

    Each chunk is a thread's share of the queries that are left, so chunks are few and all threads are
    busy to the end.
    Chunks are multiples of a batch, because the kernel reads the training rows once for each.

    Examples
    --------
    >>> shares(1000, threads=2, most=400)
    [(0, 384), (384, 640), (640, 768), (768, 896), (896, 1000)]
    """
    batch = min(BATCH, -(-n // threads))
    chunks, begin = [], 0
    while begin < n:
        share = max(batch, (n - begin) // threads // batch * batch)
        end = min(n, begin + min(most, share))
        chunks.append((begin, end))
        begin = end
    return chunks


def _n_threads(n_jobs: int | None) -> int:
    """Number of threads; None asks joblib's ``parallel_config``, which may count a cluster's workers."""
    processors = _processors()
    wanted = min(effective_n_jobs(None), processors) if n_jobs is None else n_jobs
    return min(wanted, max(processors, _THREADS)) if wanted > 0 else max(1, processors + 1 + wanted)


@cache
def _processors() -> int:
    processors: int = cpu_count()
    return processors


@cache
def _pool(n: int) -> ThreadPoolExecutor:
    """Thread pool that is kept, because starting two threads takes as long as some dozen queries.

    There is a pool for each number of threads. A larger pool than needed would spread the work over more
    threads, each with a cold cache.
    """
    return ThreadPoolExecutor(n, thread_name_prefix="localbayes")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
