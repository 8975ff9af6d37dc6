"""The content of a mirror after each round, and its view for a reader, even if any write fails."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import md5
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawlproject import open_crawl
from crawlproject.errors import BadCrawlDir, BadInput, StorageFailed
from crawlproject.parts.mirror import mirror as module
from crawlproject.parts.mirror.mirror import Mirror
from crawlproject.parts.mirror.view import open_view, pull
from crawlproject.records import Link, Page, Span, Topic, Visit
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.page_files import PageRepository
from crawlproject.storage.remote import Remote
from crawlproject.urls.hosts import page_name, page_path

LOGS = ("history.jsonl", "items.jsonl", "links.jsonl")


class FailingRemote(Remote):
    """Refuses the write ``fails_at`` and, unless ``once``, all later ones, as if the program had been killed there."""

    def __init__(self, address: str, fails_at: int, *, once: bool = False) -> None:
        super().__init__(address)
        self.fails_at, self.once, self.writes = fails_at, once, count()

    def put(self, key: str, data: bytes) -> None:
        self._write(lambda: super(FailingRemote, self).put(key, data))

    def remove(self, key: str) -> None:
        self._write(lambda: super(FailingRemote, self).remove(key))

    def _write(self, write: Callable[[], None]) -> None:
        number = next(self.writes)
        if number == self.fails_at or (number > self.fails_at and not self.once):
            raise StorageFailed("away")
        write()


class Crawl:
    """A folder to which pages are added, and its copy."""

    def __init__(self, root: Path) -> None:
        self.root, self.path, self.copy = root, root / "crawl", root / "copy"
        self.address = f"file://{self.copy}"
        self.clock = count(1.0)
        root.mkdir(exist_ok=True)
        self.open()
        self.folder.manifest.begin({"PAGE_VERSIONS": 2}, "", 0.5)
        Mirror(self.path, Remote(self.address)).claim(self.folder.manifest.found)

    def open(self) -> None:
        self.folder = CrawlFolder(self.path, Topic("reef", ("reef",), ("http://a.test/",)), "dom", {}, versions=2)

    def page(self, name: str, number: int = 1, by: str = "") -> None:
        """Add a page; with a ``number`` above 1 add another version of it."""
        url, body = f"http://a.test/{name}", f"{name} {number} {by}".strip().encode()
        self.folder.store(url, body, number - 1)
        page = Page(url, title=name, links=(Link(f"{url}/next", "", Span(0, 0), Span(0, 0)),))
        digest = md5(body).hexdigest()
        visit = Visit(url, 200, next(self.clock), md5=page_name(url), size=len(body), links=1, digest=digest)
        if number == 1:
            self.folder.keep(page, visit)
        else:
            self.folder.keep_again(replace(visit, number=number, version=number, change="changed"), page)

    def error(self, name: str) -> None:
        self.folder.note(Visit(f"http://a.test/{name}", 404, next(self.clock), error="http 404"))

    def mirror(self, fails_at: int = 10**9, *, once: bool = False) -> Mirror:
        return Mirror(self.path, FailingRemote(self.address, fails_at, once=once))

    def names(self) -> set[str]:
        return {path.relative_to(self.copy).as_posix() for path in self.copy.rglob("*") if path.is_file()}

    def seen(self, view: str = "view") -> Path:
        return open_view(self.address, self.root / view)[0]


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def is_whole(folder: Path, crawl: Crawl) -> bool:
    """Whether a folder shows a state of the crawl: visits from the first on, each page with its body, item and link."""
    history = lines(folder / "history.jsonl")
    assert history == lines(crawl.path / "history.jsonl")[: len(history)]
    pages = {line["url"]: line for line in history if line["md5"]}
    assert {url: PageRepository(folder / "pages").load(url, line["digest"]) for url, line in pages.items()}.keys() == {
        *pages
    }
    moments = [(line["url"], line["at"]) for line in history if line["md5"]]
    assert [(line["url"], line["at"]) for line in lines(folder / "items.jsonl")] == moments
    assert [line["source"] for line in lines(folder / "links.jsonl")] == [url for url, _ in moments]
    return len(history) == len(lines(crawl.path / "history.jsonl"))


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl(tmp_path)


def test_a_segment_is_what_has_come_since(crawl: Crawl) -> None:
    mirror = crawl.mirror()
    crawl.page("a")
    crawl.error("404")
    mirror.update()
    first = {"history/000001.jsonl.gz", "items/000001.jsonl.gz", "links/000001.jsonl.gz", "pages/000001.gz"}
    assert crawl.names() == {"crawl.json", "segments/000001.json", *first}
    sent = mirror.files
    mirror.update()
    assert mirror.files == sent, "nothing is new"
    crawl.page("b")
    mirror.update()
    later = crawl.mirror()
    crawl.error("500")
    later.update()
    assert crawl.names() > {"segments/000003.json", "pages/000002.gz"} and "pages/000003.gz" not in crawl.names()
    parts = [gzip.decompress(path.read_bytes()) for path in sorted((crawl.copy / "history").iterdir())]
    assert [part.count(b"\n") for part in parts] == [2, 1, 1], "a further run begins where the last one was"
    assert gzip.decompress((crawl.copy / "pages/000002.gz").read_bytes()) == b"b 1", "for any program that reads gzip"


@pytest.mark.parametrize("once", [True, False], ids=["once", "killed"])
@pytest.mark.parametrize("full", [1, 10**9], ids=["a segment a page", "all in one"])
def test_whichever_write_fails_readers_see_a_moment_and_later_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: int, once: bool
) -> None:
    monkeypatch.setattr(module, "FULL", full)
    crawl = Crawl(tmp_path)
    for name in ("a", "b", "c"):
        crawl.page(name)
        crawl.error(f"404/{name}")
    crawl.page("a", number=2)
    whole, fails_at = False, 0
    while not whole:
        shutil.rmtree(crawl.copy)
        Mirror(crawl.path, Remote(crawl.address)).claim(crawl.folder.manifest.found)
        mirror = crawl.mirror(fails_at, once=once)
        with suppress(StorageFailed):
            mirror.update(over=True)
            whole = True
        view = f"view{fails_at}"
        assert is_whole(crawl.seen(view), crawl) or not whole
        (mirror if once else crawl.mirror()).update(over=True)
        assert is_whole(crawl.seen(view), crawl)
        fails_at += 1
    assert fails_at > (5 if full > 1 else 15), "every write has failed once"


STEPS = st.lists(st.sampled_from(["page", "again", "error", "round", "killed", "look"]), max_size=14)


@settings(max_examples=40, deadline=None)
@given(STEPS, st.integers(0, 25), st.sampled_from([1, 20, 10**6]))
@example(["page", "again", "again", "round"], 5, 1)  # the first version is gone before it is sent
def test_crawls_that_are_killed_and_stores_that_go_away(steps: list[str], fails_at: int, full: int) -> None:
    with TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FULL", full)
        crawl = Crawl(Path(root))
        mirror = crawl.mirror(fails_at)
        names, versions = count(), dict[str, int]()
        for step in [*steps, "look"]:
            if step == "page":
                crawl.page(name := str(next(names)))
                versions[name] = 1
            elif step == "again" and versions:
                name = next(reversed(versions))
                versions[name] += 1
                crawl.page(name, versions[name])
            elif step == "error":
                crawl.error(f"e{next(names)}")
            elif step == "round":
                with suppress(StorageFailed):
                    mirror.update()
            elif step == "killed":  # behind the item of a page, before its line in the history
                crawl.folder.links.append({"source": "http://a.test/lost", "target": "http://a.test/"})
                crawl.folder.items.append({"url": "http://a.test/lost", "at": 0.5})
                with suppress(StorageFailed):
                    mirror.update()
                crawl.folder._lock.close()
                crawl.open()
                mirror = crawl.mirror()
            else:
                is_whole(crawl.seen(), crawl)
        crawl.mirror().update(over=True)
        assert is_whole(crawl.seen(), crawl)


def test_a_log_whose_end_was_cut_off_takes_segments_back(crawl: Crawl) -> None:
    for name in "abcd":
        crawl.page(name)
        crawl.mirror().update()
    view = crawl.seen()
    assert PageRepository(view / "pages").load("http://a.test/d") == b"d 1"
    for name in LOGS:  # as after a power failure
        path = crawl.path / name
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    crawl.folder._lock.close()
    crawl.open()
    crawl.error("d")
    crawl.page("e")
    crawl.mirror().update()
    assert "segments/000004.json" not in crawl.names() and "pages/000004.gz" not in crawl.names()
    assert is_whole(crawl.seen(), crawl)
    assert "http://a.test/d" not in PageRepository(view / "pages")


def test_pages_that_readers_ask_for_are_brought_with_their_neighbours(crawl: Crawl) -> None:
    for name in "abc":
        crawl.page(name)
    crawl.page("b", number=2)
    crawl.page("b", number=3)
    crawl.mirror().update()
    pages = PageRepository(crawl.seen() / "pages")
    assert not pages.folder.exists()
    assert pages.load("http://a.test/a") == b"a 1"
    assert pages.path("http://a.test/c").exists() and not pages.path("http://a.test/b").exists()
    assert pages.load("http://a.test/b") == b"b 3"
    assert {number: path.read_bytes() for number, path in pages.versions("http://a.test/b").items()} == {2: b"b 2"}
    assert "http://a.test/nothing" not in pages


def test_a_view_that_cannot_be_written_is_named(crawl: Crawl) -> None:
    crawl.page("a")
    crawl.mirror().update()
    view = crawl.seen()
    (view / "history.jsonl").unlink()
    (view / "history.jsonl").mkdir()
    with pytest.raises(StorageFailed, match=f"^cannot write in {view}: .*Is a directory"):
        crawl.seen()
    (crawl.root / "other" / view.name / "history.jsonl").mkdir(parents=True)
    with pytest.raises(StorageFailed, match=f"^cannot write in {crawl.root / 'other' / view.name}: .*Is a directory"):
        crawl.seen("other")


def test_a_full_disk_for_the_places_of_bodies_is_named(crawl: Crawl) -> None:
    crawl.page("a")
    crawl.mirror().update()
    view = crawl.seen()
    for number in range(3):
        crawl.page(f"b{number}")
    crawl.mirror().update()
    with sqlite3.connect(view / "bodies.sqlite") as bodies:
        bodies.execute("CREATE TRIGGER full BEFORE INSERT ON bodies BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    with pytest.raises(StorageFailed, match=f"^cannot write in {view}: disk is full"):
        crawl.seen()


@pytest.mark.parametrize("name", ["history.jsonl", "items.jsonl", "segments/000002.json"])
@pytest.mark.parametrize("damage", ["cut", "zeros", "empty"])
def test_what_a_power_failure_took_from_a_view_is_downloaded_again(crawl: Crawl, name: str, damage: str) -> None:
    crawl.page("a")
    crawl.mirror().update()
    crawl.page("b")
    crawl.mirror().update()
    path = crawl.seen() / name
    content = path.read_bytes()
    path.write_bytes(content[:-9] + (bytes(9) if damage == "zeros" else b"") if damage != "empty" else b"")
    assert is_whole(crawl.seen(), crawl)
    crawl.page("c")
    crawl.mirror().update()
    assert is_whole(crawl.seen(), crawl) and len(lines(crawl.seen() / "items.jsonl")) == 3


def test_a_page_that_a_power_failure_emptied_is_brought_again(crawl: Crawl) -> None:
    crawl.page("a")
    crawl.page("b")
    crawl.mirror().update()
    pages = PageRepository(crawl.seen() / "pages")
    digest = md5(b"a 1").hexdigest()
    assert pages.load("http://a.test/a", digest) == b"a 1"
    pages.path("http://a.test/a").write_bytes(b"")
    assert pages.load("http://a.test/a", digest) == b"a 1"
    with pytest.raises(FileNotFoundError, match="was damaged"):
        pages.load("http://a.test/a", md5(b"of nothing").hexdigest())


def test_archives_go_as_far_as_their_records_and_are_brought_when_asked_for(crawl: Crawl) -> None:
    warc, mirror = crawl.path / "warc", crawl.mirror()
    warc.mkdir()
    for number, data in enumerate((b"12345", b"678", b"90"), start=1):
        with (warc / "my.reefs-00000.warc.gz").open("ab") as file:
            file.write(data)
        end = (warc / "my.reefs-00000.warc.gz").stat().st_size
        with (warc / "records.jsonl").open("a") as file:
            if number < 3:
                file.write(json.dumps({"file": "my.reefs-00000.warc.gz", "end": end}) + "\n")
        crawl.error(str(number))
        mirror.update()
    parts = sorted((crawl.copy / "warc/my.reefs-00000").iterdir())
    assert [path.read_bytes() for path in parts] == [b"12345", b"678"], "the last bytes have no record"
    assert not (crawl.seen() / "warc").exists()
    for _ in range(2):
        view, _ = open_view(crawl.address, crawl.root / "view", archives=True)
        assert (view / "warc/my.reefs-00000.warc.gz").read_bytes() == b"12345678"
        assert (view / "warc/records.jsonl").read_text().count("\n") == 2


def test_files_and_the_end(crawl: Crawl) -> None:
    for name in ("report.html", "finished.json", "websub.jsonl", "dashboard.json", "refused.json"):
        (crawl.path / name).write_text(name)
    mirror = crawl.mirror()
    mirror.update()
    assert {"refused.json"} == crawl.names() - {"crawl.json"}
    mirror.update(over=True)
    assert {"report.html", "finished.json"} <= crawl.names() and not {"websub.jsonl", "dashboard.json"} & crawl.names()
    (crawl.path / "finished.json").unlink()
    crawl.mirror().update()
    assert "finished.json" not in crawl.names(), "the crawl goes on"


def test_pull_makes_the_folder_that_was_sent(crawl: Crawl, tmp_path: Path) -> None:
    for name, number in (("a", 1), ("b", 1), ("b", 2), ("b", 3)):
        crawl.page(name, number)
        crawl.mirror().update()
    for _ in range(2):
        copy = tmp_path / "pulled"
        pull(crawl.address, copy)
        for name in (*LOGS, *(f"pages/{page_path(page_name(f'http://a.test/{name}'))}" for name in "ab")):
            assert (copy / name).read_bytes() == (crawl.path / name).read_bytes(), name
        assert len([path for path in (copy / "pages").rglob("*") if path.is_file()]) == 3, "a, b, and b before that"
        assert not (copy / "segments").exists()
        with pytest.raises(BadInput, match="an empty folder"):
            pull(crawl.address, copy)
        shutil.rmtree(copy)


def test_pull_takes_no_file_for_a_folder(crawl: Crawl, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("kept")
    with pytest.raises(BadInput, match="notes: expected the name of a new or an empty folder"):
        pull(crawl.address, tmp_path / "notes")


def test_where_no_crawl_is_nothing_is_made(crawl: Crawl) -> None:
    with pytest.raises(BadCrawlDir, match="expected a crawl"):
        open_view(f"{crawl.address}/nothing", crawl.root / "view")
    with pytest.raises(BadCrawlDir, match="expected a crawl"):
        pull(f"{crawl.address}/nothing", crawl.root / "view")
    assert not (crawl.root / "view").exists()


def test_the_place_of_another_crawl_is_not_taken(crawl: Crawl) -> None:
    with pytest.raises(BadInput, match="holds another crawl"):
        crawl.mirror().claim({**crawl.folder.manifest.found, "started": 2.5})


def test_workers_are_one_crawl_and_a_page_of_two_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = tmp_path / "store"
    crawls = {}
    for name, start in (("b", 1.0), ("a", 2.0)):
        crawls[name] = crawl = Crawl(tmp_path / name)
        crawl.clock, crawl.address = count(start, 2.0), f"file://{place}/workers/{name}"
        crawl.mirror().claim(crawl.folder.manifest.found)
        for page in ("both", name):
            crawl.page(page, by=name)
            crawl.mirror().update()
    found = open_crawl(place)
    visits = [(visit.url.rpartition("/")[2], visit.at) for visit in found.visits()]
    assert visits == [("both", 2.0), ("b", 3.0), ("a", 4.0)], "the first worker by name counts"
    assert [found.body(f"http://a.test/{page}") for page in ("both", "a", "b")] == [b"both 1 a", b"a 1 a", b"b 1 b"]
    assert sorted(page.url for page in found.pages()) == ["http://a.test/a", "http://a.test/b", "http://a.test/both"]
    merged = (found.folder / "history.jsonl").stat().st_ino
    assert (open_crawl(f"file://{place}").folder / "history.jsonl").stat().st_ino == merged, "nothing is new"
    for name, at in (("b", 9.0), ("a", 6.0)):
        crawls[name].clock = count(at)
        crawls[name].page("both", 2, by=name)
        crawls[name].mirror().update()
    assert open_crawl(place).body("http://a.test/both") == b"both 2 b", "of further visits the last counts"
    pull(f"file://{place}", tmp_path / "pulled")
    assert open_crawl(tmp_path / "pulled").body("http://a.test/both") == b"both 2 b"


def test_bodies_that_were_cut_off_are_named(crawl: Crawl, tmp_path: Path) -> None:
    crawl.page("a")
    crawl.page("b")
    crawl.mirror().update(over=True)
    body = json.loads((crawl.copy / "segments/000001.json").read_bytes())["pages"][1]
    bodies = crawl.copy / "pages/000001.gz"
    bodies.write_bytes(bodies.read_bytes()[: body[2]])
    with pytest.raises(
        StorageFailed, match=rf"{page_name('http://a.test/b')} in pages/000001.gz: expected {body[3]} bytes"
    ):
        pull(crawl.address, tmp_path / "pulled")
    assert open_crawl(crawl.address).body("http://a.test/a") == b"a 1"
    with pytest.raises(StorageFailed, match="expected"):
        open_crawl(crawl.address).body("http://a.test/b")


@pytest.mark.parametrize(
    ("logs", "pages"),
    [
        ({"../../evil.jsonl": {"start": 0, "end": 1, "tail": ""}}, []),
        ({"warc/../evil.warc.gz": {"start": 0, "end": 1, "tail": ""}}, []),
        ({}, [["../../../evil", 1, 0, 1]]),
        ({"items.jsonl": {"start": 0}}, []),
        ({"items.jsonl": {"start": 0, "end": "1", "tail": ""}}, []),
        ({"items.jsonl": {"start": -1, "end": 0, "tail": ""}}, []),
        ({}, [["0" * 32, "../../evil", 0, 1]]),
        ({}, [["0" * 32, 1, 0, 1.5]]),
        ({}, [[]]),
    ],
)
def test_an_index_that_is_none_writes_nowhere(crawl: Crawl, logs: dict, pages: list) -> None:
    (crawl.copy / "segments").mkdir()
    (crawl.copy / "segments/000001.json").write_text(json.dumps({"version": 1, "logs": logs, "pages": pages}))
    with pytest.raises(StorageFailed, match="expected the index of a segment"):
        crawl.seen()
    assert not [*crawl.root.rglob("*evil*")]
