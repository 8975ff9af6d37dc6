"""A crawl whose history lost its end while the frontier kept it: what has no line any more is fetched again, and said."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import orjson
import pytest
import redis
from support.eventloop import Loop
from support.randomweb import RandomWeb, crawl_on
from support.redisserver import empty_database

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.frontier_recovery import HistoryRecovery
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.records import Topic

PLAIN = {
    "CRAWL_SITE_BUDGET": 0,
    "TRAP_TEMPLATES": False,
    "CRAWL_BLOCKED_REST": 0,
    "CRAWL_LEARN_RULES": False,
    "CRAWL_SOFT_404_PROBE": 0,
    "CRAWL_CLOAKING_PROBE": 0,
    "POLITENESS_MIN_DELAY": 0,
    "POLITENESS_FACTOR": 0,
}
WEB = RandomWeb(4)
FETCHES = 120
Killed = Callable[..., list[str]]


def opened(folder: Path, **settings: object) -> Crawl:
    options = read_options({**PLAIN, **settings})
    return assemble(Topic("reefs", ("coral reef",), WEB.seeds), options, clock=lambda: 3000.0, folder=folder)


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The folder of a crawl that was killed after some fetches: one for all tests with the same settings."""

    @cache
    def made(**settings: str) -> Path:
        folder = tmp_path_factory.mktemp("crawl")
        crawl = opened(folder / "live", **settings)
        crawl_on(crawl, WEB, FETCHES)
        shutil.copytree(folder / "live", folder / "left", ignore=shutil.ignore_patterns("*.tmp", "lock"))
        crawl.close("stopped", 0.0)
        return folder / "left"

    return made


@pytest.fixture
def killed(left: Callable[..., Path]) -> Killed:
    """``killed(folder, **settings)`` makes ``folder`` that of a crawl that was killed; the URLs of its history."""

    def copied(folder: Path, **settings: str) -> list[str]:
        shutil.copytree(left(**settings), folder)
        return urls_of(folder / "history.jsonl")

    return copied


def urls_of(path: Path) -> list[str]:
    return [orjson.loads(line)["url"] for line in path.read_bytes().splitlines()]


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:-size])


def zeroed(path: Path) -> None:
    """As a file system leaves it that had made the file longer, and had not written its last block yet."""
    path.write_bytes(path.read_bytes()[:-4096] + bytes(4096))


def zeroed_before_the_end(path: Path) -> None:
    """The last block was written, the one before was not."""
    data = path.read_bytes()
    path.write_bytes(data[:-6000] + bytes(4096) + data[-1904:])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "1500 bytes cut": lambda path: cut(path, 1500),
    "4000 bytes cut": lambda path: cut(path, 4000),
    "last block zeroed": zeroed,
    "a block zeroed before the last": zeroed_before_the_end,
    "emptied": lambda path: path.write_bytes(b""),
    "removed": Path.unlink,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("frontier", ["memory", "disk"])
@pytest.mark.parametrize("ordering", ["breadth_first", "adaptive"])
def test_what_lost_its_line_is_fetched_again(
    killed: Killed, tmp_path: Path, frontier: str, ordering: str, damage: str
) -> None:
    folder, settings = tmp_path / "crawl", {"FRONTIER": frontier, "ORDERING": ordering}
    before = killed(folder, **settings)
    DAMAGES[damage](folder / "history.jsonl")
    crawl = opened(folder, **settings)
    lost = len(before) - crawl.folder.history.lines
    [warning] = crawl.folder.warnings
    assert lost > 0 and f"history.jsonl had lost {lost} lines" in warning and "queued again" in warning
    crawl_on(crawl, WEB, 1000, begin=2000.0)
    crawl.close("finished", 3000.0)
    found = Counter(urls_of(folder / "history.jsonl"))
    assert set(before) <= found.keys() and set(found.values()) == {1}
    items = Counter(urls_of(folder / "items.jsonl"))
    stored = {orjson.loads(line)["url"] for line in (folder / "history.jsonl").open("rb") if orjson.loads(line)["md5"]}
    assert items.keys() == stored and set(items.values()) == {1}
    again = opened(folder, **settings)
    assert again.folder.warnings == []
    again.close("finished", 3000.0)


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_a_page_keeps_the_place_that_its_links_give_it(killed: Killed, tmp_path: Path, frontier: str) -> None:
    """Depth, parent and anchor are those of the links, not those of a URL that nobody knows anything of."""
    folder = tmp_path / "crawl"
    killed(folder, FRONTIER=frontier, ORDERING="breadth_first")
    lines = {line["url"]: line for line in map(orjson.loads, (folder / "history.jsonl").open("rb"))}
    cut(folder / "history.jsonl", 2500)
    crawl = opened(folder, FRONTIER=frontier, ORDERING="breadth_first")
    waiting = {url.url: url for url in crawl.frontier.waiting()}
    lost = [url for url in lines if url not in crawl.folder.history]
    assert lost and {waiting[url].depth for url in lost} == {lines[url]["depth"] for url in lost}
    assert all(waiting[url].parent in lines for url in lost if lines[url]["depth"])
    crawl.close("stopped", 2000.0)


def test_a_whole_folder_says_nothing(killed: Killed, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    killed(folder)
    crawl = opened(folder)
    assert crawl.folder.warnings == []
    crawl.close("stopped", 2000.0)


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_an_interrupted_recovery_begins_anew(
    killed: Killed, tmp_path: Path, frontier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "crawl"
    before = killed(folder, FRONTIER=frontier)
    cut(folder / "history.jsonl", 4000)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(HistoryRecovery, "finish", interrupted)
        opened(folder, FRONTIER=frontier)
    (folder / "lock").unlink()
    crawl = opened(folder, FRONTIER=frontier)
    assert "queued again" in crawl.folder.warnings[0]
    crawl_on(crawl, WEB, 1000, begin=2000.0)
    assert set(before) <= set(crawl.folder.history)
    crawl.close("finished", 3000.0)


def interrupted(_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["items.jsonl", "links.jsonl"])
def test_items_and_links_that_are_behind_the_history_are_made_again(
    killed: Killed, tmp_path: Path, name: str, damage: str
) -> None:
    folder = tmp_path / "crawl"
    killed(folder)
    expected = (folder / name).read_bytes().splitlines()
    DAMAGES[damage](folder / name)
    crawl = opened(folder)
    assert any(f"{name} had lost lines" in warning for warning in crawl.folder.warnings)
    crawl.close("stopped", 2000.0)
    found = (folder / name).read_bytes().splitlines()
    assert len(found) >= len(expected) - 12  # what asked not to be kept has no file
    assert set(found) <= set(expected)


@pytest.mark.parametrize("damage", ["1500 bytes cut", "last block zeroed", "removed"])
def test_a_worker_fetches_again_what_its_history_lost(tmp_path: Path, damage: str) -> None:
    database: redis.Redis = empty_database()
    where = database.connection_pool.connection_kwargs
    settings = {"FRONTIER": "redis", "REDIS_PORT": where["port"], "REDIS_DB": where["db"], "CRAWL_WORKER": "one"}
    folder = tmp_path / "crawl" / "workers" / "one"
    crawl = opened(tmp_path / "crawl", **settings)
    crawl_on(crawl, WEB, FETCHES)
    before, pages = list(crawl.folder.history), crawl.peers.pages(0)
    assert isinstance(crawl.frontier, RedisWorker)
    loop = Loop()
    loop.start(crawl.frontier)
    loop.run_for(0.2)
    crawl.close("stopped", 2000.0)
    DAMAGES[damage](folder / "history.jsonl")
    crawl = opened(tmp_path / "crawl", **settings)
    lost = len(before) - crawl.folder.history.lines
    assert f"history.jsonl had lost {lost} lines: " in crawl.folder.warnings[0]
    assert crawl.peers.pages(0) == crawl.folder.history.pages < pages
    crawl_on(crawl, WEB, 1000, begin=2000.0)
    found = Counter(crawl.folder.history)
    assert set(before) <= found.keys() and set(found.values()) == {1}
    assert crawl.peers.pages(0) == crawl.folder.history.pages
    crawl.close("finished", 3000.0)
