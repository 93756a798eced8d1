"""The modules of the page: whole, without circles, and safe to join into one script."""

import re

from localbayes.whatif.bundle import SCRIPTS, module_order, script

FILES = {path.stem: path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js")}
TOP_LEVEL = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)


def test_every_module_is_in_the_page():
    """Nothing in the folder is left over, and modules come after those that they import."""
    order = module_order()
    assert sorted(order) == sorted(FILES)
    for name, text in FILES.items():
        assert all(order.index(imported) < order.index(name) for _, imported in IMPORT.findall(text))


def test_names_at_top_level_occur_once():
    """In one script no module hides a name of another."""
    names = [name for text in FILES.values() for name in TOP_LEVEL.findall(text)]
    assert len(names) == len(set(names))


def test_imports_name_what_is_exported_and_used():
    """A module can be loaded as it stands: what it imports is exported there, and is used."""
    for text in FILES.values():
        for names, module in IMPORT.findall(text):
            for name in (part.strip() for part in names.split(",")):
                assert re.search(rf"^export (?:function|class|const) {name}\b", FILES[module], re.MULTILINE)
                assert len(re.findall(rf"\b{name}\b", text)) > 1


def test_the_script_can_stand_in_a_page():
    """It does not end its element, asks for nothing, and makes no markup from text."""
    code = script()
    assert not re.search(r"</script|<!--", code, re.IGNORECASE)
    assert not re.search(
        r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|eval|fetch|XMLHttpRequest|import)\b\W", code
    )
    assert "export" not in code


def test_modules_can_be_read_in_one_sitting():
    """Every module is shorter than 300 lines and begins with what it is for."""
    for name, text in FILES.items():
        assert len(text.splitlines()) < 300, name
        assert text.startswith("// "), name
        assert max(map(len, text.splitlines())) <= 120, name
