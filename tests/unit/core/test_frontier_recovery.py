"""A crawl whose frontier lost a file: it is made again from the history, or the file is named. Never a silent, early end."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.randomweb import RandomWeb, crawl_on

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.errors import BadCrawlDir
from crawlproject.frontier.disk.url_records import MAPPED, RECORDS
from crawlproject.records import FIRST, SITEMAP, CrawlUrl, Fetch, Topic

HOLDS_NOTHING = {"CRAWL_SITE_BUDGET": 0, "TRAP_TEMPLATES": False, "CRAWL_BLOCKED_REST": 0, "CRAWL_LEARN_RULES": False}
PLAIN = {**HOLDS_NOTHING, "CRAWL_SOFT_404_PROBE": 0, "CRAWL_CLOAKING_PROBE": 0, "POLITENESS_MIN_DELAY": 0}
WEB = RandomWeb(4, told=False)
NOW = 2000.0


def opened(folder: Path, frontier: str, ordering: str = "dom", **settings: Any) -> Crawl:
    fixed = {**PLAIN, "FRONTIER": frontier, "ORDERING": ordering, "CRAWL_FRONT_PAGES": False}
    options = read_options({**fixed, **settings})
    return assemble(Topic("reefs", ("coral reef",), WEB.seeds), options, clock=lambda: NOW, folder=folder)


class Crawled(NamedTuple):
    """A crawl that was stopped or killed after some fetches, and what waits when it is resumed as it is."""

    folder: Path
    waiting: dict[str, CrawlUrl]


Crawls = Callable[..., Crawled]


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Crawls:
    """Each is made once."""

    @cache
    def made(frontier: str, ordering: str, closed: bool) -> Crawled:
        folder = tmp_path_factory.mktemp("crawl")
        crawl = opened(folder / "live", frontier, ordering)
        crawl_on(crawl, WEB, 45)
        assert len(crawl.frontier) > 10 and crawl.stats.fetches > 30
        if closed:
            crawl.close("stopped", NOW)
        shutil.copytree(folder / "live", folder / "left", ignore=shutil.ignore_patterns("*.tmp"))
        if not closed:
            crawl.close("stopped", NOW)
        return Crawled(folder / "left", undamaged(folder / "left", frontier, ordering))

    return made


@pytest.fixture
def crawled(crawls: Crawls, tmp_path: Path) -> Crawls:
    """``crawled(frontier, ordering, closed)``: a copy that may be damaged."""

    def copy(frontier: str, ordering: str = "dom", *, closed: bool = True) -> Crawled:
        whole = crawls(frontier, ordering, closed)
        return Crawled(Path(shutil.copytree(whole.folder, tmp_path / "left")), whole.waiting)

    return copy


def waiting(crawl: Crawl) -> dict[str, CrawlUrl]:
    return {url.url: url for url in crawl.frontier.waiting()}


def undamaged(folder: Path, frontier: str, ordering: str = "dom") -> dict[str, CrawlUrl]:
    """What waits when a copy of the folder is resumed as it is."""
    shutil.copytree(folder, folder.with_name("whole"))
    crawl = opened(folder.with_name("whole"), frontier, ordering)
    assert crawl.folder.warnings == []
    found = waiting(crawl)
    crawl.close("stopped", NOW)
    return found


@pytest.mark.parametrize("ordering", ["dom", "breadth_first", "adaptive", "opic", "shark_search"])
@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_a_frontier_that_was_removed_is_made_again(crawled: Crawls, frontier: str, ordering: str) -> None:
    folder, expected = crawled(frontier, ordering)
    shutil.rmtree(folder / "frontier")
    crawl = opened(folder, frontier, ordering)
    found = waiting(crawl)
    assert found.keys() == expected.keys()
    assert {(url.depth, url.kind) for url in found.values()} == {(url.depth, url.kind) for url in expected.values()}
    if not crawl.ordering.learns:
        assert {url.url: url.score for url in found.values()} == {url.url: url.score for url in expected.values()}
    assert all(url in crawl.frontier for url in crawl.folder.history)
    [warning] = crawl.folder.warnings
    assert "had lost its URLs" in warning and f"{len(found)} URLs are waiting" in warning
    crawl.close("stopped", NOW)
    again = opened(folder, frontier, ordering)
    assert again.folder.warnings == [] and waiting(again).keys() == found.keys()
    again.close("stopped", NOW)


def test_what_a_sitemap_led_to_is_a_sitemap_again(tmp_path: Path) -> None:
    crawl = opened(tmp_path, "disk", CRAWL_SITEMAPS=3)
    host = WEB.seeds[0]
    crawl.services.kinds.offer(
        CrawlUrl(f"{host}sitemap.xml", 0.9, 0, f"{host}robots.txt", kind=SITEMAP, precedence=FIRST)
    )
    ended = []
    while (url := crawl.take(NOW)) is not None:
        target = f"{host}maps/all.xml"
        if url.kind == SITEMAP and not ended:
            ended.append(crawl.redirect(url, target, Fetch(301, NOW, 0.0)))
        elif url.url == target:
            crawl.frontier.release(url.key, NOW, 0.0, not_before=NOW + 99.0)
        else:
            crawl.fail(url, "http 404", Fetch(404, NOW, 0.0))
    before = waiting(crawl)
    crawl.close("stopped", NOW)
    shutil.rmtree(tmp_path / "frontier")
    crawl = opened(tmp_path, "disk", CRAWL_SITEMAPS=3)
    found = waiting(crawl)
    crawl.close("stopped", NOW)
    assert ended and found.keys() == before.keys() == {target}
    assert (found[target].kind, found[target].precedence) == (SITEMAP, FIRST)


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_pages_whose_files_are_gone_give_the_links_of_the_link_log(crawled: Crawls, frontier: str) -> None:
    folder, expected = crawled(frontier, "breadth_first")
    shutil.rmtree(folder / "frontier")
    for path in (folder / "pages").rglob("*"):
        if path.is_file():
            path.unlink()
    crawl = opened(folder, frontier, "breadth_first")
    assert waiting(crawl).keys() == expected.keys()
    crawl.close("stopped", NOW)


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
@pytest.mark.parametrize("damage", ["removed", "emptied", "halved", "a byte short"])
@pytest.mark.parametrize("name", [*sorted({*MAPPED} - {"times"}), RECORDS, "journal", "state.json"])  # nothing is held
def test_a_file_that_a_frontier_on_disk_lost_is_named(crawled: Crawls, name: str, damage: str, closed: bool) -> None:
    folder, expected = crawled("disk", closed=closed)
    [path] = (folder / "frontier").glob("journal.[0-9]*") if name == "journal" else [folder / "frontier" / name]
    size = path.stat().st_size
    assert size
    spoil(path, damage)
    if (closed or name in (RECORDS, "journal")) and (name, damage) != ("state.json", "a byte short"):  # the line break
        with pytest.raises(BadCrawlDir, match=path.name.replace(".", r"\.")):
            opened(folder, "disk")
        shutil.rmtree(folder / "frontier")  # as the message says
    crawl = opened_in_the_end(folder)
    assert waiting(crawl).keys() == expected.keys()
    crawl.close("stopped", NOW)


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
@pytest.mark.parametrize("damage", ["removed", "emptied", "halved", "a byte short"])
def test_a_journal_that_the_frontier_in_memory_lost(crawled: Crawls, damage: str, closed: bool) -> None:
    """It is made again, or named."""
    folder, expected = crawled("memory", closed=closed)
    spoil(folder / "frontier" / "journal.jsonl", damage)
    try:
        crawl = opened(folder, "memory")
    except BadCrawlDir as refused:
        assert "journal.jsonl" in str(refused) and (closed or damage == "emptied")
        (folder / "frontier" / "journal.jsonl").unlink()
        crawl = opened(folder, "memory")
    if damage in ("halved", "a byte short"):
        crawl_on(
            crawl, WEB, 100, begin=NOW
        )  # what waits again although it was fetched is fetched once more, for its links
    assert waiting(crawl).keys() | set(crawl.folder.history) >= expected.keys()
    crawl.close("stopped", NOW)


@pytest.mark.parametrize("ordering", ["dom", "adaptive"])
@pytest.mark.parametrize("damage", ["zeroed", "cut"])
def test_pages_that_a_journal_no_longer_knows_of_are_not_fetched_again(
    crawled: Crawls, damage: str, ordering: str
) -> None:
    """As 21 pages of 140 were, without a word, after a power failure had left zeros."""
    folder, expected = crawled("memory", ordering, closed=False)
    journal = folder / "frontier" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    kept = b"".join(lines[: -len(lines) // 3])
    journal.write_bytes(kept + (bytes(journal.stat().st_size - len(kept)) if damage == "zeroed" else b""))
    crawl = opened(folder, "memory", ordering)
    assert "had lost its URLs" in crawl.folder.warnings[-1]
    assert waiting(crawl).keys() == expected.keys()
    crawl.close("stopped", NOW)
    again = opened(folder, "memory", ordering)
    assert again.folder.warnings == []
    again.close("stopped", NOW)


def test_an_interrupted_recovery_begins_anew(crawled: Crawls, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, expected = crawled("disk")
    shutil.rmtree(folder / "frontier")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("crawlproject.core.frontier_recovery.FrontierRecovery.finish", interrupted)
        opened(folder, "disk")
    (folder / "lock").unlink()
    crawl = opened(folder, "disk")
    assert crawl.folder.warnings and waiting(crawl).keys() == expected.keys()
    crawl.close("stopped", NOW)


def opened_in_the_end(folder: Path) -> Crawl:
    """A frontier that was killed soon after it was new is all in its journal."""
    try:
        return opened(folder, "disk")
    except BadCrawlDir:
        shutil.rmtree(folder / "frontier")
        return opened(folder, "disk")


def interrupted(_: object) -> None:
    raise KeyboardInterrupt


def spoil(path: Path, damage: str) -> None:
    data = path.read_bytes()
    path.unlink()
    if damage != "removed":
        path.write_bytes(data[: {"emptied": 0, "halved": len(data) // 2, "a byte short": len(data) - 1}[damage]])
