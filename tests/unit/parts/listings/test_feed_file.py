"""Feeds: the entries that they list, in every format, and the limits on their cost."""

from __future__ import annotations

import gzip
import time
from dataclasses import replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.broken_feeds import BROKEN_FEEDS, BrokenFeed

from crawlproject.pages.html.head import FEED, LANGUAGE, MAX_RELATED, NEXT, PREVIOUS, Related, related_in
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.listings.feeds import MAX_ENTRIES, FeedEntry, FeedFile, Feeds, moment, read_feed
from crawlproject.parts.listings.listing import HubLinks
from crawlproject.records import QUERY, Page
from crawlproject.urls.canonical import canonical_url

RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Blog</title><link>http://h/</link><item><title>Reefs &amp;amp; &lt;b&gt;corals&lt;/b&gt;</title><link>/a?x=1&y=2</link>
<description><![CDATA[<p>They <i>bleach</i>.</p>]]></description><pubDate>Wed, 02 Oct 2024 13:00:00 GMT</pubDate></item>
<item><guid>http://h/b</guid></item><item><guid isPermaLink="false">http://h/no</guid></item><item><title>c</title></item>
</channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link rel="next" href="/atom?page=2"/><link rel="self" href="http://h/atom"/>
<entry><title>T</title><link rel="edit" href="http://h/edit"/><link href="http://h/a"/><id>tag:h,2024:1</id>
<published>2024-01-01T00:00:00Z</published><updated>2024-02-03T04:05:06+01:00</updated><summary>S</summary></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><link>http://h/</link></channel><item rdf:about="x"><link>http://h/a</link>
<dc:date>2001-02-03</dc:date></item></rdf:RDF>"""
JSON = orjson.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "next_url": "http://h/2.json",
        "items": [
            {"id": "http://h/a", "title": "T", "content_text": "words", "date_modified": "2024-02-03T04:05:06Z"},
            {"id": "7", "url": "http://h/b"},
            {"id": 7, "url": ["x"]},
            "no item",
        ],
    }
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (RSS, FeedFile((FeedEntry("/a?x=1&y=2", "Wed, 02 Oct 2024 13:00:00 GMT", "Reefs & corals",
                                  "Reefs & corals They bleach ."), FeedEntry("http://h/b")))),
        (ATOM, FeedFile((FeedEntry("http://h/a", "2024-02-03T04:05:06+01:00", "T", "T S"),), "/atom?page=2", HubLinks("http://h/atom"))),
        (RDF, FeedFile((FeedEntry("http://h/a", "2001-02-03"),))),
        (JSON, FeedFile((FeedEntry("http://h/a", "2024-02-03T04:05:06Z", "T", "T words"), FeedEntry("http://h/b")), "http://h/2.json")),
    ],
)  # fmt: skip
def test_each_form(body: bytes, expected: FeedFile) -> None:
    for form in (body, gzip.compress(body), b"\xef\xbb\xbf" + body):
        assert read_feed(form) == expected


def test_links_are_relative_to_the_base_around_them() -> None:
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="../posts/"><link rel="self" href="atom"/>
    <entry xml:base="2024/"><link xml:base="/x/" rel="edit" href="e"/><link href="a"/></entry>
    <entry><link xml:base="http://i/" href="b"/><content xml:base="http://j/"><link href="no"/></content></entry>
    <entry><link href="//k/c"/></entry><entry><link xml:base="http://[" href="d"/></entry><link rel="next" href="2"/></feed>"""
    found = read_feed(body, url="http://h/feeds/atom")
    assert [entry.url for entry in found.entries] == ["http://h/posts/2024/a", "http://i/b", "http://k/c", "d"]
    assert (found.next, found.links.topic) == ("http://h/posts/2", "http://h/posts/atom")
    rss = b"<rss xml:base='http://h/x/'><channel><item><link> a </link></item></channel></rss>"
    assert [entry.url for entry in read_feed(rss).entries] == ["http://h/x/a"]


def test_what_stood_before_the_damage_counts() -> None:
    assert read_feed(ATOM[: ATOM.index(b"</feed>")]).entries == read_feed(ATOM).entries


def test_a_document_type_and_its_entities_are_passed_over() -> None:
    bomb = b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>'
    found = read_feed(bomb + RSS.partition(b"?>")[2].replace(b"Reefs", b"&a;&b;"))
    assert [entry.title for entry in found.entries] == ["&a;&b; & corals", ""]


@pytest.mark.parametrize("feed", BROKEN_FEEDS, ids=lambda feed: feed.fault)
def test_a_feed_with_a_fault_of_its_kind_is_read(feed: BrokenFeed) -> None:
    found = [(entry.url, entry.title, moment(entry.date)) for entry in read_feed(feed.body).entries]
    assert found == list(feed.entries)


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(b"<rss><channel>" + b"<item><link>http://h/x</link></item>" * 400_000),
        b"<rss>" * 100_000,
        b"<rss><item><title>" + b"&lt;" * 500_000,
        b"<rss><item><title>" + b"<a " * 300_000,
        b"<rss><![CDATA[" + b"<![CDATA[" * 300_000,
        b"<rss><!--" + b"<!--" * 300_000,
        b"<rss>" + b"<t a=" * 300_000,
        b"<rss>" + b"&x" * 500_000,
        b"<feed xml:base='http://h/" + b"a/" * 1_000 + b"'>" + b"<link rel='hub' xml:base='b' href='c'/>" * 50_000,
        b"[" * 100_000,
        b'{"items":' + b"[" * 1_000_000,
    ],
)
def test_hostile_feeds_cost_little(body: bytes) -> None:
    began = time.process_time()
    assert len(read_feed(body).entries) <= MAX_ENTRIES
    assert time.process_time() - began < 3.0


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([RSS, ATOM, RDF, JSON]), st.integers(0, 400))
def test_any_bytes_give_an_answer(noise: bytes, body: bytes, at: int) -> None:
    for entry in read_feed(body[:at] + noise + body[at:]).entries:
        assert entry.url and len(entry.text) <= 1_000
        assert moment(entry.date) >= 0.0


def test_dates() -> None:
    assert moment("Wed, 02 Oct 2024 13:00:00 GMT") == moment("2024-10-02T13:00:00Z") == 1_727_874_000.0
    assert moment("2024-10-02T15:00:00+02:00") == moment("2024-10-02T13:00:00") == 1_727_874_000.0
    assert moment("2024-10-02") == 1_727_827_200.0
    assert [moment(text) for text in ("", "soon", "99999-01-01", "2024", "0001-01-01", "Wed, 99 Oct 2024")] == [0.0] * 6


def test_what_a_document_belongs_to() -> None:
    markup = """<LINK REL='alternate' type="application/rss+xml; charset=x" href=/feed?a=1&amp;b=2>
    <link rel="stylesheet" href=a.css>
    <link rel=alternate hreflang=de href=/de><a class=x rel="next nofollow" href=no>n</a><a rel="Next" href="/2">2</a>
    <link href="/0" rel=prev><a rel=next>no target</a>"""
    assert related_in(markup) == [
        Related(FEED, "/feed?a=1&b=2"),
        Related(NEXT, "/2"),
        Related(PREVIOUS, "/0"),
        Related(f"{LANGUAGE}de", "/de"),
    ]


def test_no_markup_takes_long() -> None:
    began = time.process_time()
    assert len(related_in('<a rel=next href="x">' * 100_000)) == MAX_RELATED
    assert related_in("<a " * 300_000 + "rel" * 100_000) == []
    assert related_in("<a x" + " rel=" * 200_000) == []
    assert time.process_time() - began < 5.0


def test_a_result_page_of_the_crawl_s_own_query_names_no_feed() -> None:
    feeds = Feeds(canonical_url, TopicJudge(["reef"], Analyzer("en")), per_host=3, most=5)
    page = Page("http://h/find?q=reef", related=((FEED, "http://h/find.rss?q=reef"),))
    assert list(feeds.named(replace(page, kind=QUERY))) == []
    assert [url.url for url in feeds.named(page)] == ["http://h/find.rss?q=reef"]
