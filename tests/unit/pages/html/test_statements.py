"""The author of a page, its licence, and its reserved rights."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import Page
from crawlproject.urls.canonical import canonical_url

URL = "http://a.example/blog/post"
CC = "https://creativecommons.org/licenses/by-sa/4.0/"


def data(value: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


READER = Reader(Analyzer("en"), canonicalize=canonical_url, agent="topical")


def read(html: str, **headers: str) -> Page:
    return READER.read(URL, html.encode(), content_type="text/html; charset=utf-8", **headers)


@pytest.mark.parametrize(
    "html",
    [
        data({"@type": "Article", "author": {"@type": "Person", "name": "Ann Lee"}})
        + '<meta name="author" content="No">',
        data({"author": "Ann Lee"}),
        data({"@graph": [{"@id": "#a", "name": "Ann Lee"}, {"@type": "Article", "author": {"@id": "#a"}}]}),
        data({"author": "Ann Lee", "comment": [{"author": "Bob"}]}),
        '<meta name="Author" content=" Ann\n Lee ">',
    ],
)
def test_the_author(html: str) -> None:
    assert read(html).author == "Ann Lee"


def test_several_authors() -> None:
    assert read(data({"author": [{"name": "Ann Lee"}, "Bob", {"name": "Ann Lee"}]})).author == "Ann Lee, Bob"
    metas = '<meta name="citation_author" content="Ann Lee"><meta name="citation_author" content="Bob">'
    assert read(metas).author == "Ann Lee, Bob"


@pytest.mark.parametrize(
    "html",
    [
        "<p>The author of this page</p>",
        '<div class="author">Ann</div>',
        '<meta name="author" content="https://social.example/ann">',
        '<meta name="twitter:creator" content="@ann">',
        '<link rel="author" href="about.html"><link rel="prev" title="Chapter 1" href="1.html"><p>x',
        data({"author": {"url": "http://a.example/"}}),
        data({"author": [["x"], 3, None]}),
    ],
)
def test_no_author(html: str) -> None:
    assert read(html).author == ""


@pytest.mark.parametrize(
    ("html", "license"),
    [
        ('<a rel="license noopener" href="http://creativecommons.org/licenses/by-sa/4.0/deed.de">CC</a>', CC),
        ('<link href="/terms?a=1&amp;b=2" rel="license">', "http://a.example/terms?a=1&b=2"),
        ('<a rel="license" href="COPYING">x</a>', "http://a.example/blog/COPYING"),
        (data({"license": "http://www.creativecommons.org/licenses/by-sa/4.0"}), CC),
        (data({"license": {"@type": "CreativeWork", "name": "CC BY 4.0"}}), "CC BY 4.0"),
        ('<meta name="dcterms.license" content="https://a.example/l">', "https://a.example/l"),
        ('<a itemprop="license" href="https://a.example/l">x</a>', "https://a.example/l"),
        (f'<p>Under <a href="{CC}">this</a> licence, again <a href="{CC}deed.en">this</a>', CC),
        (
            '<a href="https://creativecommons.org/publicdomain/zero/1.0/">CC0</a>',
            "https://creativecommons.org/publicdomain/zero/1.0/",
        ),
        (f'<a href="{CC}">one</a> <a href="https://creativecommons.org/licenses/by/4.0/">another</a>', ""),
        ('<a rel="license" href="javascript:void(0)">x</a>', ""),
        ("<p>license this</p>", ""),
    ],
)
def test_the_licence(html: str, license: str) -> None:
    assert read(html).license == license


@pytest.mark.parametrize(
    ("html", "headers", "reserved"),
    [
        ('<meta name="robots" content="noai, noimageai">', {}, "noai noimageai"),
        ('<meta name="robots" content="index, NoAI">', {}, "noai"),
        ('<meta name="tdm-reservation" content="1">', {}, "tdm-reservation"),
        ('<meta name="tdm-reservation" content="0">', {}, ""),
        ("<p>x", {"robots_tag": "noai"}, "noai"),
        ("<p>x", {"robots_tag": "otherbot: noai"}, ""),
        ("<p>x", {"tdm_reservation": " 1"}, "tdm-reservation"),
        ("<p>x", {"tdm_reservation": "0"}, ""),
        (
            '<meta name="robots" content="noimageai">',
            {"robots_tag": "noai", "tdm_reservation": "1"},
            "noai noimageai tdm-reservation",
        ),
    ],
)
def test_what_a_page_reserves(html: str, headers: dict[str, str], reserved: str) -> None:
    page = read(html, **headers)
    assert page.reserved == reserved and page.indexable


@given(
    st.lists(
        st.sampled_from(
            ['<a rel="license"', ' href="', "author", "license", 'itemprop="', '">', "<", ">", " x", "é", "</b>"]
        )
    ).map("".join)
)
def test_nothing_is_raised_and_texts_are_short(html: str) -> None:
    page = read(html)
    assert len(page.author) <= 1_020 and len(page.license) <= 300
