"""The Dask engine: it cuts tables into tasks, adds counts up and keeps rows on the workers.

``distributed_model`` wraps any classifier of the library; ``classify`` spreads queries to one that was fitted
elsewhere. ``partitions`` cuts Dask collections into tasks, ``task_graph`` names them, ``remote_rows`` sends
queries to rows on the workers, ``whole_tasks`` runs tasks that need no counts, ``connection`` talks to the
scheduler. What the tasks do is in ``localbayes.distributed``, which knows no engine.
"""
