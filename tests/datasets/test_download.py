"""Downloads against a server on this machine that can also stall, truncate and lie."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from localbayes._files import place_atomically
from localbayes.datasets import (
    PAPER_SETS,
    ContentError,
    Table,
    _transfer,
    digest,
    load_paper_set,
)
from localbayes.datasets.download import DownloadError, cache_dir, cached, fetch
from openml_server import IRIS, VOTE, Behaviour, Server, dripping, saying, stalling, truncating

Get = Callable[..., Table]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with Server() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """Seconds that a download asked to wait; nothing waits in these tests."""
    return []


@pytest.fixture
def get(server: Server, tmp_path: Path, waits: list[float]) -> Get:
    """Fetch a set from the server into an empty cache."""

    def get(name: str = "iris", **options: object) -> Table:
        settings = {"base_url": server.url, "timeout": 5.0, "sleep": waits.append, **options}
        return fetch(name, tmp_path, **settings)  # type: ignore[arg-type]

    return get


def kept(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_good_server(get: Get, server: Server, tmp_path: Path, waits: list[float]) -> None:
    """The description is asked by OpenML number, the file is placed as it came, and asked for only once."""
    seen: list[tuple[int, int | None]] = []
    get(progress=lambda done, total: seen.append((done, total)))
    assert [path for path, _ in server.requests] == ["/api/v1/json/data/61", "/data/v1/download/61/set.arff"]
    assert (tmp_path / "iris.arff").read_bytes() == IRIS
    assert kept(tmp_path) == {"iris.arff"}
    assert seen[-1] == (len(IRIS), len(IRIS))
    get()
    assert len(server.requests) == 2
    assert waits == []


def test_file_address_from_the_file_number(get: Get, server: Server) -> None:
    """A description without an address names a file number, which is enough."""
    server.descriptions = [saying(b'{"data_set_description": {"file_id": "7"}}')]
    get()
    assert server.requests[1][0] == "/data/v1/download/7"


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_passing_troubles_are_retried(get: Get, server: Server, waits: list[float], status: int) -> None:
    """An overloaded server is asked again after 1, 2, 4 ... seconds, or as long as it asks for."""
    server.descriptions = [saying(b"", status), saying(b"", status, Retry_After="7")]
    server.files = [saying(b"", status), saying(b"", status, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT")]
    get()
    assert waits == [1.0, 7.0, 1.0, 2.0]


def test_waits_are_bounded(get: Get, server: Server, waits: list[float]) -> None:
    """A server that asks for a day gets a minute."""
    server.descriptions = [saying(b"", 503, Retry_After="86400")]
    get()
    assert waits == [60.0]


def test_a_truncated_transfer_goes_on_where_it_stopped(get: Get, server: Server, tmp_path: Path) -> None:
    """Three cut connections and then the rest make one whole file."""
    server.files = [truncating(1000), truncating(1000), truncating(1)]
    get()
    assert server.ranges == [None, "bytes=1000-", "bytes=2000-", "bytes=2001-"]
    assert (tmp_path / "iris.arff").read_bytes() == IRIS


def test_a_stalled_transfer_goes_on_where_it_stopped(get: Get, server: Server, tmp_path: Path) -> None:
    """A server that falls silent is left after the timeout, and what it sent is kept."""
    server.files = [stalling(1500), stalling(0)]
    get(timeout=0.3)
    assert server.ranges == [None, "bytes=1500-", "bytes=1500-"]
    assert (tmp_path / "iris.arff").read_bytes() == IRIS


def test_a_stalled_description_is_retried(get: Get, server: Server) -> None:
    """A server that accepts the question and never answers is asked again."""
    server.descriptions = [lambda handler: handler.server.closing.wait() and None]
    get(timeout=0.3)


def test_giving_up_keeps_the_part_for_the_next_time(get: Get, server: Server, tmp_path: Path) -> None:
    """After the last attempt the message is one line, and a later run continues from the part."""
    server.files = [truncating(100), truncating(100), truncating(100)]
    with pytest.raises(
        DownloadError, match=r"gave up after 3 attempts.* it ended after 300 of 4830 bytes"
    ) as e:
        get(attempts=3)
    assert "\n" not in str(e.value)
    assert kept(tmp_path) == {"iris.arff.part"}
    assert cached("iris", tmp_path) is None
    get()
    assert server.ranges[-1] == "bytes=300-"
    assert kept(tmp_path) == {"iris.arff"}


def test_a_server_that_cannot_resume(get: Get, server: Server, tmp_path: Path) -> None:
    """A server that answers a range with the whole file is taken at its word."""
    server.files = [truncating(1000), saying(IRIS)]
    get()
    assert (tmp_path / "iris.arff").read_bytes() == IRIS


def test_a_piece_that_was_not_asked_for(get: Get, server: Server, tmp_path: Path) -> None:
    """A server that sends the wrong piece is not believed: the file is fetched anew."""
    server.files = [truncating(1000), saying(IRIS[50:], 206, Content_Range="bytes 50-4829/4830")]
    get()
    assert server.ranges == [None, "bytes=1000-", None]
    assert (tmp_path / "iris.arff").read_bytes() == IRIS


def test_a_whole_part_needs_no_more_bytes(get: Get, server: Server, tmp_path: Path) -> None:
    """A run that died between the last byte and the renaming is completed."""
    (tmp_path / "iris.arff.part").write_bytes(IRIS)
    get()
    assert server.ranges == [f"bytes={len(IRIS)}-"]
    assert (tmp_path / "iris.arff").read_bytes() == IRIS


def test_a_part_of_something_else(get: Get, server: Server, tmp_path: Path) -> None:
    """A part left by another version of the file costs one more download, not a refusal."""
    (tmp_path / "iris.arff.part").write_bytes(b"x" * 1000)
    get()
    assert server.ranges == ["bytes=1000-", None]
    assert kept(tmp_path) == {"iris.arff"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (VOTE, "is not the paper's iris (expected 150 rows of 5 attributes, got 435 rows of 17 attributes"),
        (IRIS.replace(b"5.1,3.5,1.4,0.2", b"5.1,3.5,1.4,0.3", 1), "values, their order or rows differ"),
        (IRIS.replace(b"Iris-setosa,Iris-versicolor", b"Iris-versicolor,Iris-setosa"), "values, their order"),
        (b"<html>please log in</html>", "expected @relation"),
        (IRIS[:4000], "line"),
        (b"", "no @data"),
    ],
)
def test_other_content_is_refused(
    get: Get, server: Server, tmp_path: Path, content: bytes, words: str
) -> None:
    """A server that lies about the content is told so, and nothing of it stays in the cache."""
    server.content = content
    with pytest.raises(ContentError) as caught:
        get()
    assert str(caught.value).startswith(f"refused what {server.url}/data/v1/download/61/set.arff sent: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert kept(tmp_path) == set()


def test_lies_about_the_length(
    get: Get, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too long a promise ends as soon as the content is whole; a flood is cut off."""
    server.files = [saying(IRIS, Content_Length=len(IRIS) + 5)]
    get()
    assert kept(tmp_path) == {"iris.arff"}

    monkeypatch.setattr(_transfer, "MAX_BYTES", 1000)
    server.content = VOTE
    server.files = [saying(VOTE, Content_Length=None)]
    with pytest.raises(DownloadError, match="sent more than 1000 bytes"):
        get("vote")


def test_a_corrupt_cache_is_replaced(get: Get, tmp_path: Path) -> None:
    """A file that rotted in the cache is fetched again."""
    (tmp_path / "iris.arff").write_bytes(IRIS[:-7])
    get()
    assert (tmp_path / "iris.arff").read_bytes() == IRIS


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (saying(b"<html>"), "did not answer with the description"),
        (saying(b"[]"), "did not answer with the description"),
        (saying(b'{"data_set_description": {}}'), "did not answer with the description"),
        (saying(b'{"data_set_description": 5}'), "did not answer with the description"),
        (saying(b'{"data_set_description": {"url": "file:///etc/passwd"}}'), "expected an http address"),
        (saying(b"[" * 100_000), "did not answer with the description"),
        (saying(b'{"a":' * 100_000), "did not answer with the description"),
        (saying(b"", 404), "answered 404"),
        (saying(b'{"error": {"code": "111", "message": "Unknown dataset"}}', 412), "answered 412"),
    ],
)
def test_wrong_descriptions(
    get: Get, server: Server, waits: list[float], answer: Behaviour, words: str
) -> None:
    """What is no description of a data set ends the download at once, with one line."""
    server.descriptions = [answer]
    with pytest.raises(DownloadError, match=words) as caught:
        get()
    assert "\n" not in str(caught.value)
    assert waits == []


def test_nobody_listens(tmp_path: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection is tried again and then reported."""
    monkeypatch.setenv("no_proxy", "*")
    with Server() as gone:
        address = gone.url
    with pytest.raises(DownloadError, match=r"gave up after 3 attempts.*refused"):
        fetch("iris", tmp_path, base_url=address, attempts=3, sleep=waits.append)
    assert waits == [1.0, 2.0]


def test_offline(tmp_path: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network the message says so at once; the name is one that no server may ever have."""
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(DownloadError, match=r"cannot reach openml.invalid \(.*offline.*study run --data DIR"):
        fetch("iris", tmp_path, base_url="http://openml.invalid", sleep=waits.append)
    assert waits == []


def test_an_unwritable_cache_is_an_os_error(get: Get, tmp_path: Path) -> None:
    """Trouble with the disk is reported as such and not retried as if it were the network's."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        fetch("iris", tmp_path / "file" / "cache")


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folder given counts, then LOCALBAYES_CACHE, then the user's cache folder on this system."""
    monkeypatch.setenv("LOCALBAYES_CACHE", "from-environment")
    assert cache_dir(tmp_path) == tmp_path
    assert cache_dir() == Path("from-environment")
    monkeypatch.delenv("LOCALBAYES_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_dir() == tmp_path / ".cache" / "localbayes"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert cache_dir() == tmp_path / "elsewhere" / "localbayes"


def test_paper_sets_come_from_openml(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set that is in no folder is downloaded once; if what comes is wrong, the embedded copy serves."""
    monkeypatch.setenv("LOCALBAYES_OPENML", server.url + "/")
    assert load_paper_set("iris", cache=tmp_path)[0].shape == (150, 4)
    assert kept(tmp_path) == {"iris.arff"}
    assert load_paper_set("vote", cache=tmp_path)[0].shape == (435, 16)
    with pytest.raises(ContentError, match="is not the paper's zoo"):
        load_paper_set("zoo", cache=tmp_path)
    assert kept(tmp_path) == {"iris.arff"}


def test_callers_share_a_cache(get: Get, server: Server, tmp_path: Path) -> None:
    """Four callers that want one set at the same time download it once between them."""
    with ThreadPoolExecutor(4) as pool:
        tables = [future.result() for future in [pool.submit(get) for _ in range(4)]]
    assert [digest(table) for table in tables] == [PAPER_SETS["iris"].digest] * 4
    assert len(server.ranges) == 1
    assert kept(tmp_path) == {"iris.arff"}


def test_threads_that_write_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    """The file is whole and one of those that were written, nothing else stays, and others may read it."""
    contents = [bytes([k]) * 2**16 for k in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: place_atomically(tmp_path / "f", content), contents))
    (tmp_path / "usual").write_bytes(b"")
    assert sorted(kept(tmp_path)) == ["f", "usual"]
    assert (tmp_path / "f").read_bytes() in contents
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_must_not_be_replaced_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """Of many that want one name, one gets it; where the file system has no links, what is there stays."""

    def unsupported(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", unsupported)
    place_atomically(tmp_path / "f", b"first", replace=False)
    with pytest.raises(FileExistsError, match="f"):
        place_atomically(tmp_path / "f", b"second", replace=False)
    assert (tmp_path / "f").read_bytes() == b"first"

    def wins(k: int) -> bool:
        try:
            place_atomically(tmp_path / "g", b"", replace=False)
        except FileExistsError:
            return False
        return True

    if links:
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(wins, range(40))) == 1
    assert kept(tmp_path) <= {"f", "g"}


# --- files that are not what they seem --------------------------------------------------------------


@pytest.mark.parametrize("name", [".lock", "iris.arff.part", "iris.arff"])
@pytest.mark.parametrize("kind", ["link", "hard link", "dangling"])
def test_a_link_in_the_cache_harms_nothing(
    get: Get, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, name: str, kind: str
) -> None:
    """Whatever a link in the cache points to is neither emptied nor written to."""
    precious = tmp_path_factory.mktemp("elsewhere") / "precious"
    if kind == "dangling":
        (tmp_path / name).symlink_to(precious)
    else:
        precious.write_bytes(b"precious")
        if kind == "link":
            (tmp_path / name).symlink_to(precious)
        else:
            (tmp_path / name).hardlink_to(precious)
    get()
    assert precious.exists() == (kind != "dangling")
    assert kind == "dangling" or precious.read_bytes() == b"precious"
    assert not (tmp_path / "iris.arff").is_symlink()
    assert (tmp_path / "iris.arff").read_bytes() == IRIS


@pytest.mark.parametrize("name", ["iris.arff.part", "iris.arff"])
def test_a_pipe_in_the_cache_is_replaced(get: Get, tmp_path: Path, name: str) -> None:
    """Nobody waits for somebody to write into it."""
    os.mkfifo(tmp_path / name)
    assert cached("iris", tmp_path) is None
    get()
    assert (tmp_path / "iris.arff").read_bytes() == IRIS
    assert kept(tmp_path) == {"iris.arff"}


def test_what_a_killed_process_left_is_used_when_it_is_idle(get: Get, server: Server, tmp_path: Path) -> None:
    """A part that somebody may be writing to stays; one that nobody has touched for an hour is completed."""
    at_work, dead = tmp_path / "iris.arff.0123.part", tmp_path / "iris.arff.4567.part"
    at_work.write_bytes(IRIS[:2000])
    dead.write_bytes(IRIS[:1000])
    os.utime(dead, (dead.stat().st_mtime - 3600,) * 2)
    get()
    assert server.ranges == ["bytes=1000-"]
    assert kept(tmp_path) == {"iris.arff", at_work.name}


@pytest.mark.parametrize("length", ["²", "-5", "1e3", "9" * 5000, "0x10", ""])
def test_a_length_that_is_no_number(get: Get, server: Server, tmp_path: Path, length: str) -> None:
    """The content decides, whatever the header says."""
    server.files = [saying(IRIS, Content_Length=length)]
    server.descriptions = [saying(b"", 503, Retry_After="²")]
    get()
    assert (tmp_path / "iris.arff").read_bytes() == IRIS


@pytest.mark.parametrize("what", ["head", "file", "description"])
def test_a_drip_is_too_slow(get: Get, server: Server, what: str) -> None:
    """A byte now and then is not a sign of life: the attempt ends with the time-out."""
    if what == "description":
        server.descriptions = [dripping(b" " * 10_000)]
    else:
        server.files = [dripping(IRIS, head=what == "head")]
    with pytest.raises(DownloadError, match="gave up after 1 attempts"):
        get(timeout=0.3, attempts=1)
