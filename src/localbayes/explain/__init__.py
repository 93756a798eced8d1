"""Why this prediction: what every attribute and every training row has to do with it.

``explanation.py`` holds the answer, ``reasoning.py`` makes it from a classifier and a table,
``neighbours.py`` adds what a lazy classifier sees around a query, ``other_classes.py`` why it is not another
class, ``words.py`` says it in plain language and ``page.py`` writes it as one HTML file. ``importance.py``
says what matters overall. ``localbayes.plots`` draws it.
"""

from typing import TYPE_CHECKING, Any

from localbayes.explain.explanation import Explanation, LogOdds
from localbayes.explain.importance import Importances, importances
from localbayes.explain.neighbours import KappaCurve, Neighbourhood
from localbayes.explain.page import explanation_page
from localbayes.explain.reasoning import explain
from localbayes.explain.training_rows import TrainingRow
from localbayes.explain.why_not import Change, Counterfactual, WhyNot
from localbayes.explain.words import sentence, why_not_sentence

if TYPE_CHECKING:
    from localbayes.plots.explanation_plot import plot_explanation
    from localbayes.plots.importance_plot import plot_importances
else:

    def __getattr__(name: str) -> Any:
        """Load a drawing, which stands above this package, when it is asked for."""
        if name == "plot_explanation":
            from localbayes.plots.explanation_plot import plot_explanation

            return plot_explanation
        if name == "plot_importances":
            from localbayes.plots.importance_plot import plot_importances

            return plot_importances
        raise AttributeError(f"module 'localbayes.explain' has no attribute {name!r}")


__all__ = [
    "Change",
    "Counterfactual",
    "Explanation",
    "Importances",
    "KappaCurve",
    "LogOdds",
    "Neighbourhood",
    "TrainingRow",
    "WhyNot",
    "explain",
    "explanation_page",
    "importances",
    "plot_explanation",
    "plot_importances",
    "sentence",
    "why_not_sentence",
]
