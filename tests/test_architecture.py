"""The shape of the source tree: the direction of imports, what packages share, the length of files.

The sources are read as syntax trees; nothing of the package is imported.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "localbayes"

# From the lowest to the highest. A layer imports itself and the layers before it.
LAYERS = [
    {"_warnings", "_files", "parameters", "fields", "parallel"},
    {"kernels"},
    {"encoding"},
    {"weka"},
    {"datasets"},
    {"counts"},
    {"classifiers"},
    {"explain"},
    {"auditing"},
    {"plots"},
    {"whatif"},
    {"persistence"},
    {"distributed"},
    {"distributed.dask"},
    {"scale"},
    {"study"},
    {"study.paper"},
    {"cli"},
    {"__init__", "__main__"},
]
LEVEL = {package: level for level, layer in enumerate(LAYERS) for package in layer}

# Imports inside functions or for type checkers that point up: a method of a low layer hands its object over
# to a reader in a higher one. (importing module, package imported)
HAND_OVERS = {
    ("classifiers.explained", "explain"),  # clf.explain(X)
    ("classifiers.leave_one_out", "plots"),  # clf.plot_loo()
    ("classifiers.tan", "plots"),  # clf.plot_tree()
    ("explain", "plots"),  # localbayes.explain.plot_explanation
}

FAMILIES = {
    "EagerClassifier",
    "LazyClassifier",
    "PairClassifier",
    "OneDependence",
    "LeaveOneOut",
    "LocalViews",
}
METHODS = {"LCWNB", "NB", "TAN", "AODE", "WAODE", "HNB", "LWNB", "ICLNB"}

# Names with an underscore that belong to Python's own library, and Dask's name for a sample of a collection.
FOREIGN = {"_getframe", "_exit", "_asdict", "_replace", "_fields", "_make", "_meta"}


class Import(NamedTuple):
    """An import of another package of localbayes, or of something else."""

    importer: str
    imported: str
    names: tuple[str, ...]
    line: int
    at_module_level: bool


def modules() -> dict[str, Path]:
    """Files by the name of their module inside the package; the root is called ``__init__``."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def package_of(module: str) -> str:
    """The layer that a module belongs to: the first part of its name, or two where LAYERS names them so.

    The ``__init__`` of a package with a second layer inside exports names of both, so it belongs to that one.
    """
    first, *rest = module.split(".")
    second = f"{first}.{rest[0]}" if rest else ""
    if second in LEVEL:
        return second
    inner = [name for name in LEVEL if name.startswith(f"{first}.")]
    return inner[0] if not rest and inner and inner[0] in MODULES else first


def deepest(name: str) -> str:
    """The longest part of a dotted name that is a module."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or "__init__"


def imports_of(module: str) -> list[Import]:
    """All imports of a module; those under TYPE_CHECKING are not at module level."""
    found: list[Import] = []

    def visit(node: ast.AST, at_module_level: bool) -> None:
        if isinstance(node, ast.Import):
            found.extend(Import(module, a.name, (), node.lineno, at_module_level) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append(Import(module, node.module or "", names, node.lineno, at_module_level))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for child in node.body:
                visit(child, False)
            for child in node.orelse:
                visit(child, at_module_level)
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                visit(child, at_module_level and not inside)

    visit(tree_of(module), True)
    return found


def own_imports() -> Iterator[tuple[Import, str]]:
    """Every import of localbayes by localbayes, and the module that it reaches; the version is in none."""
    for module in MODULES:
        for found in imports_of(module):
            if found.imported.partition(".")[0] != "localbayes":
                continue
            base = found.imported.removeprefix("localbayes").lstrip(".")
            for name in found.names or ("",):
                if not (base == "" and name == "__version__"):
                    yield found, deepest(f"{base}.{name}".strip("."))


def place(module: str, line: int) -> str:
    return f"{MODULES[module].relative_to(ROOT)}:{line}"


def points_up(importer: str, imported: str) -> bool:
    return LEVEL[package_of(imported)] > LEVEL[package_of(importer)]


def test_every_package_has_a_layer():
    """A reader who knows the list of layers knows every package."""
    assert {package_of(module) for module in MODULES} - set(LEVEL) == set()


def test_imports_point_down():
    """A module can be understood, and loaded, without any module of a higher layer."""
    wrong = [
        f"{place(found.importer, found.line)} imports {imported}"
        for found, imported in own_imports()
        if found.at_module_level and points_up(found.importer, imported)
    ]
    assert not wrong, "\n".join(["", *wrong])


def test_hand_overs_to_higher_layers_are_the_known_ones():
    """A low layer calls a higher one only in the few methods that are listed here."""
    found = {
        (found.importer, package_of(imported))
        for found, imported in own_imports()
        if not found.at_module_level and points_up(found.importer, imported)
    }
    assert found == HAND_OVERS


def test_only_counts_imports_the_kernels():
    """The compiled code has one caller, so that a change to it is a change to one package."""
    wrong = [
        place(found.importer, found.line)
        for found, imported in own_imports()
        if package_of(imported) == "kernels" and package_of(found.importer) not in ("kernels", "counts")
    ]
    assert not wrong, "\n".join(["", *wrong])


def test_work_on_parts_knows_no_engine():
    """What a worker does with a part of a table can be run by any engine: it imports none."""
    wrong = [
        f"{place(found.importer, found.line)} imports {found.imported}"
        for module in MODULES
        if package_of(module) == "distributed"
        for found in imports_of(module)
        if found.imported.partition(".")[0] in ("dask", "distributed")
        or found.imported.startswith("localbayes.distributed.dask")
    ]
    assert not wrong, "\n".join(["", *wrong])


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in ("_", *FOREIGN)


@cache
def private_names(module: str) -> frozenset[str]:
    """Private names that a module defines: functions, methods, variables, attributes of its objects."""
    names: set[str] = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            names.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    return frozenset(name for name in names if is_private(name))


def is_own(node: ast.expr) -> bool:
    """Whether an expression is the object itself: self, cls or super()."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def private_uses(module: str) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """Uses of private attributes, by a dot or by name: the expression, the object and the name."""
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            yield node, node.value, node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            name = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
            if node.func.id in ("getattr", "setattr", "hasattr", "delattr") and is_private(str(name)):
                yield node, node.args[0], str(name)


def test_private_attributes_stay_in_their_package():
    """What begins with an underscore can be renamed by looking at one package.

    An object uses private names of itself that a class of the same package defines. The private names of
    another object are used only in the module that defines them.
    """
    wrong = []
    for module in MODULES:
        package = package_of(module)
        of_package = {
            name for other in MODULES if package_of(other) == package for name in private_names(other)
        }
        for node, owner, name in private_uses(module):
            if name not in (of_package if is_own(owner) else private_names(module)):
                wrong.append(f"{place(module, node.lineno)} {ast.unparse(node)}")
    assert not wrong, "\n".join(["", *wrong])


def test_private_names_are_not_imported_by_other_packages():
    """A private function or module is imported inside its package only; the lowest layer is open to all."""
    wrong = []
    for found, imported in own_imports():
        if package_of(imported) == package_of(found.importer):
            continue
        parts = [part for part in imported.split(".") if is_private(part)]
        names = [name for name in found.names if is_private(name)]
        if [name for name in parts + names if LEVEL.get(name) != 0]:
            wrong.append(f"{place(found.importer, found.line)} imports {imported} {names}")
    assert not wrong, "\n".join(["", *wrong])


def test_only_classifiers_know_their_families():
    """Outside classifiers/ no code asks of which family or method a classifier is: it calls the protocol."""
    wrong = []
    for module in MODULES:
        if package_of(module) == "classifiers":
            continue
        for node in ast.walk(tree_of(module)):
            asked: list[ast.expr] = []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                asked = node.args[1:] if node.func.id in ("isinstance", "issubclass") else []
            elif isinstance(node, ast.Compare) and "type(" in ast.unparse(node):
                asked = [node.left, *node.comparators]
            names = {part.id for one in asked for part in ast.walk(one) if isinstance(part, ast.Name)}
            names |= {part.attr for one in asked for part in ast.walk(one) if isinstance(part, ast.Attribute)}
            if names & (FAMILIES | METHODS):
                wrong.append(f"{place(module, node.lineno)} {ast.unparse(node)}")
    assert not wrong, "\n".join(["", *wrong])


def test_objects_keep_their_class():
    """No object changes its class, and none has all its attributes replaced at once."""
    swapped = {"__class__", "__dict__"}
    wrong = []
    for module in MODULES:
        for node in ast.walk(tree_of(module)):
            stored = (
                isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in swapped
            )
            called = isinstance(node, ast.Call) and "setattr" in ast.unparse(node.func)
            if stored or (
                called and any(isinstance(a, ast.Constant) and a.value in swapped for a in node.args)
            ):
                wrong.append(f"{place(module, node.lineno)} {ast.unparse(node)}")
    assert not wrong, "\n".join(["", *wrong])


def too_long(folder: Path, endings: tuple[str, ...], most: int) -> list[str]:
    files = sorted(path for path in folder.rglob("*") if path.suffix in endings)
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    return [f"{path.relative_to(ROOT)}: {n} lines" for path, n in lengths.items() if n > most]


def test_a_method_fits_on_a_page():
    """The file of every method is shorter than 150 lines."""
    names = [*(name.lower() for name in sorted(METHODS)), "local_bayes"]
    files = [SOURCE / "classifiers" / f"{name}.py" for name in names]
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {name: n for name, n in lengths.items() if n >= 150} == {}


def test_no_source_file_is_longer_than_400_lines():
    """Every source file, Python or C++, can be read in one sitting."""
    wrong = too_long(ROOT / "src", (".py", ".cpp", ".hpp", ".inl"), 400)
    assert not wrong, "\n".join(["", *wrong])


def test_no_test_file_is_longer_than_600_lines():
    """Every file of tests stays short enough to find a test in it."""
    wrong = too_long(ROOT / "tests", (".py", ".cpp", ".hpp"), 600)
    assert not wrong, "\n".join(["", *wrong])


def test_a_file_name_occurs_once_in_the_package():
    """A file name in a traceback or a search tells which module it is."""
    files: dict[str, list[str]] = {}
    for path in MODULES.values():
        files.setdefault(path.name, []).append(str(path.relative_to(SOURCE)))
    wrong = [", ".join(paths) for name, paths in files.items() if len(paths) > 1 and name != "__init__.py"]
    assert not wrong, "\n".join(["", *wrong])
