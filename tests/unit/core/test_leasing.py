"""The choice of the next lease: hosts over budget are blocked in the frontier, URLs of bad templates are held."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.livecrawl import finish, taken
from support.parts import sites_of

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.leasing import LATE_PLACES, LATE_SECONDS
from crawlproject.core.robots import RobotsRules
from crawlproject.records import FIRST, PROBE, CrawlUrl, Fetch, FetchEvent, Page, Topic, Visit
from crawlproject.urls.hosts import host_of

SEED = "http://www.seed.example/"


def a_crawl(folder: Path, ordering: str = "best_first", **settings: object) -> Crawl:
    fast = {"POLITENESS_MIN_DELAY": 0.1, "POLITENESS_FACTOR": 0, "ORDERING": ordering, "CRAWL_FRONT_PAGES": False}
    topic = Topic("reef", ("coral reef",), (SEED,))
    crawl = assemble(topic, read_options({**fast, **settings}), clock=lambda: 0.0, folder=folder)
    crawl.fail(taken(crawl), "http 404", Fetch(404, 1.0, 0.1))
    return crawl


def offer(crawl: Crawl, *hosts: str, pages: int = 3, score: float = 0.5) -> None:
    for host in hosts:
        for number in range(pages):
            crawl.admission.offer(CrawlUrl(f"http://{host}/{number}", score, 1, SEED))


def spend(crawl: Crawl, site: str, *, spam: float = 0.0) -> None:
    """Make fetches that exceed the budget of a site."""
    for number in range(60):
        visit = Visit(f"http://www.{site}/old/{number}", 200, 2.0 + number / 100, md5="x", spam=spam)
        sites_of(crawl).tracker.learn(FetchEvent(visit, (), lambda: Page(visit.url)))  # noqa: B023


def fetched(crawl: Crawl, now: float, n: int) -> list[str]:
    """The next ``n`` URLs, each fetched when its host is due."""
    urls: list[str] = []
    while len(urls) < n:
        url = crawl.take(now)
        if url is None:
            due = crawl.frontier.next_due(now)
            if due is None:
                break
            now = due
            continue
        urls.append(url.url)
        crawl.fail(url, "http 404", Fetch(404, now, 0.1))
    return urls


def test_a_host_over_budget_comes_later_when_its_first_url_comes_up(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    spend(crawl, "greedy.example", spam=1.0)
    offer(crawl, "www.greedy.example", pages=500, score=0.9)
    offer(crawl, "www.modest.example", score=0.1)
    assert host_of(taken(crawl, 10.0).url) == "www.modest.example"
    assert not list(crawl.frontier.blocked()), "it comes later, it is not forbidden"
    assert sites_of(crawl).why_waits("www.greedy.example", 10.0) == "over budget"
    assert crawl.stats.counters()["sites/waits"] == 1, "one URL represents all of its host"
    assert len(crawl.frontier) == 502 and not any(url.not_before for url in crawl.frontier.waiting())


def test_hosts_over_budget_are_fetched_when_nothing_better_is_due(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, CRAWL_MAX_PAGES=1000)
    spend(crawl, "spam.example", spam=1.0)
    spend(crawl, "honest.example")
    offer(crawl, "www.spam.example", score=0.9)
    offer(crawl, "www.honest.example", score=0.1)
    assert [host_of(url) for url in fetched(crawl, 10.0, 3)] == ["www.honest.example"] * 3
    assert len(fetched(crawl, 11.0, 3)) == 3, "spam comes last, but it comes"


FORBIDDING = RobotsRules(200, b"User-agent: *\nDisallow: /no\n", 1000.0, "any")


def test_what_a_known_robots_txt_forbids_is_not_put_in_line(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    crawl.learn_robots("http://h.example", FORBIDDING, 5.0)
    links = "".join(f"<a href='{url}'>reef</a>" for url in ("/no/1", "/yes", "https://h.example/no/2", "/no/3"))
    seen: list[str] = []
    crawl.ordering.refused = seen.append  # type: ignore[method-assign]
    page = crawl.steps.read(CrawlUrl("http://h.example/", 1.0, 1, SEED), links.encode())
    finish(crawl, CrawlUrl(page.url, 1.0, 1, SEED), page, b"", Fetch(200, 9.0, 0.1))
    assert {url.url for url in crawl.frontier.waiting()} == {"http://h.example/yes", "https://h.example/no/2"}
    assert seen == ["http://h.example/no/1", "http://h.example/no/3"]
    assert crawl.folder.refusals.counts == {"robots/forbidden": 2}


def test_what_waits_when_robots_txt_becomes_known_is_refused_at_its_turn(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    offer(crawl, "h.example/no", score=0.9)
    offer(crawl, "h.example", score=0.1, pages=1)
    crawl.learn_robots("http://h.example", FORBIDDING, 5.0)
    assert fetched(crawl, 10.0, 5) == ["http://h.example/0"]
    assert crawl.folder.refusals.counts == {"robots/forbidden": 3}


def test_a_resume_with_fewer_domains_fetches_none_of_the_others(tmp_path: Path) -> None:
    first = a_crawl(tmp_path)
    offer(first, "left.example", "kept.example", pages=1)
    first.close("shutdown", 5.0)
    topic = Topic("reef", ("coral reef",), (SEED,))
    settings = {"ORDERING": "best_first", "CRAWL_ALLOWED_DOMAINS": ["kept.example", "seed.example"]}
    second = assemble(topic, read_options(settings), clock=lambda: 6.0, folder=tmp_path)
    assert fetched(second, 10.0, 5) == ["http://kept.example/0"]
    assert second.folder.refusals.counts == {"scope/domain": 1}


def test_a_resume_that_spells_urls_otherwise_fetches_each_once_with_its_score(tmp_path: Path) -> None:
    first = a_crawl(tmp_path)
    for name, score in (("1?ref=a", 0.9), ("2?ref=a", 0.7), ("2?ref=b", 0.8), ("3", 0.6)):
        first.admission.offer(CrawlUrl(f"http://h.example/{name}", score, 3, SEED))
    first.close("shutdown", 5.0)
    topic, settings = Topic("reef", ("coral reef",), (SEED,)), {"CRAWL_URL_STRIP_PARAMETERS": "ref"}
    options = read_options({"ORDERING": "best_first", **settings})
    second = assemble(topic, options, clock=lambda: 6.0, folder=tmp_path)
    urls = []
    while url := second.take(now := second.next_due(10.0) or 10.0):
        urls.append((url.url, url.score, url.depth, url.parent))
        second.fail(url, "http 404", Fetch(404, now, 0.1))
    assert urls == [(f"http://h.example/{n}", score, 3, SEED) for n, score in ((1, 0.9), (2, 0.8), (3, 0.6))]
    assert second.folder.refusals.counts == {"dust/copy": 3} and not len(second.frontier)


def test_a_robots_txt_that_has_expired_or_was_not_there_says_nothing(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    offer(crawl, "h.example/no", "g.example/no", "f.example/no", pages=1)
    crawl.learn_robots("http://h.example", FORBIDDING, 5.0)
    crawl.learn_robots("http://g.example", RobotsRules(503, b"", 2000.0, "any"), 5.0)
    crawl.learn_robots("http://f.example", FORBIDDING, 5.0)
    crawl.learn_robots("http://f.example", RobotsRules(404, b"", 2000.0, "any"), 6.0)
    assert len(fetched(crawl, 1001.0, 5)) == 3


def test_what_robots_txt_forbids_takes_no_turn_of_hosts_over_budget(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    hosts = [f"www.greedy{number}.example" for number in range(3)]
    for host in hosts:
        spend(crawl, host.removeprefix("www."), spam=1.0)
    offer(crawl, *(f"{host}/no" for host in hosts[:2]), score=0.9)
    offer(crawl, hosts[2], score=0.1, pages=1)
    for host in hosts:
        crawl.learn_robots(f"http://{host}", FORBIDDING, 5.0)
    assert taken(crawl, 10.0).url == f"http://{hosts[2]}/0"


def test_a_host_that_rests_is_left_alone(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, CRAWL_BLOCKED_REST=60)
    offer(crawl, "www.wall.example")
    sites_of(crawl).tracker.learn(FetchEvent(Visit("http://www.wall.example/x", 503, 5.0, error="http 503")))
    assert crawl.take(10.0) is None
    assert crawl.frontier.next_due(10.0) == pytest.approx(65.0)


def test_a_probe_waits_for_the_rest_of_its_host_but_not_for_the_budget_of_its_site(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, CRAWL_CLOAKING_PROBE=0.1)
    spend(crawl, "greedy.example", spam=1.0)
    offer(crawl, "www.greedy.example")
    probe = CrawlUrl("http://www.greedy.example/a", 1.0, 1, SEED, kind=PROBE, variant="browser", precedence=FIRST)
    crawl.frontier.put(probe)
    assert crawl.take(10.0) == probe


def test_an_ordering_with_an_active_set_makes_room_for_others(tmp_path: Path) -> None:
    """The URLs of a blocked host take no places from other URLs."""
    crawl = a_crawl(tmp_path, "adaptive", ORDERING_ACTIVE=4)
    spend(crawl, "greedy.example", spam=1.0)
    hosts = ["www.greedy.example"] * 8 + [f"www.h{number}.example" for number in range(8)]
    page = crawl.steps.read(
        CrawlUrl("http://www.portal.example/", 1.0, 1, SEED),
        "".join(f"<a href='http://{host}/{n}'>coral reef</a> " for n, host in enumerate(hosts)).encode(),
    )
    finish(crawl, CrawlUrl(page.url, 1.0, 1, SEED), page, b"", Fetch(200, 9.0, 0.1))
    counts = Counter(host_of(url) == "www.greedy.example" for url in fetched(crawl, 10.0, 8))
    assert counts[False] == 8


def test_what_comes_later_has_few_places_while_better_hosts_rest(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    spend(crawl, "swarm.example", spam=1.0)
    offer(crawl, *(f"{n}.swarm.example" for n in range(2 * LATE_PLACES)), pages=1, score=0.9)
    offer(crawl, "www.honest.example", pages=2, score=0.1)
    honest = taken(crawl, 10.0)
    assert host_of(honest.url) == "www.honest.example"
    crawl.fail(honest, "http 404", Fetch(404, 10.0, 0.1))
    assert [host_of(taken(crawl, 10.01).url) for _ in range(LATE_PLACES)] == [f"{n}.swarm.example" for n in range(8)]
    assert crawl.take(10.02) is None, "the honest host rests, and must not find all places taken"
    assert host_of(taken(crawl, 10.2).url) == "www.honest.example"
    assert host_of(taken(crawl, 10.2).url) == "8.swarm.example", "nothing better waits now"


def test_servers_that_keep_a_crawl_waiting_take_no_places(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    spend(crawl, "swarm.example", spam=1.0)
    offer(crawl, *(f"{n}.swarm.example" for n in range(2 * LATE_PLACES)), pages=1, score=0.9)
    offer(crawl, "www.honest.example", pages=2, score=0.1)
    crawl.fail(taken(crawl, 10.0), "http 404", Fetch(404, 10.0, 0.1))
    crawl.frontier.crawl_delay("www.honest.example", 600.0)
    crawl.fail(taken(crawl, 10.2), "http 404", Fetch(404, 10.2, 0.1))
    offer(crawl, "www.honest.example", pages=3, score=0.1)
    for _ in range(LATE_PLACES):
        taken(crawl, 10.3)
    assert crawl.take(10.3) is None
    due = crawl.next_due(10.3)
    assert due == 10.3 + LATE_SECONDS
    assert host_of(taken(crawl, due + 0.001).url) == "8.swarm.example"
