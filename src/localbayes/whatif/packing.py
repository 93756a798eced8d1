"""Numbers and text as a page can hold them: arrays in base64, JSON that no browser takes for markup."""

import base64
import json
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["packed", "safe_json"]

_LARGEST = {"u1": 2**8 - 1, "u2": 2**16 - 1, "u4": 2**32 - 1}


def packed(array: npt.ArrayLike) -> dict[str, str]:
    """An array as text: whole numbers in as few bytes as the largest needs, others in eight each.

    Examples
    --------
    >>> packed(np.array([1, 0, 255])), packed(np.array([0.5]))["kind"]
    ({'kind': 'u1', 'data': 'AQD/'}, 'f8')
    """
    given = np.asarray(array).ravel()
    kind = "f8"
    if given.dtype.kind in "biu" and given.min(initial=0) >= 0:
        largest = int(given.max(initial=0))
        kind = next((name for name, most in _LARGEST.items() if largest <= most), "f8")
    data = np.ascontiguousarray(given, dtype=f"<{kind}").tobytes()
    return {"kind": kind, "data": base64.b64encode(data).decode("ascii")}


def safe_json(value: Any) -> str:
    r"""JSON for a script element: what could end the element, or be read as markup, is written as an escape.

    Examples
    --------
    >>> safe_json(["</script>", "&"])
    '["\\u003c/script\\u003e","\\u0026"]'
    """
    # In ASCII there are no line separators, and text that is no valid Unicode survives, too.
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
