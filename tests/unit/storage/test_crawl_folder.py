"""The files of a crawl folder stay in step: after a crash, and after a refused write."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from support.pages import a_link, a_page

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.records import Page, Topic, Visit
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.crawl_folder import SAVE_EVERY, CrawlFolder
from crawlproject.storage.logs import PageChange, PageChangeLog

TOPIC = Topic("reef", ("coral reef",), ("http://a.example/",))


def opened(path: Path, **options: bool) -> CrawlFolder:
    folder = CrawlFolder(path, TOPIC, "dom", {}, **options)
    folder.manifest.begin({}, "", 0.0)
    return folder


def numbered(number: int, *, md5: str = "0" * 32) -> tuple[Page, Visit]:
    """A page with two links, and its visit."""
    url = f"http://a.example/{number}"
    return a_page(url, links=[a_link(f"{url}/x"), a_link(f"{url}/y")]), Visit(url, 200, float(number), md5=md5)


def kept(path: Path) -> tuple[list[str], list[str], list[str]]:
    """URLs of history, items and links, in the order of their lines."""
    return (
        [line["url"] for line in read_lines(path / "history.jsonl")],
        [line["url"] for line in read_lines(path / "items.jsonl")],
        [line["source"] for line in read_lines(path / "links.jsonl")],
    )


def pages(*numbers: int) -> list[str]:
    return [f"http://a.example/{number}" for number in numbers]


def test_a_kept_page_is_in_every_file(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    assert folder.pages.path("http://a.example/0").name == folder.store("http://a.example/0", b"x")
    for number in range(3):
        folder.keep(*numbered(number))
    folder.close("finished", 1.0, {"history/pages": 3})
    assert kept(tmp_path) == (pages(0, 1, 2), pages(0, 1, 2), pages(0, 0, 1, 1, 2, 2))
    assert json.loads((tmp_path / "crawl.json").read_text())["stats"] == {"history/pages": 3}
    assert (tmp_path / "refused.json").exists()


def test_a_page_that_is_not_stored_has_links_but_no_item(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.keep(*numbered(0, md5=""))
    folder.close("finished", 1.0, {})
    assert kept(tmp_path) == (pages(0), [], pages(0, 0))


def test_what_the_history_does_not_know_is_cut_off_at_opening(tmp_path: Path) -> None:
    """The crawl was killed after links and item of page 2, before its history line; the line of page 1 is torn."""
    folder = opened(tmp_path)
    for number in range(3):
        folder.keep(*numbered(number))
    folder.close("", 1.0, {})
    history = tmp_path / "history.jsonl"
    lines = history.read_bytes().splitlines(keepends=True)
    history.write_bytes(lines[0] + lines[1][:-9])
    opened(tmp_path).close("", 2.0, {})
    assert kept(tmp_path) == (pages(0), pages(0), pages(0, 0))
    again = opened(tmp_path)
    again.keep(*numbered(1))
    again.close("finished", 3.0, {})
    assert kept(tmp_path) == (pages(0, 1), pages(0, 1), pages(0, 0, 1, 1))


@pytest.mark.parametrize("broken", [1, 2, 3])
def test_a_refused_write_takes_back_the_whole_page(
    tmp_path: Path, broken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the disk refuses links, item or history line: a smaller page that still fits leaves no orphans."""
    folder = opened(tmp_path)
    folder.keep(*numbered(0))
    write, calls = os.pwrite, []

    def pwrite(*arguments: object) -> int:
        calls.append(arguments)
        if len(calls) == broken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(*arguments)

    monkeypatch.setattr(os, "pwrite", pwrite)
    with pytest.raises(StorageFailed):
        folder.keep(*numbered(1))
    assert kept(tmp_path) == (pages(0), pages(0), pages(0, 0))
    folder.keep(*numbered(2))
    folder.keep(*numbered(1))
    folder.close("", 1.0, {})
    assert kept(tmp_path) == (pages(0, 2, 1), pages(0, 2, 1), pages(0, 0, 2, 2, 1, 1))


class RefusingArchive:
    """An archive on a disk that is sometimes full."""

    def __init__(self) -> None:
        self.full = True
        self.written: list[str] = []

    def commit(self, visit: Visit) -> None:
        if self.full:
            raise StorageFailed("the disk is full")
        self.written.append(visit.url)

    def close(self) -> None:
        pass


def test_a_page_is_archived_before_it_counts_and_does_not_count_when_it_is_not(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    archive = RefusingArchive()
    folder.archive = archive  # type: ignore[assignment]
    for write in (lambda: folder.keep(*numbered(0)), lambda: folder.note(numbered(1, md5="")[1])):
        with pytest.raises(StorageFailed):
            write()
    assert not any(kept(tmp_path))
    archive.full = False
    folder.keep(*numbered(0))
    folder.note(numbered(1, md5="")[1])
    folder.keep(*numbered(2, md5=""))
    assert archive.written == [numbered(n)[1].url for n in range(3)], "what it leaves out is its own affair"
    folder.close("", 1.0, {})
    assert len((tmp_path / "history.jsonl").read_text().splitlines()) == 3


def test_without_bodies_only_the_history_is_kept(tmp_path: Path) -> None:
    folder = opened(tmp_path, bodies=False)
    assert folder.store("http://www.uiowa.edu/", b"x") == "160766577426e1d01fcb7735091ec584"
    folder.keep(*numbered(0))
    folder.close("finished", 1.0, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.json", "history.jsonl", "refused.json"]


@pytest.mark.parametrize("bodies", [True, False])
def test_refusals_are_saved_now_and_then_in_a_crawl_that_can_be_resumed(tmp_path: Path, bodies: bool) -> None:
    folder = opened(tmp_path, bodies=bodies)
    folder.refusals.count("scope/domain")
    for number in range(SAVE_EVERY - 1):
        folder.keep(*numbered(number))
    assert not (tmp_path / "refused.json").exists()
    folder.note(numbered(SAVE_EVERY, md5="")[1])
    assert (tmp_path / "refused.json").exists() == bodies
    folder.close("", 1.0, {})
    assert (tmp_path / "refused.json").exists()


@pytest.mark.parametrize(("name", "line"), [("links.jsonl", b'{"target":"x"}\n'), ("items.jsonl", b"[]\n")])
def test_a_line_that_is_no_record_is_reported(tmp_path: Path, name: str, line: bytes) -> None:
    opened(tmp_path).close("", 1.0, {})
    (tmp_path / name).write_bytes(line)
    with pytest.raises(BadCrawlDir, match=name):
        opened(tmp_path)


def test_a_folder_that_cannot_be_made_is_a_storage_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageFailed, match="cannot make the crawl folder"):
        CrawlFolder(tmp_path / "file" / "crawl", TOPIC, "dom", {})


def test_a_hidden_folder_has_no_log_that_others_can_read(tmp_path):
    folder = opened(tmp_path, bodies=False)
    folder.hide()
    folder.keep(*numbered(1))
    folder.robots.append("http://a.example/robots.txt", 200, 1.0, content_type="", location="", body=b"")
    assert numbered(1)[0].url in folder.history
    assert [path.name for path in tmp_path.iterdir()] == ["crawl.json"]
    folder.close("finished", 2.0, {})
    assert not (tmp_path / "history.jsonl").exists() and not (tmp_path / "robots.jsonl").exists()


def test_a_disk_that_refuses_at_the_end_holds_neither_the_folder_nor_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(file: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def open_files() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    before = open_files()
    folder = opened(tmp_path)
    folder.beside.append(PageChangeLog(tmp_path))
    folder.beside[0].append(PageChange("http://a.example/", "gone", 1.0, 0.0, 1, 1))  # type: ignore[attr-defined]
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", broken)
        with pytest.raises(StorageFailed, match=r"history\.jsonl|changes\.jsonl"):
            folder.close("page budget", 1.0, {})
    assert open_files() == before
    again = opened(tmp_path)
    assert again.manifest.found.get("reason", "") == "", "it did not end"
    again.close("", 1.0, {})
