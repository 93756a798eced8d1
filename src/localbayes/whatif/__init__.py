"""What if? A page on which the values of a row are changed and the prediction moves.

``what_if_page.py`` writes the page; ``formula_fields.py`` gives the numbers of the classifier's formula,
``controls.py`` a control for every attribute, ``packing.py`` makes both fit for a page. The formulas
themselves are in ``scripts/``, JavaScript modules that ``bundle.py`` joins into one script.
"""

from localbayes.whatif.what_if_page import MAX_PAGE_BYTES, what_if, what_if_page

__all__ = ["MAX_PAGE_BYTES", "what_if", "what_if_page"]
