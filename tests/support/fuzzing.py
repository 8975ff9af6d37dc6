"""The readers of untrusted input, each with a strategy for inputs and a check that any input must pass.

``tests/security/test_fuzz.py`` tries some examples of each; ``make fuzz`` continues for as long as asked.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st
from lxml import html as lxml_html

from crawlproject.adapters.leases import asked_rest
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.address_policy import ADDRESS, AddressPolicy
from crawlproject.core.robots import RobotsRules, expiry, product_token
from crawlproject.errors import BadCrawlDir, BadTopic, BadWeb, InvalidUrl
from crawlproject.pages.html.head import robots_rules
from crawlproject.pages.markdown import markdown
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.printable import printable
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.listings.feeds import Feeds
from crawlproject.parts.listings.sitemaps import Sitemaps, read_sitemap
from crawlproject.records import CrawlUrl, Fetch, Topic
from crawlproject.storage.history import History
from crawlproject.topic.parse import parse_topic
from crawlproject.urls.addresses import read_address
from crawlproject.urls.canonical import Canonicalizer, canonical_url
from crawlproject.urls.hosts import domain_of, host_of, origin_of, page_name
from crawlproject.urls.traps import TrapFilter
from crawlproject.webs.warc_file import WarcWeb
from support.fuzzinputs import HISTORY, HTML, LINE, ROBOTS, SITEMAP, TOPIC, WARC, hrefs
from support.livecrawl import finish

URL = "http://h.example/dir/page.html"
CONTROLS = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), *map(chr, range(0x202A, 0x202F))}
_ANALYZER = Analyzer("en")
_JUDGE = TopicJudge(["coral reef"], _ANALYZER)


class Target(NamedTuple):
    """``check`` raises for an input of ``inputs`` that the reader handles wrongly."""

    inputs: st.SearchStrategy[Any]
    check: Callable[[Any], None]


# ---------------------------------------------------------------- checks


def check_canonicalization(given: tuple[str, str, bool]) -> None:
    href, base, rules = given
    canonicalize = Canonicalizer(query_rules=rules, default_pages=rules)
    try:
        url = canonicalize(href, base or URL)
    except InvalidUrl:
        return
    assert canonicalize(url) == url, "idempotent"
    assert url.startswith(("http://", "https://")) and not set(url) & CONTROLS and " " not in url
    assert url.startswith(origin_of(url) + "/") and host_of(url) and domain_of(url)
    assert page_name(url).isalnum()
    TrapFilter().refusal(url, 1)
    address = read_address(host_of(url))
    if address is not None and not AddressPolicy().permits(address):
        assert AddressPolicy().refusal(url) == ADDRESS


def check_robots(given: tuple[bytes, str, str]) -> None:
    body, agent, href = given
    rules = RobotsRules(200, body, 0.0, agent)
    assert product_token(agent) == product_token(product_token(agent))
    with suppress(InvalidUrl):
        assert rules.allows(canonical_url(href, URL)) in (True, False)
    assert 0 <= rules.crawl_delay(300) <= 300
    assert len(rules.sitemaps) <= 100
    tags = robots_rules(body.decode("latin-1"), "topical")
    assert tags.bars(0.0) in (True, False)


def check_headers(given: tuple[str, str, int]) -> None:
    name, value, status = given
    assert 1e9 <= expiry({name: value}, 1e9, 86_400.0) <= 1e9 + 86_400
    assert 0 <= asked_rest(status, value, 1e9, 300.0) <= 300


def check_html(given: tuple[bytes, str, str]) -> None:
    body, content_type, robots_tag = given
    reader = Reader(_ANALYZER, canonicalize=canonical_url, agent="topical", main_content=True, related=True)
    page = reader.read(URL, body, content_type=content_type, robots_tag=robots_tag, now=1e9)
    assert printable(page.title) == page.title
    for link in page.links:
        assert canonical_url(link.url) == link.url and printable(link.anchor) == link.anchor
        assert 0 <= link.anchor_span.start <= link.anchor_span.end <= len(page.terms)
        assert 0 <= link.context_span.start <= link.context_span.end <= len(page.terms)
    assert all(canonical_url(url) == url for _, url in page.related)
    text = page.text_main() + markdown(body, url=URL, content_type=content_type)
    assert "\0" not in text and len(text) < 40 * len(body) + 1_000
    judged = _JUDGE.judge(page)
    assert 0 <= judged.relevance <= 1 + 1e-9 and all(math.isfinite(link.context_score) for link in judged.links)


def check_sitemap(body: bytes) -> None:
    found = read_sitemap(body)
    assert all(entry.url for entry in (*found.pages, *found.sitemaps))
    url = CrawlUrl("http://h.example/s.xml", 1.0, 1, "http://h.example/robots.txt")
    listing = Sitemaps(canonical_url, _JUDGE, per_host=3, most=2).listing(url, body)
    assert len(listing.page.links) == len(listing.entries) <= 2 and len(listing.further) <= 3
    assert all(host_of(target) in ("h.example", "www.h.example") for target, _ in listing.entries)

    feed = Feeds(canonical_url, _JUDGE, per_host=3, most=2).listing(url, body)
    assert len(feed.page.links) == len(feed.entries) <= 2 and len(feed.further) <= 1
    assert all(canonical_url(entry[0]) == entry[0] for entry in feed.entries)


def check_topic(text: bytes) -> None:
    with suppress(BadTopic):
        topic = parse_topic(text.decode("utf-8", "surrogateescape"), "fuzz.toml")
        assert topic.seeds and topic.keywords


def check_warc(body: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "web.warc"
        path.write_bytes(body)
        with suppress(BadWeb):
            archive = WarcWeb(path, cache_dir=Path(name))
            for url in [*archive.urls(), "http://h.example/"]:
                reply = archive.get(url)
                assert 0 <= reply.status < 1000 and len(reply.body) <= 64 * 2**20
            archive.close()


def check_history(body: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "history.jsonl"
        path.write_bytes(body)
        with suppress(BadCrawlDir):
            history = History(path)
            assert history.pages + history.errors <= body.count(b"\n")
            history.close()


def check_crawl(bodies: list[tuple[bytes, str, int]]) -> None:
    """A crawl of a few pages runs every step to its end; each URL is fetched once, and a resumed crawl agrees."""
    web = [f"http://h{number % 3}.example/p{number}" for number in range(len(bodies))]
    topic = Topic("fuzz", ("coral reef",), tuple(web))
    settings = {"CRAWL_MAX_PAGES": 12, "TRAP_MAX_DEPTH": 1, "POLITENESS_MIN_DELAY": 0, "ORDERING": "adaptive"}
    with tempfile.TemporaryDirectory() as name:
        crawl, now = assemble(topic, read_options(settings), clock=lambda: 0.0, folder=Path(name)), 0.0
        for _ in range(40):
            now += 100_000.0
            url = crawl.take(now)
            if url is None:
                break
            body, content_type, status = bodies[web.index(url.url) if url.url in web else len(url.url) % len(bodies)]
            fetch = Fetch(status, now, 0.1, content_type=content_type)
            page = crawl.steps.examine(crawl.steps.read(url, body, content_type=content_type), fetch)
            if page.redirect:
                crawl.redirect(url, page.redirect, fetch)
            elif page.page_type:
                crawl.fail(url, page.page_type, fetch)
            else:
                finish(crawl, url, page, body, fetch)
        crawl.close("fuzzed", now)
        lines = [json.loads(line) for line in (Path(name) / "history.jsonl").read_bytes().splitlines()]
        assert len({line["url"] for line in lines}) == len(lines) == crawl.stats.fetches
        resumed = assemble(topic, read_options(settings), clock=lambda: 0.0, folder=Path(name))
        assert (resumed.stats.pages, resumed.stats.fetches, len(resumed.frontier)) == (
            crawl.stats.pages,
            crawl.stats.fetches,
            len(crawl.frontier),
        )
        resumed.close("fuzzed", now)


_words = st.text(max_size=20) | st.sampled_from(
    ["<script>alert(1)</script>", "\"'><b onclick=x>", "{{7*7}}", "</style>", "\x1b[2J"]
)


def check_report(given: tuple[str, str, str]) -> None:
    """The content of a page changes the text of the report, but not its elements or their attributes."""
    title, error, href = given
    assert _elements(title, error, href) == _elements("a title", "an error", "http://h.example/a")


def _elements(title: str, error: str, href: str) -> list[tuple[str, tuple[str, ...]]]:
    from crawlproject.reports.report import write_report

    lines = [
        {**LINE, "seconds": 0.1, "score": 1.0, "parent": None, "anchor": title, "context_score": 0.0, "digest": "", "size": 1,
         "title": title, "links": 0, "parts": {}},
        {**LINE, "url": "http://h.example/b", "md5": "", "error": "http 404", "seconds": 0.1, "score": 1.0, "parent": None,
         "anchor": error, "context_score": 0.0, "digest": "", "size": 1, "title": "", "links": 0, "parts": {}},
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "crawl"
        folder.mkdir()
        (folder / "crawl.json").write_text(json.dumps({"version": 1, "topic": {"name": "t"}, "ordering": "dom"}))
        (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        refused = {"counts": {"trap/too_long": 1}, "samples": {"trap/too_long": [[f"http://h.example/{href}", None]]}}
        (folder / "refused.json").write_text(json.dumps(refused))
        write_report(folder)
        tree = lxml_html.fromstring((folder / "report.html").read_text())
    tags = [element for element in tree.iter() if isinstance(element.tag, str)]
    assert all(
        not value.lower().strip().startswith("javascript:") for element in tags for value in element.attrib.values()
    )
    return [(str(element.tag), tuple(element.attrib)) for element in tags]


_status = st.sampled_from([200, 200, 403, 404, 429, 503])
_header = st.sampled_from(["cache-control", "expires"])
_value = st.text(max_size=40) | st.sampled_from(
    ["max-age=1e9", "max-age=", "Thu, 32 Foo 99999 25:61:61 GMT", "-1", "९९"]
)
_types = st.sampled_from(["", "text/html", "text/html; charset=utf-16", "text/plain", "x;charset=\0"]) | st.text(
    max_size=20
)

TARGETS: dict[str, Target] = {
    "canonicalization": Target(st.tuples(hrefs, hrefs, st.booleans()), check_canonicalization),
    "robots": Target(st.tuples(ROBOTS, st.text(max_size=20) | st.just("topical/1"), hrefs), check_robots),
    "headers": Target(st.tuples(_header, _value, st.sampled_from([429, 503, 200])), check_headers),
    "html": Target(st.tuples(HTML, _types, st.text(max_size=20)), check_html),
    "crawl": Target(st.lists(st.tuples(HTML, _types, _status), min_size=1, max_size=5), check_crawl),
    "sitemap": Target(SITEMAP, check_sitemap),
    "topic": Target(TOPIC, check_topic),
    "warc": Target(WARC, check_warc),
    "history": Target(HISTORY, check_history),
    "report": Target(st.tuples(_words, _words, _words), check_report),
}
