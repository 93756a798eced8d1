"""The example that serves a model answers as the model does."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import uvicorn

from localbayes import LocalBayesClassifier, load_model, save_model
from localbayes.datasets import load

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "serving"


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    X, y = load("credit-g")
    path = tmp_path_factory.mktemp("serving") / "credit.skops"
    save_model(LocalBayesClassifier().fit(X[200:], y[200:]), path)
    return path


@pytest.fixture(scope="module")
def ask(model_file):
    """A function that sends one request to a server in a thread of this process."""
    with pytest.MonkeyPatch.context() as patch, socket.socket() as free:
        patch.syspath_prepend(str(EXAMPLE))
        patch.setenv("LOCALBAYES_MODEL", str(model_file))
        free.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config("app:app", log_level="error", lifespan="on"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [free]}, daemon=True)
        thread.start()
        patience = time.monotonic() + 60
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() < patience
            threading.Event().wait(0.02)

        def send(path: str, question: object = None) -> tuple[int, dict]:
            connection = http.client.HTTPConnection(*free.getsockname(), timeout=60)
            verb = "GET" if question is None else "POST"
            connection.request(verb, path, json.dumps(question), {"content-type": "application/json"})
            answer = connection.getresponse()
            text = json.loads(answer.read())
            connection.close()
            return answer.status, text

        yield send
        server.should_exit = True
        thread.join(60)
        sys.modules.pop("app", None)


def test_the_answers_are_those_of_the_model(ask, model_file):
    """Rows that travel as JSON get the classes and the probabilities that the table gets, to the bit."""
    X, _ = load("credit-g")
    model = load_model(model_file)
    status, answer = ask("/predict", {"rows": json.loads(X[:50].to_json(orient="records"))})
    assert status == 200
    assert answer["classes"] == model.predict(X[:50]).tolist()
    proba = [[row[str(name)] for name in model.classes_] for row in answer["probabilities"]]
    assert np.array_equal(proba, model.predict_proba(X[:50]))


def test_a_column_that_is_not_sent_is_missing(ask, model_file):
    """A row of one column gets what a row with holes gets."""
    X, _ = load("credit-g")
    model = load_model(model_file)
    row = X[:1].copy()
    row[[name for name in X.columns if name != "duration"]] = None
    _, answer = ask("/predict", {"rows": [{"duration": float(X["duration"].iloc[0])}]})
    expected = model.predict_proba(row)[0]
    assert [answer["probabilities"][0][str(name)] for name in model.classes_] == expected.tolist()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"rows": [{"colour": "red"}]}, "unknown columns: colour"),
        ({"rows": []}, "at least 1 item"),
        ({"rows": [{}] * 1001}, "at most 1000 items"),
        ({"table": 1}, "Field required"),
    ],
)
def test_a_wrong_question_is_refused_in_words(ask, question, said):
    """The status is 422 and the text says why; the server goes on."""
    status, answer = ask("/predict", question)
    assert status == 422
    assert said in json.dumps(answer)
    assert ask("/health")[0] == 200


def test_many_may_ask_at_once(ask):
    """Eight threads get the answers that one gets."""
    X, _ = load("credit-g")
    rows = json.loads(X[:40].to_json(orient="records"))
    alone = [ask("/predict", {"rows": [row]})[1] for row in rows]
    together: dict[int, dict] = {}

    def some(first: int) -> None:
        for k in range(first, len(rows), 8):
            together[k] = ask("/predict", {"rows": [rows[k]]})[1]

    threads = [threading.Thread(target=some, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[k] for k in range(len(rows))] == alone
