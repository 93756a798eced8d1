"""The embedded sets are Weka's copies, and loading gives declared domains."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.externals import _arff as liac

from localbayes import datasets
from localbayes.datasets import EMBEDDED, ContentError, load, load_arff, load_paper_set
from localbayes.datasets.download import DownloadError

WEKA_EXAMPLES = Path("/usr/share/doc/weka/examples")

# Number of rows of each class as the sets' descriptions at UCI give them.
CLASS_COUNTS = {
    "breast-cancer": [201, 85],
    "credit-g": [700, 300],
    "diabetes": [500, 268],
    "glass": [70, 76, 17, 0, 13, 9, 29],
    "ionosphere": [126, 225],
    "iris": [50, 50, 50],
    "labor": [20, 37],
    "vote": [267, 168],
}


@pytest.fixture(autouse=True)
def nothing_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's cache and the network out of these tests."""
    monkeypatch.setenv("LOCALBAYES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALBAYES_OPENML", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")


def original(name: str, request: pytest.FixtureRequest) -> Path:
    """Weka's own file, from the Debian package or from the folder of the paper's sets."""
    debian = WEKA_EXAMPLES / f"{name}.arff"
    return debian if debian.exists() else request.getfixturevalue("paper_data") / f"{name}.arff"


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_sets_equal_wekas_copies(name: str, request: pytest.FixtureRequest) -> None:
    """Row order, names, declared values and cells are those of Weka's file as liac-arff reads it."""
    text = original(name, request).read_text(encoding="latin-1")
    peer = liac.loads(text)
    X, y = load(name)
    frame = X.assign(**{str(y.name): y})
    assert frame.columns.tolist() == [attribute for attribute, _ in peer["attributes"]]
    for (attribute, kind), cells in zip(peer["attributes"], zip(*peer["data"], strict=True), strict=True):
        column = frame[attribute]
        if isinstance(kind, list):
            assert column.cat.categories.tolist() == kind
            assert [None if pd.isna(cell) else cell for cell in column] == list(cells)
        else:
            np.testing.assert_array_equal(column.to_numpy(), np.array(cells, dtype=np.float64))


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_files_carry_no_foreign_text(name: str) -> None:
    """The only comments are our three lines at the top; every set is named in the licence file."""
    path = datasets.embedded_path(name)
    comments = [line for line in path.read_text(encoding="ascii").splitlines() if line.startswith("%")]
    assert len(comments) == 3
    licences = (path.parent / "DATA-LICENSES").read_text(encoding="utf-8")
    assert re.search(rf"^{name} +\S", licences, re.MULTILINE)


@pytest.mark.parametrize("name", CLASS_COUNTS)
def test_class_counts_are_the_published_ones(name: str) -> None:
    """The classes have as many rows as the sets' descriptions say, in declared order."""
    X, y = load(name)
    assert sorted(y.value_counts(sort=False).tolist()) == sorted(CLASS_COUNTS[name])
    assert len(X) == len(y) == sum(CLASS_COUNTS[name])


def test_dtypes_are_the_promised_ones() -> None:
    """Nominal attributes are categories in declared order, numeric ones float64, missing cells NaN."""
    X, y = load("labor")
    assert X["duration"].dtype == np.float64
    assert X["pension"].cat.categories.tolist() == ["none", "ret_allw", "empl_contr"]
    assert not X["pension"].cat.ordered
    assert X["pension"].isna().sum() == 30
    assert y.cat.categories.tolist() == ["bad", "good"]
    assert y.name == "class"
    assert "class" not in X


def test_target_by_name(tmp_path: Path) -> None:
    """Any attribute may be the target; a name that is absent gets the names close to it."""
    path = datasets.embedded_path("vote")
    X, y = load_arff(path, target="immigration")
    assert y.name == "immigration"
    assert X.columns[-1] == "Class"
    assert X.shape == (435, 16)
    with pytest.raises(
        ValueError, match=r"vote.arff: no attribute is called 'imigration'; did you mean 'immigr"
    ):
        load_arff(str(path), target="imigration")
    with pytest.raises(
        ValueError, match=r"no attribute is called '0'; expected one of 'handicapped-infants', "
    ):
        load_arff(path, target="0")


def test_text_and_numeric_targets(tmp_path: Path) -> None:
    """String and date columns come as text with missing cells; a numeric target stays numeric."""
    path = tmp_path / "t.arff"
    path.write_text(
        "@relation r\n@attribute s string\n@attribute d date\n@attribute n real\n@data\n'a b',?,1\n?,x,2\n"
    )
    X, y = load_arff(path)
    assert X["s"].isna().tolist() == [False, True]
    assert X["s"][0] == "a b"
    assert X["d"].isna().tolist() == [True, False]
    assert y.tolist() == [1.0, 2.0]


def test_empty_table_and_unused_domains(tmp_path: Path) -> None:
    """A file without rows still declares its domains, an empty domain included."""
    path = tmp_path / "t.arff"
    path.write_text("@relation r\n@attribute e {}\n@attribute n real\n@attribute c {p,q}\n@data\n")
    X, y = load_arff(path)
    assert X.shape == (0, 2)
    assert len(X["e"].cat.categories) == 0
    assert y.cat.categories.tolist() == ["p", "q"]


def test_unknown_names_are_refused_with_suggestions() -> None:
    """A mistyped name gets the likely one, a far-off name the list."""
    with pytest.raises(ValueError, match="no embedded data set is called 'Iris'; did you mean 'iris'"):
        load("Iris")
    with pytest.raises(ValueError, match="expected one of 'breast-cancer', 'credit-g'"):
        load("q")
    with pytest.raises(ValueError, match="no data set of the paper is called 'zooo'; did you mean 'zoo'"):
        load_paper_set("zooo")


def test_paper_sets_lose_their_identifiers(paper_data: Path) -> None:
    """Hospital Number, Instance_name and animal are left out, nothing else is."""
    for name, attribute, m in (
        ("colic.ORIG", "Hospital Number", 28),
        ("splice", "Instance_name", 62),
        ("zoo", "animal", 18),
    ):
        X, y = load_paper_set(name, paper_data)
        whole, target = load_arff(paper_data / f"{name}.arff")
        assert X.shape[1] == m - 2
        assert X.columns.tolist() == [column for column in whole if column != attribute]
        assert y.equals(target)


def test_sources_in_order(tmp_path: Path) -> None:
    """A folder comes before the cache; without both and without a network the embedded copy serves."""
    X, _ = load_paper_set("iris")
    assert X.shape == (150, 4)
    folder, cache = tmp_path / "folder", tmp_path / "cache"
    folder.mkdir()
    assert load_paper_set("iris", folder, download=False)[0].equals(X)

    text = datasets.embedded_path("iris").read_text()
    renamed = text.replace("sepallength", "from-cache")
    cache.mkdir(exist_ok=True)
    (cache / "iris.arff").write_text(renamed)
    assert load_paper_set("iris", folder)[0].columns[0] == "from-cache"
    assert load_paper_set("iris", cache=tmp_path / "other", download=False)[0].columns[0] == "sepallength"
    (folder / "iris.arff").write_text(text.replace("sepallength", "from-folder"))
    assert load_paper_set("iris", folder)[0].columns[0] == "from-folder"


def test_other_content_in_the_folder_is_refused(tmp_path: Path) -> None:
    """A file that is not Weka's copy is named and refused; the embedded copy does not hide it."""
    text = datasets.embedded_path("iris").read_text()
    (tmp_path / "iris.arff").write_text(text.replace("5.1,3.5,1.4,0.2", "5.1,3.5,1.4,0.3", 1))
    with pytest.raises(
        ContentError, match=r"iris.arff is not the paper's iris \(values, their order or rows differ"
    ):
        load_paper_set("iris", tmp_path)
    (tmp_path / "iris.arff").write_text(text + "5.1,3.5,1.4,0.2,Iris-setosa\n")
    with pytest.raises(ContentError, match="expected 150 rows of 5 attributes, got 151 rows of 5"):
        load_paper_set("iris", tmp_path)
    with pytest.raises(ValueError, match=r"not a folder; expected one with iris.arff in it"):
        load_paper_set("iris", tmp_path / "absent")


def test_renamed_identifier_is_an_error(tmp_path: Path, paper_data: Path) -> None:
    """The identifier to leave out must be found by its name, or nothing is loaded."""
    text = (paper_data / "zoo.arff").read_text()
    (tmp_path / "zoo.arff").write_text(text.replace("animal", "beast"))
    with pytest.raises(ContentError, match="zoo: no attribute is called 'animal'"):
        load_paper_set("zoo", tmp_path)


def test_a_set_that_is_nowhere(tmp_path: Path) -> None:
    """Without file, cache and network the message says what to do."""
    with pytest.raises(DownloadError, match="localbayes data download zoo"):
        load_paper_set("zoo", download=False)


def test_without_pandas() -> None:
    """Without pandas the package still reads ARFF; loading a DataFrame says what to install."""
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from localbayes import datasets\n"
        "assert len(datasets.read_arff(datasets.embedded_path('iris'))) == 150\n"
        "try:\n    datasets.load('iris')\n"
        "except ImportError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert "pip install pandas" in done.stdout
