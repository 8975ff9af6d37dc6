"""The network fails, over real sockets: nothing is lost, and the crawl reports the outage."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.crawling import QUICK, crawl, history, start, stored, topic_file
from support.httpserver import HtmlHandler, listening, local
from support.redisserver import PROGRAM, redis_server
from support.warm import Started
from support.webs import DictWeb, host_farm, page

from crawlproject.http.virtual_web_server import running
from crawlproject.records import Reply

PORTAL = "http://portal.example/"
AWAY = 3.0  # seconds without network
RETRIES = {"CRAWL_RETRY_DELAY": 0.1, "DOWNLOAD_TIMEOUT": 5}


@contextmanager
def started(topic: Path, folder: Path, port: int, **settings: Any) -> Iterator[Started]:
    chosen = {**QUICK, "CRAWL_DIR": folder, **RETRIES, **settings}
    with start("crawl", "topical", "-a", f"topic={topic}", "-a", "ordering=dom", port=port, **chosen) as process:
        yield process


def wait_for(lines: int, folder: Path) -> None:
    while not (folder / "history.jsonl").exists() or len((folder / "history.jsonl").read_bytes().splitlines()) < lines:
        time.sleep(0.01)


def reason(folder: Path) -> str:
    found: str = json.loads((folder / "crawl.json").read_text())["reason"]
    return found


@pytest.mark.parametrize(("frontier", "hosts"), [("memory", 30), ("disk", 30), ("redis", 30), ("memory", 1)])
def test_a_network_that_goes_away_in_mid_crawl_costs_no_url(tmp_path: Path, frontier: str, hosts: int) -> None:
    if frontier == "redis" and PROGRAM is None:
        pytest.skip("no redis-server on this machine; `make test` installs one")
    web = host_farm(hosts, 300 // hosts, seconds=0.02)
    topic, folder = topic_file(tmp_path, PORTAL), tmp_path / "crawl"
    settings: dict[str, Any] = {"FRONTIER": frontier}
    own = folder / "workers" / "one" if frontier == "redis" else folder
    with ExitStack() as stack:
        if frontier == "redis":
            server = stack.enter_context(redis_server(tmp_path / "redis"))
            settings |= {"REDIS_URL": server.url, "CRAWL_WORKER": "one"}
        with running(web, latency=True) as first:
            process = stack.enter_context(started(topic, folder, first.port, CONCURRENT_REQUESTS=8, **settings))
            wait_for(60, own)
        time.sleep(AWAY)
        before = len(history(own))
        with running(web, first.port, latency=True):
            said = process.communicate(timeout=120)[1]
    assert process.returncode == 0, said
    assert before < len(web.replies), "the network went away in mid-crawl"
    assert stored(own) == set(web.replies), "every page is there"
    assert [line["error"] for line in history(own) if line["error"]] == []
    assert "No host answers: the crawl pauses" in said and "The network is back after" in said
    assert reason(own) == "finished"


def test_seeds_that_are_all_away_are_tried_again_by_the_next_run(tmp_path: Path) -> None:
    web = host_farm(3, 3)
    topic, folder = topic_file(tmp_path, PORTAL, "http://h0.example/", "http://h1.example/"), tmp_path / "crawl"
    with running(web) as server:
        port = server.port
    failed = crawl(topic, folder, port=port, **RETRIES)
    assert failed.returncode == 3, failed.stderr
    assert "No host answers: the crawl stops" in failed.stderr and "Traceback" not in failed.stderr
    assert ".example: DownloadConnectionRefusedError" in failed.stderr
    assert reason(folder) == "no network" and not (folder / "finished.json").exists()
    assert not (folder / "history.jsonl").exists() or not history(folder)
    with running(web, port):
        resumed = crawl(topic, folder, port=port, **RETRIES)
    assert resumed.returncode == 0, resumed.stderr
    assert stored(folder) == set(web.replies)


def test_a_dead_host_ends_with_an_error_and_does_not_hold_the_crawl_up(tmp_path: Path) -> None:
    """The proxy represents a dead host by closing the connection without a response."""
    replies = dict([page(PORTAL, "http://dead.example/", "http://dead.example/more", "http://b.example/", text="reef")])
    replies |= dict([page("http://b.example/", text="reef")])
    for url in ("http://dead.example/robots.txt", "http://dead.example/", "http://dead.example/more"):
        replies[url] = Reply(url, 0, error="connection refused")
    with running(DictWeb(replies)) as server:
        done = crawl(topic_file(tmp_path, PORTAL), tmp_path / "crawl", port=server.port, **RETRIES)
    assert done.returncode == 0 and reason(tmp_path / "crawl") == "finished", done.stderr
    assert stored(tmp_path / "crawl") == {PORTAL, "http://b.example/"}
    errors = [line["error"] for line in history(tmp_path / "crawl") if line["error"]]
    assert len(errors) == 1, "the other URL is refused by robots.txt, which is unreachable"
    assert "No host answers" not in done.stderr


def test_a_closed_port_of_the_only_host_holds_nothing_up(tmp_path: Path) -> None:
    """For example a site that answers over http only, with links to https."""

    came: list[float] = []

    class Site(HtmlHandler):
        def do_GET(self) -> None:
            links = f"<a href='http://127.0.0.1:{closed}/coral-reef'>coral reef</a><a href=/other>reef</a>"
            came.append(time.monotonic())
            self.answer(404 if self.path == "/robots.txt" else 200, f"coral reef {links if self.path == '/' else 'x'}")

    with listening(HtmlHandler) as closed:
        pass
    with listening(Site) as port:
        seed, settings = f"http://127.0.0.1:{port}/", {**local(port), "CRAWL_ALLOWED_PORTS": f"{port},{closed}"}
        folder = tmp_path / "crawl"
        done = crawl(topic_file(tmp_path, seed), folder, timeout=90, **{**RETRIES, "CRAWL_RETRY_DELAY": 2}, **settings)
    assert done.returncode == 0 and reason(folder) == "finished", done.stderr
    assert stored(folder) == {seed, f"{seed}other"}
    assert came[-1] - came[0] < 1.8, "only what is behind the closed port waits for its next try"
    assert "No host answers" not in done.stderr


def test_a_slow_page_of_a_quick_host_comes_in_the_end(tmp_path: Path) -> None:
    class Site(HtmlHandler):
        def do_GET(self) -> None:
            if self.path == "/slow":
                time.sleep(1.5)
            self.answer(404 if self.path == "/robots.txt" else 200, "coral <a href=/slow>reef</a> " + self.path)

    with listening(Site) as port:
        seed, folder = f"http://127.0.0.1:{port}/", tmp_path / "crawl"
        done = crawl(topic_file(tmp_path, seed), folder, CRAWL_MIN_TIMEOUT=0.5, **RETRIES, **local(port))
    assert done.returncode == 0, done.stderr
    assert stored(folder) == {seed, f"{seed}slow"}


@pytest.mark.parametrize("status", [429, 503])
def test_a_robots_txt_that_is_an_error_for_a_while_costs_no_url(tmp_path: Path, status: int) -> None:
    asked: list[float] = []

    class Site(HtmlHandler):
        def do_GET(self) -> None:
            if self.path == "/robots.txt":
                asked.append(time.monotonic())
                self.answer(status if len(asked) < 3 else 404, "", Retry_After="1")
            else:
                self.answer(200, "coral <a href=/one>reef</a> <a href=/two>reef</a> " + self.path)

    with listening(Site) as port:
        seed, folder = f"http://127.0.0.1:{port}/", tmp_path / "crawl"
        done = crawl(topic_file(tmp_path, seed), folder, **RETRIES, **local(port))
    assert done.returncode == 0 and reason(folder) == "finished", done.stderr
    assert stored(folder) == {seed, f"{seed}one", f"{seed}two"}
    assert len(asked) == 3
    assert all(then - before >= 1.0 for before, then in pairwise(asked)), "as its Retry-After asks"
