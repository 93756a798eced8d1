"""How the site is built: `make docs`."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import sys
import types
from pathlib import Path
from typing import Any

from numpydoc.validate import validate
from sklearn.base import BaseEstimator

import localbayes

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "localbayes"
author = "The localbayes developers"
copyright = f"{author}; version {localbayes.__version__}"
version = release = localbayes.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.py.md5", "gallery/*.zip"]
templates_path = ["_templates"]
default_role = "literal"
suppress_warnings = ["config.cache"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "html_image", "attrs_inline"]
# The pages are also read as plain Markdown, where a link to a test or a source opens the file.
myst_url_schemes = ["http", "https", "mailto"]

# The reference: what a docstring says, nothing twice, and of scikit-learn's own methods nothing at all.
autosummary_generate = True
# Methods that stand first on the page of a classifier, before the protocol of formulas and clusters.
USER_METHODS = (
    *("fit", "partial_fit", "forget", "predict", "predict_proba", "predict_log_proba", "predict_set"),
    *("decide", "explain", "importances"),
)
autosummary_context = {"user_methods": USER_METHODS}
# What numpydoc must not find in the docstring of a function, a classifier or one of these methods: no
# docstring, or parameters that are missing, unknown or without a word on what they do.
REFUSED = {"GL08", "PR01", "PR02", "PR07"}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "gallery_order.InOrder",
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "reset_modules_order": "before",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "min_reported_time": 1000,
}

html_theme = "pydata_sphinx_theme"
html_title = "localbayes"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "localbayes"},
    "navbar_start": ["navbar-logo"],
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}

# Modules of the reference in the order of the page. What two of them share stands with the first.
MODULES = {
    "localbayes": "Classifiers and model files",
    "localbayes.explain": "Why a prediction was made",
    "localbayes.whatif": "What if?",
    "localbayes.auditing": "What is wrong with a table",
    "localbayes.plots": "Drawings",
    "localbayes.datasets": "Data sets and files",
    "localbayes.study": "Studies",
    "localbayes.weka": "Weka's folds, filters and test",
    "localbayes.distributed": "Tables larger than a machine",
    "localbayes.classifiers": "For a classifier of your own",
    "localbayes.encoding": "Tables as integer codes",
    "localbayes.counts": "Counts that add up",
    "localbayes.persistence": "Model files",
}
# Packages without a page: commands have one in the guide, kernels are behind counts, scale is an old name.
NO_PAGE = {"localbayes.cli", "localbayes.kernels", "localbayes.scale"}


def public_objects(module: str) -> dict[str, Any]:
    """What a module offers, by name; of a package without names of its own, the plots of its modules."""
    package = importlib.import_module(module)
    if hasattr(package, "__all__"):
        return {f"{module}.{name}": getattr(package, name) for name in package.__all__}
    found: dict[str, Any] = {}
    for folder in package.__path__:
        for path in sorted(Path(folder).glob("[!_]*.py")):
            offered = public_objects(f"{module}.{path.stem}")
            found |= {name: thing for name, thing in offered.items() if "plot_" in name.rpartition(".")[2]}
    return found


def check_parameters(name: str, thing: Any) -> None:
    """Refuse a public function or classifier that does not say what its parameters are."""
    names = [name]
    if inspect.isclass(thing):
        # What only the package makes, such as an explanation, describes its attributes.
        names = [name] if issubclass(thing, BaseEstimator) else []
        names += [f"{name}.{method}" for method in USER_METHODS if hasattr(thing, method)]
    for checked in names:
        found = [message for code, message in validate(checked)["errors"] if code in REFUSED]
        if found:
            raise ValueError(f"{checked}: {'; '.join(found)}")


def write_reference() -> None:
    """Write a page for every module, so that no public name is forgotten."""
    packages = [found.name for found in pkgutil.iter_modules(localbayes.__path__) if found.ispkg]
    if forgotten := {f"localbayes.{name}" for name in packages} - NO_PAGE - set(MODULES):
        raise ValueError(f"docs/conf.py names no page for {', '.join(sorted(forgotten))}: add it to MODULES")
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    seen: set[int] = set()
    rows = []
    for module, title in MODULES.items():
        objects = public_objects(module)
        own = {name: thing for name, thing in objects.items() if id(thing) not in seen}
        seen |= {id(thing) for thing in own.values()}
        # Names of types for type checkers (Codes, Floats) have no page.
        called = [name for name, thing in own.items() if inspect.isclass(thing) or inspect.isroutine(thing)]
        called = [name for name in called if not isinstance(own[name], types.GenericAlias)]
        for name in called:
            check_parameters(name, own[name])
        lines = [title, "=" * len(title), "", f".. currentmodule:: {module}", ""]
        about = (importlib.import_module(module).__doc__ or "").strip()
        lines += [about, "", ".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
        lines += [f"   {name.removeprefix(f'{module}.')}" for name in sorted(called, key=str.lower)]
        (folder / f"{module}.rst").write_text("\n".join([*lines, ""]), encoding="utf-8")
        rows.append(module)
    lines = ["Reference", "=========", "", "Everything public, with examples that run as tests.", ""]
    lines += [".. toctree::", "   :maxdepth: 1", "", *(f"   {MODULES[name]} <{name}>" for name in rows), ""]
    (folder / "index.rst").write_text("\n".join(lines), encoding="utf-8")


# Files beside this folder that have a page of their own on the site.
PAGES_ELSEWHERE = {
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
    "../SECURITY.md": "security.md",
    "../benchmarks/RESULTS.md": "results.md",
}


def further_pages() -> list[str]:
    """Pages that no table of contents names; they stand at the end of the guide."""
    index = "".join(
        (HERE / f"{name}.md").read_text(encoding="utf-8") for name in ("guide", "research", "develop")
    )
    named = {*index.split(), "index", "guide", "research", "develop"}
    return sorted(path.stem for path in HERE.glob("*.md") if path.stem not in named)


def mend_links(app: Any, docname: str, source: list[str]) -> None:
    """Lead links that are right for a reader of the files to the pages of the site."""
    if docname == "guide":
        source[0] = source[0].replace("\npolicy\n", "\n".join(["", *further_pages(), "policy", ""]))
    for file, page in PAGES_ELSEWHERE.items():
        source[0] = source[0].replace(f"]({file}", f"]({page}")
    # A link to a source or a test has no page: its text stays.
    source[0] = re.sub(
        r"\[([^\]]+)\]\(\.\./(?:tests|src|tools|benchmarks|examples)/[^)]*\)", r"\1", source[0]
    )


def mend_included(app: Any, relative: Any, parent: str, content: list[str]) -> None:
    """Lead links of a file that is included from the folder above to the pages of the site."""
    content[0] = re.sub(r"\]\((?:docs/|\.\./docs/)([\w-]+\.md)", r"](\1", content[0])
    for file, page in PAGES_ELSEWHERE.items():
        content[0] = content[0].replace(f"]({file.removeprefix('../')}", f"]({page}")
    content[0] = re.sub(r"\[([^\]]+)\]\((?:src|tests|tools|growth)[^)]*\)", r"\1", content[0])


def skip_member(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the methods that scikit-learn makes for its routing of metadata."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing|set_output", name) else None


def setup(app: Any) -> None:
    """Connect the above."""
    write_reference()
    app.connect("source-read", mend_links)
    app.connect("include-read", mend_included)
    app.connect("autodoc-skip-member", skip_member)
