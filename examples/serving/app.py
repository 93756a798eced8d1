"""Serves a model file over HTTP.

    pip install . fastapi uvicorn
    localbayes fit credit-g --method LocalBayesClassifier -o credit.skops
    LOCALBAYES_MODEL=credit.skops uvicorn --app-dir examples/serving app:app --workers 2

    curl -s localhost:8000/predict -H 'content-type: application/json' -d '{"rows": [{"duration": 12}]}'

A model file runs no code when it is loaded. See docs/serving.md for what a process needs.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pandas as pd
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, Field

from localbayes import load_model

Value = str | float | bool | None  # what a cell may be; a column that is not named is missing
MOST_ROWS = 1000  # of one request, so that nobody keeps a thread for long


class Question(BaseModel):
    """Rows by the names of their columns."""

    rows: Annotated[list[dict[str, Value]], Field(min_length=1, max_length=MOST_ROWS)]


class Answer(BaseModel):
    """For every row the most probable class, and the probabilities of all."""

    classes: list[str]
    probabilities: list[dict[str, float]]


@asynccontextmanager
async def load(app: FastAPI) -> Any:
    """Read the model once, before the first request; a wrong file ends the process with one line."""
    model = load_model(os.environ["LOCALBAYES_MODEL"])
    model.n_jobs = 1  # requests are in threads of their own
    app.state.model, app.state.columns = model, list(model.feature_names_in_)
    yield


app = FastAPI(title="localbayes", lifespan=load)


@app.get("/health")
def health(request: Request) -> dict[str, Any]:
    """Say that the process is ready, and which columns it expects."""
    return {"ready": True, "columns": request.app.state.columns}


@app.post("/predict")
def predict(question: Question, request: Request) -> Answer:
    """Classify rows. Several requests may be in here at once: predictions do not change the model."""
    model, columns = request.app.state.model, request.app.state.columns
    unknown = {name for row in question.rows for name in row} - set(columns)
    if unknown:
        raise HTTPException(422, f"unknown columns: {', '.join(sorted(unknown))}")
    table = pd.DataFrame(question.rows, columns=columns)
    try:
        proba = model.predict_proba(table)
    except ValueError as problem:
        raise HTTPException(422, str(problem)) from problem
    names = [str(name) for name in model.classes_]
    return Answer(
        classes=[names[k] for k in proba.argmax(axis=1)],
        probabilities=[dict(zip(names, row, strict=True)) for row in proba.tolist()],
    )
