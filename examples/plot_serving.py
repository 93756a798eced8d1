"""
Serving a model
===============

A model file, FastAPI and uvicorn. The program is ``examples/serving/app.py``; what a process needs is in
:doc:`/serving`.
"""

# %%
# A model file
# ------------

import os
import tempfile
from pathlib import Path

from localbayes import LocalBayesClassifier, save_model
from localbayes.datasets import load

X, y = load("credit-g")
path = Path(tempfile.mkdtemp(), "credit.skops")
clf = LocalBayesClassifier().fit(X, y)
save_model(clf, path)
print(f"{path.stat().st_size / 1024:.0f} KiB")

# %%
# A server
# --------
# In life: ``LOCALBAYES_MODEL=credit.skops uvicorn --app-dir examples/serving app:app --workers 2``. Here it
# is a thread of this process, at a port of this machine that is free.

import socket
import sys
import threading
import time

import uvicorn

try:
    here = Path(__file__).resolve().parent
except NameError:  # the gallery runs examples in the folder that they are in
    here = Path.cwd()
sys.path.insert(0, str(here / "serving"))
os.environ["LOCALBAYES_MODEL"] = str(path)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
server = uvicorn.Server(uvicorn.Config("app:app", host="127.0.0.1", port=port, log_level="error"))
thread = threading.Thread(target=server.run, daemon=True)
thread.start()
while not server.started:
    time.sleep(0.01)

# %%
# Questions
# ---------
# Columns that are not sent are missing values.

import http.client
import json

connection = http.client.HTTPConnection("127.0.0.1", port)


def ask(rows):
    connection.request("POST", "/predict", json.dumps({"rows": rows}), {"content-type": "application/json"})
    return json.loads(connection.getresponse().read())


print(ask([{"duration": 12, "age": 40}]))

# %%
# How long a question takes
# -------------------------
# One row, and a hundred rows at once, over a connection that stays open.

import matplotlib.pyplot as plt
import numpy as np

rows = json.loads(X.to_json(orient="records"))
times = {1: [], 100: []}
for n, taken in times.items():
    for k in range(100):
        begin = time.perf_counter()
        ask(rows[k : k + n])
        taken.append(1000 * (time.perf_counter() - begin))
connection.close()
server.should_exit = True
thread.join()

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for n, taken in times.items():
    ax.hist(taken, bins=np.geomspace(0.5, 100, 60), alpha=0.7, label=f"{n} rows" if n > 1 else "1 row")
ax.set(xscale="log", xlabel="milliseconds, on the machine that built this page", ylabel="questions")
ax.legend()
plt.show()
