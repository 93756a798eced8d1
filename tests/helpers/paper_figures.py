"""What the paper publishes beside its table: p-values and Figure 2."""

from __future__ import annotations

PUBLISHED = {
    "friedman-kappa": "0.2366",
    "iman-davenport-kappa": "0.2393",
    "quade-kappa": "0.1449",
    "wilcoxon-LCWNB10": "0.2256",
    "wilcoxon-LCWNB20": "0.08192",
    "middle-count": "3.808e-07",
    "first-count": "0.02835",
    "pattern-m": "8.99e-06",
    "sign-threshold": "0.06625",
    "mean-rank-LCWNB5": "0.05855",
    "mean-rank-LCWNB*": "0.01559",
}


# Figure 2 as the paper prints it.
FIGURE_2 = {
    "n": """
LCWNB5 : 3 1 1 3 3 1 1 2 1 2 3 3 3 3 1 2-1 1 3 3 2 3 3 1 1-1 1 3 1 1 1 3-1 1 2 1
LCWNB10: 2 * * 2 2 2 2 1 2 3 * 2 2 2 2 1-2 2 2 1 1 * 2 2 2-2 2 2 2 2 2 2-2 2 2 2
LCWNB20: 1 * * 1 1 3 3 3 3 1 * 1 1 1 3 3-3 3 1 2 3 * 1 3 3-3 3 1 3 3 3 1-3 3 2 3""",
    "m": """
LCWNB5 : 3-3 3 3-3-2 3-3-2-1 2 3-1-1 3-1 1-1 3-1 3 2-1 1 2 3-1 1 3 1 1-1 1 1 1 1
LCWNB10: 2-2 2 *-*-1 2-2-3-2 1 2-2-2 2-* *-2 2-2 2 2-2 2 1 2-2 2 1 2 2-2 2 2 2 2
LCWNB20: 1-1 1 *-*-3 1-1-1-3 3 1-3-3 1-* *-3 1-3 1 2-3 3 3 1-3 3 2 3 3-3 3 3 3 3""",
    "r": """
LCWNB5 : 3-3-3-3-3-3-2-2-2-2-1-1-1-1-1-1 3-3-1-1 3-1-1 3-3 1-1 2-1-1-1 1 3 3 1 1
LCWNB10: 2-2-2-2-*-*-3-2-1-1-2-2-2-2-2-2 2-2-2-2 2-*-2 2-2 2-2 1-*-2-2 2 1 2 2 2
LCWNB20: 1-1-1-1-*-*-1-2-3-3-3-3-3-3-3-3 1-1-3-3 1-*-3 1-1 3-3 3-*-3-3 3 2 1 3 3""",
}
