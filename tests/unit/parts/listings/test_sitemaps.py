"""Sitemaps as links of a crawl: the hosts that they may list, the best links, and the state after a resume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.markdown import doc, first_cells, section
from support.timedcrawl import START, TimedCrawl
from support.webs import DictWeb, page, robots

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.reading import make_reader
from crawlproject.core.robots import RobotsRules
from crawlproject.evaluation.simulation.run import CrawlSimulation
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.listings.sitemaps import Sitemaps
from crawlproject.records import FEED, SITEMAP, CrawlUrl, Fetch, Reply, Topic
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.page_cache import JudgedPages, PageCache

HOME = "http://h.example/"
MAP = CrawlUrl("http://h.example/map.xml", 0.5, 3, "http://h.example/robots.txt")
TOPIC = Topic("reef", ("coral reef",), (HOME,))


def urlset(*entries: str | tuple[str, str], kind: str = "url") -> bytes:
    pairs = [(entry, "") if isinstance(entry, str) else entry for entry in entries]
    items = "".join(f"<{kind}><loc>{url}</loc><lastmod>{day}</lastmod></{kind}>" for url, day in pairs)
    return f"<urlset>{items}</urlset>".encode()


def sitemaps(per_host: int = 3, most: int = 100) -> Sitemaps:
    judge = TopicJudge(["coral reef"], Analyzer("en"))
    return Sitemaps(make_canonicalizer(read_options({})), judge, per_host=per_host, most=most)


def test_robots_txt_names_sitemaps_of_any_host_so_many_of_each() -> None:
    reader = sitemaps(per_host=2)
    hrefs = ["/a.xml", "http://cdn.example/b.xml.gz", "http://h.example/c.xml", "mailto:x"]
    found = list(reader.named(hrefs, CrawlUrl("http://h.example/deep/page", 0.7, 4, "http://x.example/")))
    assert [(url.url, url.score, url.depth) for url in found] == [
        ("http://h.example/a.xml", 0.7, 5),
        ("http://cdn.example/b.xml.gz", 0.7, 5),
    ]
    assert all(url.kind == SITEMAP for url in found)
    assert list(reader.named(hrefs, CrawlUrl("http://h.example/other", 0.7))) == [], "the host has named its share"
    assert list(reader.named(["/d.xml"], found[1])) == [], "a sitemap leads to no robots.txt's sitemaps"
    assert list(sitemaps(per_host=0).named(hrefs, CrawlUrl(HOME, 1.0))) == []


def test_a_sitemap_that_is_named_again_is_no_further_one() -> None:
    reader = sitemaps(per_host=2)
    home = CrawlUrl("http://h.example/", 0.5)
    named = [list(reader.named(["/a.xml", "/a.xml", *more], home)) for more in ((), ("/b.xml",), ("/c.xml",))]
    assert [[url.url for url in found] for found in named] == [
        ["http://h.example/a.xml"],
        ["http://h.example/b.xml"],
        [],
    ]


def test_a_sitemap_lists_pages_of_its_host_and_of_who_names_it() -> None:
    listed = CrawlUrl("http://cdn.example/map.xml", 1.0, 1, "http://h.example/robots.txt")
    own = ["http://h.example/a", "http://www.h.example/b", "http://cdn.example/c"]
    others = "http://victim.example/x", "javascript:alert(1)", "/relative"
    found = sitemaps().listing(listed, urlset(*own, own[0], *others))
    assert [url for url, _ in found.entries] == own
    assert found.foreign == 3


def test_the_words_of_urls_decide_and_then_the_day() -> None:
    body = urlset(
        ("http://h.example/steel/mill.html", "2024-09-09"),
        ("http://h.example/2024/coral-reef.html", "2020-01-01"),
        ("http://h.example/Coral%20Reefs/", ""),
        ("http://h.example/boring", "2024-10-10"),
        ("http://h.example/boring-too", ""),
    )
    found = sitemaps(most=4).listing(MAP, body)
    assert [url.rpartition("example/")[2] for url, _ in found.entries] == [
        "2024/coral-reef.html",
        "Coral%20Reefs/",
        "boring",
        "steel/mill.html",
    ]
    assert (found.entries[0][1], found.surplus) == ("2020-01-01", 1)
    scores = {link.url: link.context_score for link in found.page.links}
    assert scores["http://h.example/2024/coral-reef.html"] == pytest.approx(1.0)
    assert scores["http://h.example/boring"] == 0.0
    assert (found.page.depth, found.page.indexable, found.page.text) == (3, False, "")
    assert all(link.anchor == "" for link in found.page.links)


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("Wed, 03 Jan 2024 10:00:00 GMT", "Fri, 05 Jan 2024 10:00:00 GMT"),
        ("2024-01-02T01:00:00+09:00", "2024-01-01T23:00:00-05:00"),
        ("2023-11", "2024-02"),
    ],
)
def test_the_later_of_two_days_comes_first_however_it_is_written(early: str, late: str) -> None:
    entries = [("http://a.example/one", early), ("http://a.example/two", late)]
    found = sitemaps(most=1).listing(CrawlUrl("http://a.example/s.xml", 0.5, 1, kind=SITEMAP), urlset(*entries))
    assert [link.url for link in found.page.links] == ["http://a.example/two"]


def test_an_index_brings_its_sitemaps_within_the_share_of_the_host() -> None:
    reader = sitemaps(per_host=3)
    list(reader.named(["/map.xml"], CrawlUrl(HOME, 1.0)))
    body = urlset(*(f"http://h.example/{n}.xml" for n in range(9)), "http://other.example/1.xml", kind="sitemap")
    found = reader.listing(MAP, body)
    assert [url.url for url in found.further] == ["http://h.example/0.xml", "http://h.example/1.xml"]
    assert all(url.kind == SITEMAP and url.depth == MAP.depth for url in found.further)
    assert found.page.links == () and found.foreign == 1


# ------------------------------------------------------------ in a crawl

PAGES = [f"http://h.example/{name}" for name in ("coral-reef-one", "coral-reef-two", "steel")]


def web() -> DictWeb:
    xml = {"content-type": "application/xml"}
    replies = dict([page(HOME, text="coral reef"), *(page(url, text="coral reef") for url in PAGES)])
    replies |= dict(
        [robots("http://h.example", "User-agent: *\nDisallow: /steel\nSitemap: /maps.xml.gz\nSitemap: /feed.rss?all\n")]
    )
    index = urlset("http://h.example/map.xml", kind="sitemap")
    replies["http://h.example/maps.xml.gz"] = Reply("", 200, xml, index)
    replies["http://h.example/map.xml"] = Reply("", 200, xml, urlset(*((url, "2024-02-02") for url in PAGES)))
    feed = b"<rss><channel><item><link>http://h.example/of-the-feed</link></item></channel></rss>"
    replies["http://h.example/feed.rss?all"] = Reply("", 200, xml, feed)
    replies |= dict([page("http://h.example/of-the-feed", text="coral reef")])
    return DictWeb(replies)


def rehearse(folder: Path, ordering: str, **settings: object) -> list[dict[str, object]]:
    options = read_options({"ORDERING": ordering, "CRAWL_MAX_PAGES": 20, **settings})
    replies = web()
    judge = TopicJudge(["coral reef"], Analyzer("en"))
    cache = PageCache(replies, make_reader(options, judge.analyzer, make_canonicalizer(options)), options)
    CrawlSimulation(TOPIC, options, replies, agent="topical", folder=folder).run(JudgedPages(cache, judge))
    return [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]


CRAWLING = sorted(name for name, cls in ORDERINGS.items() if not (cls.needs_targets or cls.needs_archive))


@pytest.mark.parametrize("ordering", CRAWLING)
def test_pages_that_nothing_links_to_are_found_by_every_ordering(ordering: str, tmp_path: Path) -> None:
    lines = {line["url"]: line for line in rehearse(tmp_path, ordering, CRAWL_SITEMAPS=5)}
    assert {url for url, line in lines.items() if line["md5"]} >= {HOME, *PAGES[:2], "http://h.example/of-the-feed"}
    assert lines["http://h.example/map.xml"]["kind"] == SITEMAP
    assert not lines["http://h.example/map.xml"]["error"]
    assert lines["http://h.example/map.xml"]["links"] == 3
    assert PAGES[2] not in lines, "robots.txt holds for what a sitemap lists"


def test_without_the_setting_nothing_is_asked(tmp_path: Path) -> None:
    assert [line["url"] for line in rehearse(tmp_path, "dom")] == [HOME]


@pytest.mark.parametrize("ordering", ["dom", "adaptive", "breadth_first"])
def test_a_killed_crawl_knows_its_sitemaps_again(ordering: str, tmp_path: Path) -> None:
    options = read_options(
        {"ORDERING": ordering, "CRAWL_SITEMAPS": 5, "CRAWL_DIR": str(tmp_path), "POLITENESS_MIN_DELAY": 0}
    )

    def opened():  # type: ignore[no-untyped-def]
        return assemble(TOPIC, options, clock=lambda: 10.0)

    crawl = opened()
    home = crawl.take(10.0)
    crawl.robots_read(RobotsRules(200, b"Sitemap: /map.xml.gz\n", 1e12, "topical"), home)
    crawl.fail(home, "http 404", Fetch(404, 11.0, 0.1))
    _kill(crawl)

    crawl = opened()
    sitemap = crawl.take(20.0)
    assert sitemap.kind == SITEMAP and sitemap.url == "http://h.example/map.xml.gz"
    body = urlset(*((url, "2024-02-02") for url in PAGES))
    assert crawl.receive(sitemap, Reply(sitemap.url, 200, body=body), Fetch(200, 21.0, 0.1)) is None
    _kill(crawl)
    log = json.loads((tmp_path / "sitemaps.jsonl").read_text())
    assert first_cells(section(doc("crawl-folder.md"), "sitemaps.jsonl")) == list(log)
    assert log == {"sitemap": sitemap.url, "at": 21.0, "pages": [[url, "2024-02-02"] for url in PAGES]}

    crawl = opened()
    left = [taken.url for number in range(1, 10) if (taken := _next(crawl, number * 1e6))]
    assert sorted(left) == sorted(PAGES)
    crawl.close("end", 30.0)


@pytest.mark.parametrize("kind", [SITEMAP, FEED])
def test_a_listing_that_waits_while_spelling_changes_takes_its_new_spelling(tmp_path: Path, kind: str) -> None:
    settings: dict[str, object] = {"CRAWL_SITEMAPS": 5, "CRAWL_FEEDS": 5, "CRAWL_DIR": str(tmp_path)}
    crawl = assemble(TOPIC, read_options(settings), clock=lambda: 10.0)
    listing = CrawlUrl(f"{HOME}all.xml?ref=a", 0.5, 1, f"{HOME}robots.txt", kind=kind)
    crawl.services.kinds.offer(listing)
    _kill(crawl)
    settings["CRAWL_URL_STRIP_PARAMETERS"] = "ref"
    crawl = assemble(TOPIC, read_options(settings), clock=lambda: 20.0)
    left = [taken for number in range(1, 5) if (taken := _next(crawl, number * 1e6))]
    assert [(url.url, url.kind, url.score) for url in left if url.kind != "page"] == [(f"{HOME}all.xml", kind, 0.5)]
    crawl.close("end", 30.0)


@pytest.mark.parametrize("killed", [False, True])
def test_the_feeds_of_a_host_are_counted_over_all_resumes(tmp_path: Path, killed: bool) -> None:
    replies = dict([page(f"{HOME}{n or ''}", f"/{n + 1}", f"/{n}.rss", text=f"coral reef {n}") for n in range(4)])
    feed = b"<rss><channel><item><title>reef</title><link>http://h.example/listed</link></item></channel></rss>"
    xml = {"content-type": "application/rss+xml"}
    replies[f"{HOME}0.rss"] = Reply("", 301, {"location": f"{HOME}moved.rss"}, b"")
    replies |= {f"{HOME}{name}.rss": Reply("", 200, xml, feed) for name in (1, 2, 3, "moved")}
    asked = []
    for pages in (1, 2, 9):
        crawl = TimedCrawl(TOPIC, tmp_path, DictWeb(replies), START + 1e6 * pages, CRAWL_FEEDS=2, CRAWL_MAX_PAGES=pages)
        asked += [url for _, url, *_ in crawl.run(1_000.0).asked]
        _kill(crawl.crawl) if killed else crawl.close()
    assert {f"{HOME}{n}" for n in range(1, 4)} <= {*asked}
    feeds = [url for url in asked if url.endswith(".rss")]
    assert len(feeds) == 3 and feeds[:2] == [f"{HOME}0.rss", f"{HOME}moved.rss"], "which are one"


def test_a_sitemap_whose_visit_was_not_written_is_forgotten(tmp_path: Path) -> None:
    options = read_options({"ORDERING": "dom", "CRAWL_SITEMAPS": 5, "CRAWL_DIR": str(tmp_path)})
    _kill(assemble(TOPIC, options, clock=lambda: 9.0))
    (tmp_path / "sitemaps.jsonl").write_text('{"sitemap": "http://h.example/m.xml", "at": 1.0, "pages": []}\n')
    crawl = assemble(TOPIC, options, clock=lambda: 10.0)
    assert (tmp_path / "sitemaps.jsonl").read_text() == ""
    crawl.close("end", 11.0)


def _kill(crawl) -> None:  # type: ignore[no-untyped-def]
    """Simulate ``kill -9``: the lock is released with the process, and nothing more is written."""
    crawl.folder._lock.close()


def _next(crawl, now: float) -> CrawlUrl | None:  # type: ignore[no-untyped-def]
    taken = crawl.take(now)
    if taken is not None:
        crawl.fail(taken, "http 404", Fetch(404, now, 0.1))
    return taken
