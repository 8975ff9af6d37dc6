"""The clock is set back between two runs: hosts rest as long as planned, and the crawl reports it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.livecrawl import taken
from support.timedcrawl import DAY, TimedCrawl
from support.webs import DictWeb, page

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.set_clock import set_back
from crawlproject.records import CrawlUrl, Fetch, Topic

THEN = 1_700_000_000.0


def opened(folder: Path, now: float, frontier: str, **settings: object) -> Crawl:
    topic = Topic("reef", ("coral",), seeds=("http://a.example/", "http://b.example/"))
    options = read_options({"FRONTIER": frontier, **settings})
    return assemble(topic, options, clock=lambda: now, folder=folder)


@pytest.mark.parametrize("frontier", ["memory", "disk"])
@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("by", [30.0, 3_600.0, 400 * 86_400.0])
def test_no_host_waits_longer_than_it_would_have(tmp_path: Path, frontier: str, killed: bool, by: float) -> None:
    crawl = opened(tmp_path / "crawl", THEN, frontier)
    for host in ("a", "b"):
        crawl.frontier.put(CrawlUrl(f"http://{host}.example/next", 1.0))
    for _ in range(2):
        crawl.fail(taken(crawl, THEN), "http 404", Fetch(404, THEN, 5.0))
    if killed:
        crawl.folder.close("", THEN, {})
    else:
        crawl.close("shutdown", THEN)
    again = opened(tmp_path / "crawl", THEN - by, frontier)
    (said,) = again.folder.warnings
    assert said.startswith(f"the clock was set back by {by:,.0f} s")
    assert again.take(THEN - by + 4.9) is None, "they rest as long as they worked"
    assert {taken(again, THEN - by + 5.1).url for _ in range(2)} == {"http://a.example/next", "http://b.example/next"}


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_the_clock_is_set_back_once_however_often_the_crawl_is_resumed(tmp_path: Path, frontier: str) -> None:
    crawl = opened(tmp_path / "crawl", THEN, frontier)
    for host in ("a", "b"):
        crawl.frontier.put(CrawlUrl(f"http://{host}.example/next", 1.0))
    for _ in range(2):
        crawl.fail(taken(crawl, THEN), "http 429", Fetch(429, THEN, 0.5, asked_rest=200.0))
    crawl.close("shutdown", THEN)
    now, warned = THEN - 3_600.0, []
    for seconds in range(3):
        again = opened(tmp_path / "crawl", now + seconds, frontier)
        warned.append(len(again.folder.warnings))
        assert again.take(now + 199.0) is None
        again.close("shutdown", now + seconds)
    assert warned == [1, 0, 0]


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_the_clock_is_set_back_once_also_for_a_run_that_is_killed_before_its_first_fetch(
    tmp_path: Path, frontier: str
) -> None:
    crawl = opened(tmp_path / "0", THEN, frontier, POLITENESS_MAX_CRAWL_DELAY=2_000)
    for host in ("a", "b"):
        crawl.frontier.put(CrawlUrl(f"http://{host}.example/next", 1.0))
    for _ in range(2):
        crawl.fail(taken(crawl, THEN), "http 429", Fetch(429, THEN, 0.5, asked_rest=2_000.0))
    crawl.close("shutdown", THEN)
    now, runs = THEN - 1_500.0, [crawl]
    for number in range(3):
        runs.append(opened(tmp_path / str(number), now + number, frontier, POLITENESS_MAX_CRAWL_DELAY=2_000))
        assert runs[-1].take(now + 1_999.0) is None
        shutil.copytree(tmp_path / str(number), tmp_path / str(number + 1))  # what a kill leaves
    assert [len(run.folder.warnings) for run in runs[1:]] == [1, 0, 0]
    taken(runs[-1], now + 2_010.0)
    for run in runs[1:]:
        run.close("shutdown", now)


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_a_silent_host_rests_for_hours_also_across_a_resume(tmp_path: Path, frontier: str) -> None:
    crawl = opened(tmp_path / "crawl", THEN, frontier, CRAWL_RETRY_DELAY=7_200)
    answering, silent = taken(crawl, THEN), taken(crawl, THEN)
    crawl.fail(answering, "http 404", Fetch(404, THEN, 0.1))
    crawl.unreachable(silent, "TimeoutError", Fetch(0, THEN, 0.1))
    crawl.close("shutdown", THEN)
    again = opened(tmp_path / "crawl", THEN + 60.0, frontier, CRAWL_RETRY_DELAY=7_200)
    assert again.next_due(THEN + 60.0) == pytest.approx(THEN + 7_200.0)
    again.close("shutdown", THEN + 60.0)


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_no_url_is_held_longer_than_it_would_have_been(tmp_path: Path, frontier: str) -> None:
    crawl = opened(tmp_path / "crawl", THEN, frontier)
    visits = {taken(crawl, THEN).url: seconds for seconds in (3_600.0, -3_600.0)}
    for url, seconds in visits.items():
        crawl.frontier.done(url, THEN, 0.1, refetch_at=THEN + seconds)
    crawl.frontier.put(CrawlUrl("http://c.example/", 1.0))
    crawl.fail(taken(crawl, THEN), "http 404", Fetch(404, THEN, 0.1))
    crawl.frontier.put(CrawlUrl("http://c.example/held", 1.0, not_before=THEN + 7_200.0))
    crawl.close("shutdown", THEN)
    now = THEN - 400 * 86_400.0
    again = opened(tmp_path / "crawl", now, frontier)
    held = {url.url: url.not_before for url in again.frontier.waiting()}
    (due, later) = visits
    assert held[due] == now + 3_600.0 and held[later] <= now and held["http://c.example/held"] == now + 7_200.0
    again.close("shutdown", now)


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_pages_are_visited_again_as_often_as_before(tmp_path: Path, frontier: str) -> None:
    topic = Topic("reef", ("coral reef",), ("http://a.example/",))
    links = [page(f"http://a.example/{number}", text=f"coral reef {number}") for number in range(2)]
    web = DictWeb(dict([page("http://a.example/", "/0", "/1", text="coral reef"), *links]))
    settings = {"CRAWL_REVISIT": "uniform", "CRAWL_MAX_PAGES": 3, "CRAWL_RATE": 3, "CRAWL_FRONT_PAGES": False}
    TimedCrawl(topic, tmp_path, web, THEN, FRONTIER=frontier, **settings).run(600.0).close()
    again = TimedCrawl(topic, tmp_path, web, THEN - 400 * DAY, FRONTIER=frontier, **settings).run(DAY)
    again.close()
    assert len(again.asked) >= 65, "three an hour, from the second hour on"


@pytest.mark.parametrize("tail", [b"", b"\n", b"[]\n", b"{}\n", b'{"at": "x"}\n', b"\xff\n", b'{"at": 9}'])
def test_a_history_that_tells_no_time_tells_nothing(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "history.jsonl"
    assert set_back(path, 0.0) == 0.0
    path.write_bytes(tail)
    assert set_back(path, 0.0) == 0.0


def test_the_last_whole_line_counts(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'{"at": 7}\n' * 10_000 + b'{"at": 50.5}\n{"at": 9')
    assert set_back(path, 40.0) == 10.5 and set_back(path, 60.0) == 0.0
