"""Workers that share a collection, over real sockets: every change is found once, even if workers die or join late."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.changingweb import DELAY, REVISITING, SPAN, ChangingWeb, untold
from support.crawling import PATIENCE, scrapy, topic_file
from support.crew import Crew, lines, pauses, wait_for
from support.redisserver import PROGRAM, RedisServer, redis_server
from support.webs import DictWeb, are_kept, page

from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.parts.workers.merge_workers import merge_workers
from crawlproject.storage.logs import read_changes
from crawlproject.storage.read import read_visits

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")

SETTINGS: dict[str, Any] = {**REVISITING, "FRONTIER_REDIS_LEASE": 3}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path / "redis") as running_server:
        yield running_server


def interrupt(crew: Crew) -> None:
    """Send SIGINT to all workers, as Ctrl-C does."""
    for process in crew.processes.values():
        process.send_signal(signal.SIGINT)
    for name, process in crew.processes.items():
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 3 and "Traceback" not in errors, f"{name}: {errors}"


def test_every_change_is_found_whoever_dies_or_comes_late(tmp_path: Path, server: RedisServer) -> None:
    web = ChangingWeb(time.time, start=time.time(), span=SPAN)
    folder = tmp_path / "crawl"

    def left() -> dict[str, set[str]]:
        merge_workers(folder)
        return untold(web, folder, time.time())

    with AccessLog(tmp_path / "log") as log, running(web, log=log) as front:
        crew = Crew(folder, topic_file(tmp_path, *web.seeds), server, front.port, **SETTINGS)
        crew.start("a")
        crew.start("b")
        wait_for(lambda: lines(tmp_path / "log") > 400, 300.0)
        crew.kill("a")
        gone = crew.processes.pop("a")
        crew.start("late")
        wait_for(lambda: lines(tmp_path / "log") > 900, 300.0)
        crew.kill("b")
        before = lines(folder / "workers/b/history.jsonl")
        crew.start("b")
        wait_for(lambda: lines(folder / "workers/b/history.jsonl") > before + 20, 300.0)
        until = time.time() + PATIENCE
        while time.time() < web.start + SPAN or (left() and time.time() < until):
            time.sleep(1.0)
        interrupt(crew)
    assert gone.returncode == -signal.SIGKILL
    assert scrapy("changes", folder).returncode == 0
    assert untold(web, folder, web.start + SPAN) == {}

    visits = list(read_visits(folder))
    assert Counter((visit.url, visit.number) for visit in visits).most_common(1)[0][1] == 1, "no visit has two lines"
    by_page: dict[str, list[Any]] = {}
    for visit in visits:
        by_page.setdefault(visit.url, []).append(visit)
    for seen in by_page.values():
        assert [visit.number for visit in seen] == list(range(1, len(seen) + 1))
        assert all(later.version - earlier.version in (0, 1) for earlier, later in pairwise(seen))
    told = [(change.url, change.version) for change in read_changes(folder) if change.change == "changed"]
    assert len(told) - len(set(told)) <= 2, "a killed worker may have told of a change, and another once more"
    makers = {path.name: {v.url for v in read_visits(path) if v.number > 1} for path in crew.workers()}
    assert min(map(len, makers.values())) > 20 and makers["late"] & makers["a"], (
        "the hosts of a worker that is gone are others'"
    )
    last = {visit.url: visit for visit in visits if visit.md5}
    stored = {json.loads(line)["url"]: json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()}
    assert {url: item["version"] for url, item in stored.items() if not item["state"]} == {
        url: visit.version for url, visit in last.items() if not stored[url]["state"]
    }

    requests = [access for access in read_log(tmp_path / "log") if not access["url"].endswith("/robots.txt")]
    assert sum(access["status"] == 304 for access in requests) > 20, "validators are used, whoever got them"
    assert are_kept(pauses(tmp_path / "log"), DELAY)


def test_the_rate_is_that_of_all_workers(tmp_path: Path, server: RedisServer) -> None:
    urls = [f"http://h{n % 20}.example/p{n}" for n in range(40)]
    web = DictWeb(dict(page(url, text=f"coral reef number {n}") for n, url in enumerate(urls)))
    settings = {**SETTINGS, "CRAWL_MAX_PAGES": len(urls), "CRAWL_RATE": 4 * 3600}
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as front:
        crew = Crew(tmp_path / "crawl", topic_file(tmp_path, *urls), server, front.port, **settings)
        for name in ("a", "b", "c"):
            crew.start(name)

        def again() -> list[float]:
            pages = sorted(line["start"] for line in read_log(tmp_path / "log") if "robots.txt" not in line["url"])
            return pages[len(urls) :]

        wait_for(lambda: len(again()) > 80, 300.0)
        seconds = again()[80] - again()[20]
        interrupt(crew)
    assert seconds >= (60 - 11) / 4, "60 fetches, 4 a second, 11 at once after a pause"
    assert all(any(v.number > 1 for v in read_visits(worker)) for worker in crew.workers()), "all have a part in it"


def test_a_worker_without_the_folders_of_others_sees_changes(tmp_path: Path, server: RedisServer) -> None:
    """A worker on another machine, much later: the pages are not there, and the messages have expired."""
    urls = [f"http://h{n}.example/" for n in range(6)]
    web = DictWeb(dict(page(url, text=f"coral reef number {chr(97 + n)} with words") for n, url in enumerate(urls)))
    settings = {**SETTINGS, "FRONTIER_REDIS_MESSAGES": 1, "CRAWL_MAX_PAGES": 6, "CRAWL_RATE": 20 * 3600}
    topic = topic_file(tmp_path, *urls)
    with running(web) as front:
        first = Crew(tmp_path / "one", topic, server, front.port, **settings)
        first.start("a")
        wait_for(lambda: lines(tmp_path / "one/workers/a/history.jsonl") > 20, 300.0)
        interrupt(first)
        web.replies |= dict([page(urls[1], text="coral reef restored by divers of all countries")])
        second = Crew(tmp_path / "two", topic, server, front.port, **settings)
        second.start("b")
        wait_for(lambda: lines(tmp_path / "two/workers/b/history.jsonl") > 20, 300.0)
        interrupt(second)
    before = {visit.url: visit.number for visit in read_visits(tmp_path / "one/workers/a")}
    visits = list(read_visits(tmp_path / "two/workers/b"))
    assert {visit.url: visit.number for visit in reversed(visits)} == {url: n + 1 for url, n in before.items()}
    assert Counter(v.change for v in visits) == {"changed": 1, "same": len(visits) - 1}
    (change,) = read_changes(tmp_path / "two/workers/b")
    assert (change.url, change.version, change.added) == (urls[1], 2, ()) and change.novelty > 0.5


def test_a_round_of_one_worker_ends(tmp_path: Path, server: RedisServer) -> None:
    urls = [f"http://h{n}.example/" for n in range(12)]
    web = DictWeb(dict(page(url, text=f"coral reef number {n}") for n, url in enumerate(urls)))
    with running(web) as front:
        settings = {"CRAWL_MAX_PAGES": 12, "POLITENESS_MIN_DELAY": 0.02}
        crew = Crew(tmp_path / "crawl", topic_file(tmp_path, *urls), server, front.port, **settings)
        crew.start("a")
        crew.wait()
        chosen = {"REDIS_URL": server.url, "CRAWL_WORKER": "a", "CRAWL_PROGRESS_SECONDS": 0}
        for pages in (5, 40):
            done = scrapy("revisit", tmp_path / "crawl", "--pages", pages, port=front.port, **chosen)
            assert done.returncode == 0, done.stderr
    again = [visit for visit in read_visits(tmp_path / "crawl/workers/a") if visit.number > 1]
    assert Counter(visit.change for visit in again) == {"same": 5 + 12}


def test_workers_that_tell_nothing_are_refused(tmp_path: Path, server: RedisServer) -> None:
    topic = topic_file(tmp_path, "http://a.example/")
    crew = Crew(tmp_path / "crawl", topic, server, 1, CRAWL_REVISIT="uniform", FRONTIER_REDIS_MESSAGES=0)
    crew.start("a")
    said = crew.processes["a"].communicate(timeout=60)[1]
    assert crew.processes["a"].returncode == 2
    assert "FRONTIER_REDIS_MESSAGES" in said and "more than 0" in said and "Traceback" not in said
