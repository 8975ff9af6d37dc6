"""Politeness as the server sees it, according to its log."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from support.crawling import crawl, history, refusals, stored, topic_file
from support.webs import LATE, DictWeb, OverloadedWeb, by_host, gaps, host_farm, page, robots

from crawlproject.http.virtual_web_server import Access, AccessLog, read_log, running
from crawlproject.records import Reply

HOSTS, PAGES, DELAY = 12, 5, 0.25


def test_no_host_is_visited_twice_within_the_delay(tmp_path: Path) -> None:
    topic = topic_file(tmp_path, "http://portal.example/")
    with (
        AccessLog(tmp_path / "log") as log,
        running(host_farm(HOSTS, PAGES, seconds=0.02), latency=True, log=log) as web,
    ):
        done = crawl(topic, tmp_path / "crawl", port=web.port, POLITENESS_MIN_DELAY=DELAY)
    assert done.returncode == 0, done.stderr
    requests = by_host(read_log(tmp_path / "log"))
    assert len(stored(tmp_path / "crawl")) == HOSTS * PAGES + 1
    assert min(gap for host in requests.values() for gap in gaps(host)) >= DELAY - LATE
    starts = sorted(access["start"] for host in requests.values() for access in host)
    assert max(later - earlier for earlier, later in itertools.pairwise(starts)) < 3, "stalled"


def test_pages_that_wait_for_their_robots_txt_leave_no_connection_unused(tmp_path: Path) -> None:
    """Scrapy counts both requests of such a page against the limit."""
    web = host_farm(30, 2, seconds=0.1)
    for number in range(30):
        url, reply = robots(f"http://h{number}.example", "User-agent: *\nDisallow: /private\n")
        web.replies[url] = replace(reply, seconds=0.5)
    topic = topic_file(tmp_path, "http://portal.example/")
    with AccessLog(tmp_path / "log") as log, running(web, latency=True, log=log) as server:
        crawl(topic, tmp_path / "crawl", port=server.port, CONCURRENT_REQUESTS=4, POLITENESS_MIN_DELAY=0.1)
    starts = sorted(access["start"] for access in read_log(tmp_path / "log") if access["url"].endswith("/robots.txt"))
    assert starts[-1] - starts[1] < 5.8, "3.7 s if all four connections are always used"


def test_crawl_delay_is_obeyed(tmp_path: Path) -> None:
    web = host_farm(3, 4, rules="User-agent: *\nCrawl-delay: 0.6\n")
    topic = topic_file(tmp_path, "http://portal.example/")
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        crawl(topic, tmp_path / "crawl", port=server.port)
    requests = by_host(read_log(tmp_path / "log"))
    assert len(stored(tmp_path / "crawl")) == 13
    # the first gap follows robots.txt, which states the delay
    assert min(gap for host, seen in requests.items() if host != "portal.example" for gap in gaps(seen)) >= 0.6 - LATE


def test_a_server_that_asks_for_a_rest_gets_it(tmp_path: Path) -> None:
    """``Retry-After``: neither the retry nor another page of the host is requested earlier."""
    web = OverloadedWeb(host_farm(3, 4).replies, ["http://h1.example/p0"], 2)
    topic = topic_file(tmp_path, "http://portal.example/")
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        done = crawl(topic, tmp_path / "crawl", port=server.port)
    assert done.returncode == 0, done.stderr
    assert len(stored(tmp_path / "crawl")) == 13
    requests = by_host(read_log(tmp_path / "log"))
    place = next(at for at, access in enumerate(requests["h1.example"]) if access["status"] == 503)
    assert gaps(requests["h1.example"])[place] >= 2.0 - LATE
    assert max(gaps(requests["h2.example"])) < 2.0


def test_what_a_robots_txt_redirects_to_waits_for_its_host(tmp_path: Path) -> None:
    """A redirect to another host that is also crawled, and one to another file of the same host."""
    hosts = [f"http://{name}.example" for name in ("moved", "also", "target", "same")]
    pages = [f"{host}/p{n}" for host in hosts for n in range(4)]
    entries = dict([page("http://portal.example/", *pages, text="reef"), *(page(url, text="reef") for url in pages)])
    targets = {"moved": "http://target.example/rules", "also": "http://target.example/more", "same": "/rules"}
    for name, target in targets.items():
        url = f"http://{name}.example/robots.txt"
        entries[url] = Reply(url, 301, {"location": target})
    for url in ("http://target.example/rules", "http://target.example/more", "http://same.example/rules"):
        entries[url] = Reply(url, 200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /p0\n")
    topic = topic_file(tmp_path, "http://portal.example/")
    with AccessLog(tmp_path / "log") as log, running(DictWeb(entries), latency=True, log=log) as server:
        settings = {"POLITENESS_MIN_DELAY": DELAY, "CRAWL_FRONT_PAGES": False}
        done = crawl(topic, tmp_path / "crawl", port=server.port, **settings)
    assert done.returncode == 0, done.stderr
    requests = by_host(read_log(tmp_path / "log"))
    bound = {f"http://{name}.example/p0" for name in targets}
    assert stored(tmp_path / "crawl") == {"http://portal.example/", *pages} - bound
    assert len(requests["target.example"]) == 7 and len(requests["same.example"]) == 5
    assert min(gap for host in requests.values() for gap in gaps(host)) >= DELAY - LATE


def crawled(tmp_path: Path, entries: dict[str, Reply], *links: str, **settings: object) -> dict[str, list[Access]]:
    """Crawl from a portal that leads to ``links``; return the requests to each host, the earliest first."""
    entries = dict([page("http://portal.example/", *links, text="reef"), *map(page, links)]) | entries
    topic = topic_file(tmp_path, "http://portal.example/")
    with AccessLog(tmp_path / "log") as log, running(DictWeb(entries), latency=True, log=log) as server:
        done = crawl(topic, tmp_path / "crawl", port=server.port, CRAWL_FRONT_PAGES=False, **settings)
    assert done.returncode == 0, done.stderr
    return by_host(read_log(tmp_path / "log"))


def led_on(target: str) -> Reply:
    return Reply("", 302, {"location": target})


RULES = Reply("", 200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /p0\n", seconds=0.3)


def test_a_robots_txt_may_lead_to_another_host_and_back(tmp_path: Path) -> None:
    """Its host waits for nobody else: it is being visited for the sake of this robots.txt."""
    entries = {
        "http://h.example/robots.txt": led_on("http://consent.example/?from=h"),
        "http://consent.example/?from=h": led_on("http://h.example/robots.txt?agreed"),
        "http://h.example/robots.txt?agreed": RULES,
    }
    links = ["http://h.example/p0", "http://h.example/p1"]
    requests = crawled(tmp_path, entries, *links, POLITENESS_MIN_DELAY=DELAY, CRAWL_RETRY_DELAY=0.1)
    assert stored(tmp_path / "crawl") == {"http://portal.example/", "http://h.example/p1"}
    assert len(requests["h.example"]) == 3 and min(gaps(requests["h.example"])) >= DELAY - LATE


def test_each_step_of_a_robots_txt_on_another_host_waits_its_turn_there(tmp_path: Path) -> None:
    links = [f"http://target.example/p{number}" for number in range(1, 6)]
    entries = {
        "http://h.example/robots.txt": led_on("http://target.example/x"),
        "http://target.example/x": led_on("http://target.example/y"),
        "http://target.example/y": RULES,
        **dict(page(link, seconds=0.3) for link in links),
    }
    requests = crawled(tmp_path, entries, *links, "http://h.example/p1", POLITENESS_MIN_DELAY=0.3)
    assert len(requests["target.example"]) == len(links) + 3
    assert min(gaps(requests["target.example"])) >= 0.3 - LATE


def test_a_host_that_asks_for_a_rest_in_place_of_the_robots_txt_of_another_gets_it(tmp_path: Path) -> None:
    links = [f"http://target.example/p{number}" for number in range(3)]
    entries = {
        "http://h.example/robots.txt": led_on("http://target.example/busy"),
        "http://target.example/busy": Reply("", 503, {"retry-after": "2"}),
    }
    settings = {"POLITENESS_MIN_DELAY": DELAY, "CRAWL_MAX_SECONDS": 5}
    requests = crawled(tmp_path, entries, "http://h.example/p1", *links, **settings)["target.example"]
    place = next(at for at, access in enumerate(requests) if access["status"] == 503)
    assert gaps(requests)[place] >= 2.0 - LATE


def test_a_slow_robots_txt_is_a_slow_visit_also_if_it_forbids_the_page(tmp_path: Path) -> None:
    entries = {"http://h.example/robots.txt": replace(RULES, seconds=1.0)}
    links = ["http://h.example/p0", "http://h.example/p1"]
    requests = crawled(tmp_path, entries, *links, POLITENESS_FACTOR=1)
    assert refusals(tmp_path / "crawl") == {"robots/forbidden": 1}
    assert min(gaps(requests["h.example"])) >= 1.0 - LATE


def test_nothing_disallowed_is_ever_requested(tmp_path: Path) -> None:
    """100 forbidden and 3 allowed links for each of 8 hosts, offered at once."""
    hosts = [f"http://h{h}.example" for h in range(8)]
    forbidden = [f"{host}/private/{n}" for host in hosts for n in range(100)]
    allowed = [f"{host}/public/{n}" for host in hosts for n in range(3)]
    entries = dict([page("http://portal.example/", *forbidden, *allowed, text="reef")])
    entries |= dict(page(url) for url in forbidden + allowed)
    entries |= dict(robots(host, "User-agent: *\nDisallow: /private/\n") for host in hosts)
    with AccessLog(tmp_path / "log") as log, running(DictWeb(entries), log=log) as server:
        done = crawl(topic_file(tmp_path, "http://portal.example/"), tmp_path / "crawl", port=server.port)
    assert done.returncode == 0, done.stderr
    requested = [access["url"] for access in read_log(tmp_path / "log")]
    assert not [url for url in requested if "/private/" in url]
    assert stored(tmp_path / "crawl") == {"http://portal.example/", *allowed}
    assert refusals(tmp_path / "crawl")["robots/forbidden"] == 800
    assert sum(url.endswith("/robots.txt") for url in requested) == 9, "robots.txt was asked for once a host"


def test_robots_rules_that_expire_at_once_do_not_keep_a_page_waiting_for_ever(tmp_path: Path) -> None:
    entries = dict([page("http://h.example/")])
    url, rules = robots("http://h.example", "User-agent: *\nDisallow: /no\n")
    entries[url] = type(rules)(url, 200, {"content-type": "text/plain", "cache-control": "no-store"}, rules.body)
    with running(DictWeb(entries)) as server:
        topic = topic_file(tmp_path, "http://h.example/")
        crawl(topic, tmp_path / "crawl", port=server.port, POLITENESS_MIN_DELAY=0.1, CRAWL_ROBOTS_MAX_AGE=0)
    assert [line["status"] for line in history(tmp_path / "crawl")] == [200]
