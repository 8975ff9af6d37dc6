"""What is read of strangers, and how to try it: a strategy for inputs, and a check that any input must pass.

``tests/security/test_fuzz.py`` tries some examples of each; ``make fuzz`` goes on for as long as it is told to.
"""

from __future__ import annotations

import gzip
import json
import math
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st
from lxml import html as lxml_html

from crawlproject.errors import BadCrawlDir, BadTopic, BadWeb, InvalidUrl
from crawlproject.html.robots import robots_rules
from crawlproject.printable import printable
from crawlproject.reading import Reader
from crawlproject.records import CrawlUrl
from crawlproject.repository.history import History
from crawlproject.retryafter import asked_rest
from crawlproject.robots import RobotsRules, expiry
from crawlproject.robotsfile import product_token
from crawlproject.safety import ADDRESS, Safety
from crawlproject.sitemapfile import read_sitemap
from crawlproject.sitemaps import Sitemaps
from crawlproject.text.analysis import Analyzer
from crawlproject.text.judge import TopicJudge
from crawlproject.topic import parse_topic
from crawlproject.urls.addresses import read_address
from crawlproject.urls.canonical import Canonicalizer, canonical_url
from crawlproject.urls.domains import domain_of
from crawlproject.urls.hosts import host_of, origin_of
from crawlproject.urls.naming import page_name
from crawlproject.urls.traps import TrapFilter
from crawlproject.virtualweb.archive import Archive

URL = "http://h.example/dir/page.html"
CONTROLS = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), *map(chr, range(0x202A, 0x202F))}
_ANALYZER = Analyzer("en")
_JUDGE = TopicJudge(["coral reef"], _ANALYZER)


class Target(NamedTuple):
    """``check`` raises for an input of ``inputs`` that is not taken as it should be."""

    inputs: st.SearchStrategy[Any]
    check: Callable[[Any], None]


# ---------------------------------------------------------------- inputs


def spliced(samples: list[bytes], tokens: list[bytes]) -> st.SearchStrategy[bytes]:
    """Samples with pieces cut out, doubled, overwritten by tokens or noise; and soups of tokens alone."""
    piece = (
        st.sampled_from(tokens)
        | st.binary(max_size=8)
        | st.text(max_size=4).map(lambda text: text.encode("utf-8", "replace"))
    )
    edit = st.tuples(st.floats(0, 1), st.integers(0, 60), piece, st.integers(0, 3))

    def edited(sample: bytes, edits: list[tuple[float, int, bytes, int]]) -> bytes:
        for share, length, new, times in edits:
            at = int(share * len(sample))
            sample = sample[:at] + new * times + sample[at + (length if times != 3 else -length) :]
        return sample

    return (
        st.builds(edited, st.sampled_from(samples), st.lists(edit, max_size=12))
        | st.lists(piece, max_size=60).map(b"".join)
        | st.binary(max_size=300)
    )


_URL_PARTS = (
    "http://", "https://", "HTTP:", "//", "/", "\\", "..", ".", "?", "#", "@", ":", ":80", ":443", ":99999", "%", "%2F", "%2e",
    "%00", "%zz", "xn--", "é", "ß", "１２７", "127.0.0.1", "0x7f", "[::1]", "[", "]", "h.example", "localhost", "index.html",
    "PHPSESSID=1", ";jsessionid=1", "utm_source=x", "&", "=", "+", " ", "\t", "\n", "\0", "\u202e", "\ud800", "a" * 60, "*",
)  # fmt: skip
hrefs = st.lists(st.sampled_from(_URL_PARTS) | st.text(max_size=3), max_size=14).map("".join)

_ROBOTS = spliced(
    [
        b"User-agent: *\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 5\n\nUser-agent: topical\nDisallow: /*.gif$\n",
        b"\xef\xbb\xbfuser-agent:topical # x\r\nallow:/\rdisallow:/a%2Fb?c=%E3%83%84\nSitemap: http://h.example/s.xml\n",
    ],
    [
        b"User-agent:",
        b"Disallow:",
        b"Allow:",
        b"Sitemap:",
        b"Crawl-delay: 1e999",
        b"*",
        b"$",
        b"/",
        b"%",
        b"#",
        b"\n",
        b"\r",
        b" ",
    ],
)

_HTML = spliced(
    [
        b'<!doctype html><html lang=en><head><meta charset=utf-8><title>Reef</title><base href="/x/"><meta name=robots '
        b'content="nofollow, unavailable_after: 1 Jan 2020"><script>location="/a"</script></head><body><p>coral <a href=y '
        b"rel=nofollow>reef <img alt=z></a><table><tr><td><a href='?q'>b</a></table><!-- c --></body></html>",
        b'<meta http-equiv=refresh content="0; url=/n"><style>.h{display:none}</style><div class=h hidden>x</div>&#0;&amp;'
        b"&#x110000;",
    ],
    [
        *(
            b"<a href=",
            b"</a>",
            b"<p>",
            b"</p>",
            b"<table>",
            b"<td>",
            b"<svg>",
            b"<math>",
            b"<title>",
            b"</title>",
            b"<script>",
        ),
        *(
            b"</script>",
            b"<style>",
            b"<!--",
            b"-->",
            b"<![CDATA[",
            b"]]>",
            b"<?x",
            b"&#",
            b"&",
            b'"',
            b"'",
            b"=",
            b">",
            b"\0",
        ),
        *(
            b"<base href=",
            b"<meta ",
            b"charset=utf-16",
            b"<frame src=",
            b"<noscript>",
            b"<template>",
            b"hidden",
            b"\xff\xfe",
        ),
    ],
)

_SITEMAP = spliced(
    [
        b'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://s"><url><loc>http://h.example/coral?a&amp;b</loc>'
        b"<lastmod>2024-01-01</lastmod></url><url><loc><![CDATA[http://h.example/x]]></loc></url></urlset>",
        b"<sitemapindex><sitemap><loc>http://h.example/s.xml.gz</loc></sitemap></sitemapindex>",
        b"<rss><channel><item><link>http://h.example/r</link></item></channel></rss>",
        gzip.compress(b"<urlset><url><loc>http://h.example/z</loc></url></urlset>", mtime=0),
    ],
    [
        b"<url>",
        b"</url>",
        b"<loc>",
        b"</loc>",
        b"<!DOCTYPE x [",
        b'<!ENTITY a "b">',
        b"&a;",
        b"]>",
        b"<!--",
        b"<?",
        b"\0",
        b"&",
    ],
)

_TOPIC = spliced(
    [
        b'name = "reef"\nkeywords = ["coral reef"]\nseeds = ["http://h.example/"]\nlanguage = "en"\ntargets = []\n'
        b'[examples]\npositive = ["http://h.example/a"]\n[crawl]\nCRAWL_MAX_PAGES = 5\nORDERING = "dom"\n',
    ],
    [
        b"[",
        b"]",
        b"=",
        b'"',
        b"'''",
        b"\n",
        b"{",
        b"}",
        b"name",
        b"seeds",
        b"keywords",
        b"1e999",
        b"nan",
        b"-",
        b"\\u0000",
        b"..",
        b"/",
    ],
)

_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(
    b"<p>reef", mtime=0
)
_RECORD = (
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
    b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n"
    % len(_RESPONSE)
    + _RESPONSE
    + b"\r\n\r\n"
)
_WARC = spliced(
    [_RECORD * 2, gzip.compress(_RECORD, mtime=0) * 2, _RECORD.replace(b"response\r\nWARC-T", b"revisit\r\nWARC-T")],
    [
        b"WARC/1.1\r\n",
        b"Content-Length: ",
        b"-1",
        b"99999999999",
        b"\r\n",
        b"\r\n\r\n",
        b"HTTP/1.1 ",
        b"\x1f\x8b",
        b"chunked",
        b":",
    ],
)

_LINE = {
    "url": "http://h.example/",
    "status": 200,
    "at": 1.0,
    "md5": "a",
    "relevance": 0.5,
    "error": "",
    "redirect": "",
    "depth": 0,
}
_HISTORY = spliced(
    [
        json.dumps(_LINE).encode() + b"\n",
        b"".join(json.dumps({**_LINE, "url": f"http://h.example/{n}"}).encode() + b"\n" for n in range(3)),
    ],
    [b"{", b"}", b"\n", b'"url":', b"null", b"1e999", b'"relevance":"x"', b"[]", b",", b"\0", b'"\\ud800"'],
)

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
    if address is not None and not Safety().permits(address):
        assert Safety().refusal(url) == ADDRESS


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
    reader = Reader(_ANALYZER, canonicalize=canonical_url, agent="topical")
    page = reader.read(URL, body, content_type=content_type, robots_tag=robots_tag, now=1e9)
    assert printable(page.title) == page.title
    for link in page.links:
        assert canonical_url(link.url) == link.url and printable(link.anchor) == link.anchor
        assert 0 <= link.anchor_span.start <= link.anchor_span.end <= len(page.terms)
        assert 0 <= link.context_span.start <= link.context_span.end <= len(page.terms)
    judged = _JUDGE.judge(page)
    assert 0 <= judged.relevance <= 1 + 1e-9 and all(math.isfinite(link.context_score) for link in judged.links)


def check_sitemap(body: bytes) -> None:
    found = read_sitemap(body)
    assert all(entry.url for entry in (*found.pages, *found.sitemaps))
    url = CrawlUrl("http://h.example/s.xml", 1.0, 1, "http://h.example/robots.txt")
    listing = Sitemaps(canonical_url, _JUDGE, per_host=3, most=2).listing(url, body)
    assert len(listing.page.links) == len(listing.entries) <= 2 and len(listing.sitemaps) <= 3
    assert all(host_of(target) in ("h.example", "www.h.example") for target, _ in listing.entries)


def check_topic(text: bytes) -> None:
    with suppress(BadTopic):
        topic = parse_topic(text.decode("utf-8", "surrogateescape"), "fuzz.toml")
        assert topic.seeds and topic.keywords


def check_warc(body: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "web.warc"
        path.write_bytes(body)
        with suppress(BadWeb):
            archive = Archive(path, cache_dir=Path(name))
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


_words = st.text(max_size=20) | st.sampled_from(
    ["<script>alert(1)</script>", "\"'><b onclick=x>", "{{7*7}}", "</style>", "\x1b[2J"]
)


def check_report(given: tuple[str, str, str]) -> None:
    """What a page says changes the text of the report, and not its elements or their attributes."""
    title, error, href = given
    assert _elements(title, error, href) == _elements("a title", "an error", "http://h.example/a")


def _elements(title: str, error: str, href: str) -> list[tuple[str, tuple[str, ...]]]:
    from crawlproject.reports.report import write_report

    lines = [
        {**_LINE, "seconds": 0.1, "score": 1.0, "parent": None, "anchor": title, "context_score": 0.0, "digest": "", "size": 1,
         "title": title, "links": 0, "parts": {}},
        {**_LINE, "url": "http://h.example/b", "md5": "", "error": "http 404", "seconds": 0.1, "score": 1.0, "parent": None,
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


_header = st.sampled_from(["cache-control", "expires"])
_value = st.text(max_size=40) | st.sampled_from(
    ["max-age=1e9", "max-age=", "Thu, 32 Foo 99999 25:61:61 GMT", "-1", "९९"]
)
_types = st.sampled_from(["", "text/html", "text/html; charset=utf-16", "text/plain", "x;charset=\0"]) | st.text(
    max_size=20
)

TARGETS: dict[str, Target] = {
    "canonicalization": Target(st.tuples(hrefs, hrefs, st.booleans()), check_canonicalization),
    "robots": Target(st.tuples(_ROBOTS, st.text(max_size=20) | st.just("topical/1"), hrefs), check_robots),
    "headers": Target(st.tuples(_header, _value, st.sampled_from([429, 503, 200])), check_headers),
    "html": Target(st.tuples(_HTML, _types, st.text(max_size=20)), check_html),
    "sitemap": Target(_SITEMAP, check_sitemap),
    "topic": Target(_TOPIC, check_topic),
    "warc": Target(_WARC, check_warc),
    "history": Target(_HISTORY, check_history),
    "report": Target(st.tuples(_words, _words, _words), check_report),
}
