"""The 36 data sets of the paper: sizes as printed, attributes left out, OpenML ids and digests."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from localbayes.datasets.arff import ArffError, read_arff
from localbayes.datasets.table import Table, digest

__all__ = [
    "PAPER_SETS",
    "ContentError",
    "PaperSet",
    "close_names",
    "find",
    "no_such",
    "read_checked",
    "verify",
]

_DROPPED = {"colic.ORIG": ("Hospital Number",), "splice": ("Instance_name",), "zoo": ("animal",)}

# name, n, m, r, OpenML id, digest of the table
_SETS = """
anneal          898 39  6   2 b28625a095e353d2310acc8cdcb174e1729955ad34427c952f7d8569c523249c
anneal.ORIG     898 39  6   1 abdf4cf4b0ff6205a073dc24302cb3ea47dbf66da99b896b5e30748c97ccdee5
audiology       226 70 24   7 fcd591b3cc9d178bb10ce00fb1283f719411623a018d835c7811c95efaeeed8f
autos           205 26  7   9 43fa66d52268b5e61020a8cf19cf8dedbd0ebf0ae62c481e2e2db6ff58f06418
balance-scale   625  5  3  11 e78b23da21d39dcec04fb4129a395c091c70d9894ae17ec1236da4991a975ca3
breast-cancer   286 10  2  13 86958e52be03b97839a1d9a69977b110db73e6d74feeef9e52eaec91eff58f5f
breast-w        699 10  2  15 e3705670cd9aeb17a4555af703a76d8b5625fe9f937fcc71c0689610ec1d9e98
colic           368 23  2  27 e69c05f0dfbb279f8b9ae1775915324f2511b54b673013ed6af344d9ede2fb5a
colic.ORIG      368 28  2  25 42fa19c51280ff8a1a932b45e199e141f6719bb860a0b1ed7e1688dfdfd85a78
credit-a        690 16  2  29 2628eea26304164ab57a6bca878f60fbae1187c7d5117c4e8ffce44d2ee7f618
credit-g       1000 21  2  31 ddd98e123edc6bfcb9600b9b381d09b581ad14344a92980311343c6a39de8443
diabetes        768  9  2  37 c968c90f825a781ad4aed5d568479cc29f774eff17f1150558ed5793ec33dbc4
glass           214 10  7  41 42e13e565a524d3f5f4aa6a3e6ad475395d5b625d0c66b530fa63bbacfa6ead7
heart-c         303 14  5  49 c8292c26af21a770befa1cd4bb5e86ddb2b0313576c435c61d21fa31294268c4
heart-h         294 14  5  51 29b711602966496d87f86f0c3e91b413d4c57cd587b225ba8dbce7dd28f29249
heart-statlog   270 14  2  53 a4577454670385429e7ccd1e4ed82be579257ede67a459d82b8045ecaa85b326
hepatitis       155 20  2  55 2de93d2a7233cb2795b15b555f96e2df7b0bb43df9363dcd2fd0b9e507128b75
hypothyroid    3772 30  4  57 30b1f87fad356eb33e63a9d8f6539ba5cda6f672ea8d2d3a0570fedab071c3e9
ionosphere      351 35  2  59 e54e127e92b78fb5c25a108a3a84f717767d38acdb2f59f8ad7f757dd3875b0e
iris            150  5  3  61 918e9d1fe1c707a91819a9b72466b84584907ac719aa4f75a248aaaea1441b07
kr-vs-kp       3196 37  2   3 c000b7636a289242bca58ecddf16021019830d9bcf0d3e82bae437788cc9bdeb
labor            57 17  2   4 889d9e8eba5b14370f84d6e14770f9d1e84b6ad2fd5b08793176b3544e5c8143
letter        20000 17 26   6 5c45e73b37b5158f25f9a8955decff627a722ec69c85944c58cea777a2aff13c
lymph           148 19  4  10 a516a7cdba15e25bff2685150e39bfbd1b743d25e24ccf1f84f7d3486f207ada
mushroom       8124 23  2  24 e4284410d6dfb11f4ac047f7ecd0f9004286238c29d281b818d3544ffb0fcfdd
primary-tumor   339 18 21 171 6db4cb5b006146830218bbc244df6a2a47acae226c39f83d7fa4ff9304d20799
segment        2310 20  7  36 db496d3362a7e988cfbb5b1daab4cbb45dc2436b86d959591aac382adde1a0e1
sick           3772 30  2  38 267afe0e7408ad740177913235e173b28ec8a59c546c3311520ce6d317f01886
sonar           208 61  2  40 461629f830f74c106ce5589e28abc2922a0c07ff74ac527c3faf88d31c7b9c39
soybean         683 36 19  42 fc4796ec9afc9b34d5ddf19c3a817ffae771bb62655ba8dad11c425cbed32a0c
splice         3190 62  3  46 601490909a8c451e698c433de12fe6a6008027ae72041346802570288b6b8e57
vehicle         846 19  4  54 f137e87a92f43bcb15d64ecdb56bf44a6b922a5c12f8f66e46757294cca18f24
vote            435 17  2  56 00a85b56c5d5a1de26c254ecbb058b8655e3f56b33707541e090090c01864c4e
vowel           990 14 11 307 a933386107e13089f77964ceb988735aa681eb8497d41dfd296c09593c8b959f
waveform-5000  5000 41  3  60 86e8ae4b7a1631c7287cf1604a9485db4de310f4aec2d19b28862cb0155fa823
zoo             101 18  7  62 2cdda261f5a9ef7626772c824f0fd914bed5f26f873022bf82eac88b1cc2b03e
"""


@dataclass(frozen=True)
class PaperSet:
    """One of the paper's data sets.

    Attributes
    ----------
    name : str
        Name in the paper's tables; the file is ``<name>.arff``.
    n, m, r : int
        Rows, attributes (the class counted, nothing dropped yet) and classes as the paper prints them. For
        primary-tumor that is r = 21, the classes that occur; the data declare 22.
    dropped : tuple of str
        Attributes that identify a row and are left out before learning.
    openml_id : int
        Number of the data set at OpenML.
    digest : str
        `localbayes.datasets.table.digest` of Weka's copy.
    """

    name: str
    n: int
    m: int
    r: int
    dropped: tuple[str, ...]
    openml_id: int
    digest: str


def _parse(line: str) -> PaperSet:
    name, n, m, r, openml_id, hexadecimal = line.split()
    return PaperSet(name, int(n), int(m), int(r), _DROPPED.get(name, ()), int(openml_id), hexadecimal)


PAPER_SETS: dict[str, PaperSet] = {
    paper_set.name: paper_set for paper_set in map(_parse, _SETS.strip().splitlines())
}
"""The paper's data sets by name, in the paper's order."""


class ContentError(ValueError):
    """A file whose content is not the registered one."""


def close_names(got: str, known: Iterable[str]) -> str:
    """List up to three known names that are close to a misspelt one."""
    return " or ".join(map(repr, difflib.get_close_matches(got, list(known), n=3, cutoff=0.6)))


def no_such(what: str, got: str, known: Iterable[str]) -> str:
    """Message about an unknown name: what came, and which known names are close."""
    names = list(known)
    close = close_names(got, names)
    if close:
        return f"no {what} {got!r}; did you mean {close}?"
    shown = ", ".join(map(repr, names[:12]))
    return f"no {what} {got!r}; expected one of {shown}{', ...' if len(names) > 12 else ''}"


def find(name: str) -> PaperSet:
    """Return the registered set of that name.

    Parameters
    ----------
    name : str
        Name in the paper's tables.

    Returns
    -------
    PaperSet
        The set.

    Examples
    --------
    >>> find("zoo").dropped
    ('animal',)
    """
    if name not in PAPER_SETS:
        raise ValueError(no_such("data set of the paper is called", name, PAPER_SETS))
    return PAPER_SETS[name]


def read_checked(path: Path, paper_set: PaperSet) -> Table:
    """Read a file and refuse it unless it holds the registered content.

    Parameters
    ----------
    path : Path
        An ARFF file.
    paper_set : PaperSet
        What it should hold.

    Returns
    -------
    Table
        The whole table, identifier attributes included.

    Raises
    ------
    ContentError
        If rows, their order, declared values or cells differ from Weka's copy.
    ArffError
        If the file is not valid ARFF.

    Examples
    --------
    >>> from localbayes.datasets import embedded_path
    >>> len(read_checked(embedded_path("iris"), find("iris")))
    150
    """
    if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be waited for
        raise ContentError(f"{path} is not a regular file; expected {paper_set.name} in ARFF")
    table = read_arff(path)
    found = digest(table)
    if found == paper_set.digest:
        return table
    expected = f"{paper_set.n} rows of {paper_set.m} attributes"
    got = f"{len(table)} rows of {len(table.attributes)} attributes"
    cause = f"expected {expected}, got {got}" if got != expected else "values, their order or rows differ"
    raise ContentError(
        f"{path} is not the paper's {paper_set.name} ({cause}; digest {found[:12]}, expected "
        f"{paper_set.digest[:12]}): give Weka's copy of the file"
    )


def verify(folder: Path) -> dict[str, str | None]:
    """Compare a folder of ARFF files with the registry.

    Parameters
    ----------
    folder : Path
        Where ``<name>.arff`` are looked for.

    Returns
    -------
    dict
        For each set whose file exists: None if it holds the registered content, else what is wrong.

    Examples
    --------
    >>> from localbayes.datasets import embedded_path
    >>> verify(embedded_path("iris").parent)["iris"] is None
    True
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; expected one with ARFF files named like iris.arff")
    verdicts: dict[str, str | None] = {}
    for name, paper_set in PAPER_SETS.items():
        path = folder / f"{name}.arff"
        if path.exists():
            try:
                read_checked(path, paper_set)
                verdicts[name] = None
            except (ContentError, ArffError, OSError) as error:
                verdicts[name] = str(error)
    return verdicts
