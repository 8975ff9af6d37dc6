"""A crawl through an outage, on a virtual clock, without Scrapy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.livecrawl import finish
from support.parts import sites_of
from support.webs import DictWeb, host_farm, page

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.records import ACTIVE, UNINFORMATIVE, CrawlUrl, Fetch, Topic
from crawlproject.storage.append_log import read_lines

PORTAL = "http://portal.example/"
BEGIN = 1_700_000_000.0


def crawl_through(
    folder: Path, web: DictWeb, is_away: Callable[[float, str], bool], **settings: object
) -> tuple[Crawl, float, int]:
    """Run a crawl to its end; return it, its duration in seconds, and the number of fetches without an answer."""
    topic, now, failed = Topic("reef", ("reef",), (PORTAL,)), BEGIN, 0
    crawl = assemble(topic, read_options({"ORDERING": "dom", **settings}), clock=lambda: now, folder=folder)
    while not crawl.end_reason(now):
        url = crawl.take(now)
        if url is None:
            due = crawl.next_due(now)
            if due is None:
                break
            assert due > now
            now = due
            continue
        now += 0.1
        if is_away(now - BEGIN, url.url):
            failed += 1
            crawl.unreachable(url, "timeout", Fetch(0, now, 0.1))
            continue
        reply, fetch = web.get(url.url), Fetch(200, now, 0.1)
        page = crawl.receive(url, reply, fetch)
        assert page is not None
        finish(crawl, url, crawl.steps.examine(page, fetch), reply.body, fetch)
    crawl.close(crawl.end_reason(now) or "finished", now)
    return crawl, now - BEGIN, failed


def errors(folder: Path) -> dict[str, str]:
    return {line["url"]: line["error"] for line in read_lines(folder / "history.jsonl") if line["error"]}


@pytest.mark.parametrize("frontier", ["memory", "disk"])
@pytest.mark.parametrize("hosts", [1, 3, 30])
def test_a_minute_without_network_costs_a_minute_and_no_url(tmp_path: Path, frontier: str, hosts: int) -> None:
    web = host_farm(hosts, 90 // hosts)
    settings = {"FRONTIER": frontier, "CRAWL_SITE_BUDGET": 0, "TRAP_TEMPLATES": False}
    _, usual, _ = crawl_through(tmp_path / "usual", web, lambda at, url: False, **settings)
    crawl, seconds, failed = crawl_through(tmp_path / "outage", web, lambda at, url: 5.0 < at < 65.0, **settings)
    assert set(crawl.folder.history) == set(web.replies) and not errors(tmp_path / "outage")
    assert crawl.stats.counters()["outages"] == 1 and failed < 30
    assert seconds < usual + 60.0 + 25.0, "the last probe but one waited 20 s"
    assert not sites_of(crawl).tracker.hosts.given_up


def test_a_network_that_does_not_come_back_ends_the_crawl_and_all_waits(tmp_path: Path) -> None:
    web = host_farm(10, 9)
    away = tmp_path / "crawl"
    crawl, seconds, _ = crawl_through(away, web, lambda at, url: at > 5.0, CRAWL_MAX_OUTAGE=600)
    assert crawl.end_reason(BEGIN + seconds) == "no network" and seconds == pytest.approx(605.0, abs=5.0)
    assert not errors(away) and len(crawl.folder.history) < len(web.replies)
    resumed, _, _ = crawl_through(away, web, lambda at, url: False)
    assert set(resumed.folder.history) == set(web.replies)


def test_a_run_in_which_nobody_answers_ends_after_a_minute(tmp_path: Path) -> None:
    crawl, seconds, failed = crawl_through(tmp_path, host_farm(1, 1), lambda at, url: True)
    assert crawl.end_reason(BEGIN + seconds) == "no network" and 60.0 <= seconds < 61.0 and failed == 5
    assert crawl.stats.fetches == 0


def test_one_host_that_is_away_waits_while_the_others_are_crawled(tmp_path: Path) -> None:
    web = host_farm(10, 9)
    back, never = tmp_path / "back", tmp_path / "never"
    crawl, _, _ = crawl_through(back, web, lambda at, url: "h3." in url and 8.0 < at < 40.0, CRAWL_SITE_BUDGET=0)
    assert set(crawl.folder.history) == set(web.replies) and not errors(back)
    dead = {url for url in web.replies if "h3." in url}
    crawl, _, failed = crawl_through(never, web, lambda at, url: url in dead, CRAWL_SITE_BUDGET=0)
    assert errors(never) == {"http://h3.example/": "timeout"} and failed == 3
    assert set(crawl.folder.history) == set(web.replies) - dead | {"http://h3.example/"}


def test_an_outage_does_not_teach_the_budgets(tmp_path: Path) -> None:
    web = host_farm(5, 4)
    crawl, _, failed = crawl_through(tmp_path, web, lambda at, url: 3.0 < at < 63.0)
    assert failed and sites_of(crawl).tracker.sites.fetches == len(crawl.folder.history)


def links_to_the_dead(dead: int) -> DictWeb:
    """Every page of a live host links to dead hosts before its own pages."""
    web = host_farm(2, 20)
    hosts = [f"http://dead{number}.example/" for number in range(dead)]
    for number, url in enumerate([PORTAL, "http://h0.example/", "http://h1.example/"]):
        inner = {PORTAL: ["http://h0.example/", "http://h1.example/"]}.get(url) or [f"{url}p{p}" for p in range(19)]
        web.replies |= dict([page(url, *hosts[number::3], *inner, text="reef")])
    return web


@pytest.mark.parametrize("frontier", ["memory", "disk"])
@pytest.mark.parametrize(("dead", "most"), [(15, 20.0), (90, 40.0), (300, 150.0)])
def test_dead_hosts_do_not_stop_a_crawl_while_others_answer(
    tmp_path: Path, frontier: str, dead: int, most: float
) -> None:
    """The first page links to a hundred dead hosts before any live one, which is indistinguishable from an outage."""
    web = links_to_the_dead(dead)
    settings = {"FRONTIER": frontier, "CRAWL_SITE_BUDGET": 0, "TRAP_TEMPLATES": False, "CRAWL_MAX_PAGES": 30}
    crawl, seconds, _ = crawl_through(tmp_path, web, lambda at, url: "dead" in url, **settings)
    assert crawl.folder.history.pages == 30 and seconds < most
    assert crawl.stats.counters().get("outages", 0) == (dead == 300)


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_while_pages_are_scarce_nobody_waits_for_the_dead(tmp_path: Path, frontier: str) -> None:
    """URLs of the last class come before the next try of a dead host, and after a host that rests."""
    settings = {"FRONTIER": frontier, "CRAWL_MAX_PAGES": 1_000, "CRAWL_RETRY_DELAY": 60, "POLITENESS_MIN_DELAY": 20}
    crawl = assemble(Topic("reef", ("reef",), (PORTAL,)), read_options(settings), clock=lambda: BEGIN, folder=tmp_path)
    seed = crawl.take(BEGIN)
    assert seed is not None
    crawl.frontier.put_many(
        CrawlUrl(f"http://{host}.example/{n}", 0.5, 1, PORTAL, precedence=precedence)
        for host, precedence in (("dead", ACTIVE), ("good", ACTIVE), ("late", UNINFORMATIVE))
        for n in (1, 2)
    )
    crawl.fail(seed, "http 404", Fetch(404, BEGIN, 0.1))
    taken = []
    for seconds in range(0, 120):
        while url := crawl.take(now := BEGIN + seconds):
            taken.append((seconds, url.url.removeprefix("http://").replace(".example", "")))
            if "dead" in url.url:
                crawl.unreachable(url, "timeout", Fetch(0, now, 0.1))
            else:
                crawl.fail(url, "http 404", Fetch(404, now, 0.1))
    assert taken == [(0, "dead/1"), (0, "good/1"), (21, "good/2"), (21, "late/1"), (42, "late/2"), (60, "dead/1")]
    crawl.close("stopped", BEGIN + 120)
