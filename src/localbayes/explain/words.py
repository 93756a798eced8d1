"""An explanation in plain language."""

import math
import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from localbayes.encoding.columns import number_text, value_text
from localbayes.explain.explanation import Explanation, Reason
from localbayes.explain.why_not import Change, WhyNot

__all__ = [
    "change_parts",
    "change_text",
    "odds_factor",
    "pair_text",
    "probability_text",
    "sentence",
    "signed",
    "why_not_sentence",
]

# A reason that moves the odds by less than a tenth is not worth a word.
_WORTH_A_WORD = math.log(1.1)
_END = r"[-+.e\d]+( \d\d:\d\d:[.\d]+)?"
_OUTER_BIN = re.compile(f"[≤>] {_END}")
_INNER_BIN = re.compile(rf"\({_END}, {_END}\]")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def probability_text(p: float) -> str:
    """A probability to three digits that never pretends to be certain.

    Examples
    --------
    >>> [probability_text(p) for p in (0.25, 0.99999, 1.0, 1e-9)]
    ['0.250', '>0.999', '1', '<0.001']
    """
    if p in (0, 1):
        return str(int(p))
    if p < 0.001:
        return "<0.001"
    return ">0.999" if p > 0.999 else f"{p:.3f}"


def signed(log_odds: float) -> str:
    """A number with its sign.

    Examples
    --------
    >>> signed(1.5), signed(-0.25), signed(-math.inf)
    ('+1.50', '−0.25', '−∞')
    """
    if math.isinf(log_odds):
        return "+∞" if log_odds > 0 else "−∞"
    return "0.00" if abs(log_odds) < 0.005 else f"{log_odds:+.2f}".replace("-", "−")


def odds_factor(log_odds: float) -> str:
    """What log odds do to the odds.

    Examples
    --------
    >>> [odds_factor(math.log(f)) for f in (2.5, 1 / 40, 12345, 2.5e7)]
    ['× 2.5', '÷ 40', '× 12,000', '× 2.5·10⁷']
    """
    sign = "÷" if log_odds < 0 else "×"
    if math.isinf(log_odds):
        return f"{sign} ∞"
    size = abs(log_odds)
    if size < math.log(9.95):
        return f"{sign} {math.exp(size):.1f}" if size > 0.0488 else "× 1.0"
    if size < math.log(999.5):
        return f"{sign} {math.exp(size):.0f}"
    power = math.floor(size / math.log(10))
    mantissa = round(math.exp(size - power * math.log(10)), 1)
    if mantissa >= 10:
        power, mantissa = power + 1, mantissa / 10
    if power < 6:
        return f"{sign} {mantissa * 10**power:,.0f}"
    return f"{sign} {mantissa:g}·10{str(power).translate(_SUPERSCRIPTS)}"


def pair_text(name: str, label: str) -> str:
    """An attribute and a value or bin of it.

    Examples
    --------
    >>> pair_text("colour", "red"), pair_text("age", "(20, 30]"), pair_text("age", "> 70")
    ('colour = red', 'age in (20, 30]', 'age > 70')
    """
    if _OUTER_BIN.fullmatch(label):
        return f"{name} {label}"
    return f"{name} in {label}" if _INNER_BIN.fullmatch(label) else f"{name} = {label}"


def change_text(change: Change) -> str:
    """What would be different in one attribute.

    Examples
    --------
    >>> change_text(Change("colour", "red", "green", "green"))
    'colour = green, not red'
    >>> change_text(Change("age", "35", "> 40", 50.0))
    'age > 40 (such as 50), not 35'
    """
    return "{}{}, not {}".format(*change_parts(change))


def change_parts(change: Change) -> tuple[str, str, str]:
    """The new value, an example of it if it is a bin, and what the row has.

    Examples
    --------
    >>> change_parts(Change("age", "35", "> 40", 50.0))
    ('age > 40', ' (such as 50)', '35')
    """
    value = change.value
    bin_ = isinstance(value, float | datetime | timedelta) and change.after not in (shown := _texts(value))
    return pair_text(change.name, change.after), f" (such as {shown[-1]})" if bin_ else "", change.before


def _texts(value: float | datetime | timedelta) -> list[str]:
    """How a number or time may be written; the last one is for people."""
    return [value_text(value), *([number_text(value)] if isinstance(value, float) else [])]


def why_not_sentence(other: WhyNot) -> str:
    """Say what makes a class win that was not predicted.

    Parameters
    ----------
    other : WhyNot
        From ``clf.explain(X, why_not=True).why_not[row]``.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> from localbayes import NB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> clf = NB().fit(X, ["apple", "pepper", "pepper", "pepper"])
    >>> print(why_not_sentence(clf.explain([["red", "round"]], why_not="pepper").why_not[0][0]))
    For pepper: x1 = long, not round (probability 0.742); or x0 = green, not red (probability 0.519).
    """
    if not other.ways:
        return f"For {other.label}: no change was found that makes it win."
    ways = [
        f"{' and '.join(map(change_text, way.changes))} (probability {probability_text(way.proba)})"
        for way in other.ways
    ]
    return f"For {other.label}: {'; or '.join(ways)}."


def sentence(explanation: Explanation, row: int = 0) -> str:
    """Say what was predicted, how surely, and what speaks most for and against it.

    Parameters
    ----------
    explanation : Explanation
        From ``clf.explain(X)``.
    row : int, default=0
        Row of X.

    Returns
    -------
    str
        A few sentences.

    Examples
    --------
    >>> from localbayes import NB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> clf = NB().fit(X, ["apple", "pepper", "pepper", "pepper"])
    >>> print(sentence(clf.explain([["red", "round"]])))
    Predicted apple with probability 0.735, ahead of pepper with 0.265. What speaks most for apple:
    x1 = round (odds × 3.3), x0 = red (× 1.7). Against: frequency of the class (÷ 2.0).
    """
    explanation.check_row(row)
    predicted = explanation.classes[explanation.predicted[row]]
    certainty = probability_text(explanation.proba[row, explanation.predicted[row]])
    if len(explanation.classes) < 2:
        return f"Predicted {predicted}, the only class that the model knows."
    odds = explanation.log_odds(row)
    reasons = sorted((odds.start, *odds.attributes), key=lambda reason: -abs(reason.log_odds))
    worth = [reason for reason in reasons if abs(reason.log_odds) > _WORTH_A_WORD]
    speaking_for = [reason for reason in worth if reason.log_odds > 0][:3]
    against = [reason for reason in worth if reason.log_odds < 0][:3]
    rival = probability_text(explanation.proba[row, explanation.runner_up[row]])
    text = f"Predicted {predicted} with probability {certainty}, ahead of {odds.against_class} with {rival}."
    text += (
        f" What speaks most for {predicted}: {_listed(speaking_for)}."
        if speaking_for
        else f" Nothing in particular speaks for {predicted}."
    )
    return text + (f" Against: {_listed(against)}." if against else " Nothing much speaks against it.")


def _listed(reasons: Sequence[Reason]) -> str:
    factors = [odds_factor(reason.log_odds) for reason in reasons]
    first = f"odds {factors[0]}" if factors[0][0] == "×" else factors[0]
    return ", ".join(f"{reason} ({f})" for reason, f in zip(reasons, [first, *factors[1:]], strict=True))
