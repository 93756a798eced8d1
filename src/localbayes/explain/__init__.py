"""Why this prediction: what every attribute and every training row has to do with it.

``explanation.py`` holds the answer, ``reasons.py`` makes it from a classifier and a table, ``local.py``
adds what a lazy classifier sees around a query, ``words.py`` says it in plain language, ``plot.py`` draws
it and ``page.py`` writes it as one HTML file.
"""

from localbayes.explain.explanation import Explanation, LogOdds
from localbayes.explain.local import KappaCurve, Neighbourhood, TrainingRow
from localbayes.explain.page import explanation_page
from localbayes.explain.plot import plot_explanation
from localbayes.explain.reasons import explain
from localbayes.explain.words import sentence

__all__ = [
    "Explanation",
    "KappaCurve",
    "LogOdds",
    "Neighbourhood",
    "TrainingRow",
    "explain",
    "explanation_page",
    "plot_explanation",
    "sentence",
]
