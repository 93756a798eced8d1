"""The modules of the page as one script."""

import re
from functools import cache
from pathlib import Path

__all__ = ["SCRIPTS", "module_order", "script"]

SCRIPTS = Path(__file__).parent / "scripts"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) )", re.MULTILINE)


def module_order(first: str = "main") -> list[str]:
    """Names of the modules that a module needs, and its own, each after those it imports.

    Examples
    --------
    >>> module_order("shares")
    ['numbers', 'shares']
    """
    order: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"modules import each other in a circle: {' → '.join((*above, name))}")
        if name not in order:
            for imported in _IMPORT.findall(_read(name)):
                visit(imported, (*above, name))
            order.append(name)

    visit(first, ())
    return order


@cache
def script(first: str = "main") -> str:
    """One script of a module and all that it imports; names at top level are different in all modules.

    Examples
    --------
    >>> "import" in script("shares"), "export" in script("shares")
    (False, False)
    """
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", _read(name))) for name in module_order(first))


@cache
def _read(name: str) -> str:
    return (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")
