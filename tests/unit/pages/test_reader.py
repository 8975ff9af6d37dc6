from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadInput, InvalidUrl
from crawlproject.pages.reader import MAX_ANCHOR, Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.urls.canonical import canonical_url

ANALYZER = Analyzer()
URL = "http://a.org/dir/page.html"


def reader(**options: Any) -> Reader:
    return Reader(ANALYZER, **{"canonicalize": canonical_url, **options})


def terms_of(page: Any, span: tuple[int, int]) -> list[str]:
    return page.terms[span[0] : span[1]]


def test_a_page_is_read() -> None:
    body = b"""<html lang="en"><title>On crawlers</title><body>
        <p>Topical crawlers visit <a href="/pages.html#top">relevant
        pages</a> first.</p><p>Others do <a href="other.html">not</a>.</p></body></html>"""
    page = reader().read(URL, body, depth=2, parent="http://b.org/", score=0.5, inherited=(0.25,))
    assert (page.url, page.title, page.language) == (URL, "On crawlers", "en")
    assert page.terms == ["topic", "crawler", "visit", "relev", "page"]
    assert page.counts == Counter(page.terms)
    assert (page.depth, page.parent, page.score, page.inherited) == (2, "http://b.org/", 0.5, (0.25,))
    assert (page.relevance, page.indexable) == (0.0, True)
    first, second = page.links
    assert (first.url, first.anchor) == ("http://a.org/pages.html", "relevant pages")
    assert terms_of(page, first.anchor_span) == ["relev", "page"]
    assert terms_of(page, first.context_span) == page.terms
    assert (second.url, second.anchor) == ("http://a.org/dir/other.html", "not")
    assert terms_of(page, second.context_span) == []
    assert [link.context_score for link in page.links] == [0.0, 0.0]


def test_words_are_not_cut_by_the_edges_of_links() -> None:
    page = reader().read(URL, b"<p>pre<b>fix</b>es <a href=1>Crawler</a>s un<a href=2>seen</a> words</p>")
    assert page.terms == ["prefix", "crawler", "unseen", "word"]
    assert [terms_of(page, link.anchor_span) for link in page.links] == [["crawler"], []]


def test_links_are_joined_with_the_base() -> None:
    page = reader().read(URL, b'<base href="http://b.org/x/"><a href="y">z</a><a href="#top">top</a>')
    assert [link.url for link in page.links] == ["http://b.org/x/y", "http://b.org/x/"]


@pytest.mark.parametrize(
    ("encoding", "query"),
    [("utf-8", "%E3%82%BD%E6%B5%B7"), ("utf-16", "%E3%82%BD%E6%B5%B7"), ("shift_jis", "%83%5C%8AC"), ("gbk", "%A5%BD%BA%A3"),
     ("windows-1252", "%26%2312477%3B%26%2328023%3B")],
)  # fmt: skip
def test_queries_are_sent_in_the_encoding_of_the_page(encoding: str, query: str) -> None:
    """As in browsers; paths and fragments are always in UTF-8."""
    body = "<a href='海?q=ソ海&a=1#海?海'>x</a><a href='#?海'>y</a>".encode(encoding, "xmlcharrefreplace")
    page = reader().read(URL, body, content_type=f"text/html; charset={encoding}")
    assert [link.url for link in page.links] == [f"http://a.org/dir/%E6%B5%B7?a=1&q={query}"]


def test_what_becomes_of_links_is_counted() -> None:
    body = b"""<a href="mailto:me@a.org">x</a><a href="#top">x</a><a href="page.html">x</a><a href="">x</a>
        <a href=1 rel=nofollow>x</a><a href=2>x</a><a href=2>again</a><a href="http://[bad">x</a><a href=3>x</a>"""
    counting = reader(max_links=8)
    assert [link.url[-1] for link in counting.read(URL, body).links] == ["2", "2"]
    assert counting.counters == {
        **{"links/kept": 2, "links/invalid": 2, "links/self": 3, "links/nofollow": 1, "links/over-limit": 1}
    }


def test_nofollow_is_followed_when_it_need_not_be_obeyed() -> None:
    body = b"<meta name=robots content=none><a href=1 rel=nofollow>x</a><a href=2>x</a>"
    assert len(reader(obey_nofollow=False, obey_meta_robots=False).read(URL, body).links) == 2
    assert len(reader(obey_meta_robots=False).read(URL, body).links) == 1


@pytest.mark.parametrize(
    ("meta", "header", "links", "indexable"),
    [
        ("", "", 1, True),
        ("noindex", "", 1, False),
        ("nofollow", "", 0, True),
        ("", "noindex", 1, False),
        ("", "nofollow", 0, True),
        ("noindex", "nofollow", 0, False),
        ("", "otherbot: none", 1, True),
    ],
)
def test_meta_robots_and_the_header_are_obeyed(meta: str, header: str, links: int, indexable: bool) -> None:
    body = f'<meta name="robots" content="{meta}"><a href=x>y</a>'.encode()
    obeying = reader()
    page = obeying.read(URL, body, robots_tag=header)
    assert (len(page.links), page.indexable) == (links, indexable)
    assert obeying.counters["links/meta-nofollow"] == 1 - links
    assert reader(obey_meta_robots=False).read(URL, body, robots_tag=header).indexable


def test_the_level_of_the_aggregation_node_is_passed_on() -> None:
    body = b"<div>outer <p>inner <a href=x>anchor</a></p></div>"
    contexts = [reader(aggregation_level=level).read(URL, body) for level in (0, 1, 2, "root")]
    assert [terms_of(page, page.links[0].context_span) for page in contexts] == [
        *(["anchor"], ["inner", "anchor"], ["outer", "inner", "anchor"], ["outer", "inner", "anchor"])
    ]


def test_a_wrong_level_is_refused_before_the_first_page() -> None:
    with pytest.raises(BadInput, match="aggregation level"):
        reader(aggregation_level=-1)


def test_long_anchors_are_cut_and_long_texts_are_counted() -> None:
    counting = reader(max_text=5_000)
    page = counting.read(URL, b"<a href=x>" + b"word " * 10_000 + b"</a>")
    assert len(page.links[0].anchor) <= MAX_ANCHOR
    assert len(page.text) == 5_000
    assert counting.counters["text/truncated"] == 1


def test_plain_text_has_terms_and_no_links() -> None:
    page = reader().read(URL, b"Some crawlers.\n<a href=x>", content_type="text/plain")
    assert page.terms == ["crawler", "href", "x"]
    assert page.links == ()


def refuse_odd(url: str, base: str | None) -> str:
    if len(url) % 2:
        raise InvalidUrl(url, "odd")
    return f"http://a.org/{len(url)}"


SOUP = ("<a href=x>", "<a href=xy>", "</a>", "<p>", "</p>", "<li>", "word", "s", " ", "'", "the ")


@given(st.lists(st.sampled_from(SOUP)))
def test_spans_nest_as_the_tree_does(soup: list[str]) -> None:
    page = reader(canonicalize=refuse_odd).read(URL, "".join(soup).encode())
    assert page.terms == ANALYZER.terms(page.text)
    for link in page.links:
        (start, end), (outer_start, outer_end) = link.anchor_span, link.context_span
        assert 0 <= outer_start <= start <= end <= outer_end <= len(page.terms)
        for other in page.links:
            low, high = other.context_span
            nested = (outer_start <= low and high <= outer_end) or (low <= outer_start and outer_end <= high)
            assert nested or high <= outer_start or outer_end <= low


def test_the_title_of_plain_text_is_its_first_line() -> None:
    page = reader().read("http://a.example/n.txt", b"\n \n Notes on\x07 reefs \nmore", content_type="text/plain")
    assert (page.title, page.text) == ("Notes on reefs", "Notes on\x07 reefs more")
