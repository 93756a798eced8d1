"""Explanations as short text, for a prompt."""

from localbayes.explain.explanation import Explanation, LogOdds
from localbayes.explain.words import odds_factor, probability_text, signed, why_not_sentence

__all__ = ["explanation_text", "log_odds_text"]

_MOST_ROWS, _MOST_REASONS = 5, 3


def explanation_text(explanation: Explanation) -> str:
    """Say in a line for every row what was predicted, and what speaks most for and against it.

    Examples
    --------
    >>> from localbayes import NB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> print(explanation_text(NB().fit(X, ["apple", "pepper", "pepper", "pepper"]).explain(X[1:2])))
    Explanation of 1 row by NB()
      row 0: pepper 0.742, apple 0.258; x1 = long (× 2.4), frequency of the class (× 2.0), x0 = red (÷ 1.7)
    """
    n = len(explanation)
    lines = [f"Explanation of {n} row{'s' * (n != 1)} by {explanation.method}"]
    for row in range(min(n, _MOST_ROWS)):
        lines.append(f"  row {row}: {_row(explanation, row)}")
        if explanation.why_not is not None:
            lines += [f"    {why_not_sentence(other)}" for other in explanation.why_not[row][:_MOST_REASONS]]
    if n > _MOST_ROWS:
        lines.append(f"  and {n - _MOST_ROWS} more")
    return "\n".join(lines)


def _row(explanation: Explanation, row: int) -> str:
    best, second = int(explanation.predicted[row]), int(explanation.runner_up[row])
    shown = [best] if second < 0 else [best, second]
    classes = ", ".join(
        f"{explanation.classes[k]} {probability_text(explanation.proba[row, k])}" for k in shown
    )
    if second < 0:
        return classes
    odds = explanation.log_odds(row)
    reasons = sorted((odds.start, *odds.attributes), key=lambda reason: -abs(reason.log_odds))
    told = ", ".join(f"{reason} ({odds_factor(reason.log_odds)})" for reason in reasons[:_MOST_REASONS])
    return f"{classes}; {told}"


def log_odds_text(odds: LogOdds) -> str:
    """Say what adds up to the log odds, strongest first.

    Examples
    --------
    >>> from localbayes import NB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> NB().fit(X, ["apple", "pepper", "pepper", "pepper"]).explain(X[:1]).log_odds()
    Log odds of apple against pepper, row 0: +1.02
      −0.69  frequency of the class
      +1.20  x1 = round
      +0.51  x0 = red
    """
    lines = [
        f"Log odds of {odds.for_class} against {odds.against_class}, row {odds.row}: {signed(odds.total)}"
    ]
    reasons = [odds.start, *odds.strongest(_MOST_ROWS)]
    width = max(len(signed(reason.log_odds)) for reason in reasons)
    lines += [f"  {signed(reason.log_odds):>{width}}  {reason}" for reason in reasons]
    return "\n".join(lines)
