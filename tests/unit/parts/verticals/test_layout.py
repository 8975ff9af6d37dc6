"""Page types and their units, by structured data and by repeated parts."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.verticals.detector import detect_template
from crawlproject.parts.verticals.layout import layout_of
from crawlproject.parts.verticals.site_template import KINDS, Layout

URL = "http://a.example/t/7"
TEXTS = [
    "The reef is bleached in the north.",
    "It was as bad two years ago, and it came back.",
    "Where did you see that?",
]


def layout(body: str, url: str = URL) -> Layout:
    menu = "<nav><ul><li><a href='/one'>One of the menu</a><li><a href='/two'>Two of the menu</a></ul></nav>"
    return layout_of(url, f"<body>{menu}{body}</body>".encode(), "text/html; charset=utf-8")


def posts(found: Layout) -> list[str]:
    return [unit.text for unit in found.units]


def test_posts_as_microdata() -> None:
    scope = "itemprop=comment itemscope itemtype='http://schema.org/Comment'"
    body = "".join(
        f"<div {scope}><b itemprop=author>ann</b><time itemprop=datePublished datetime=2024-03-0{n}T10:00></time>"
        f"<div itemprop=text><p>{text}</p></div><a itemprop=url href='#p{n}'>#</a></div>"
        for n, text in enumerate(TEXTS, 1)
    )
    found = layout(body)
    assert found.kind == "thread" and posts(found) == TEXTS
    first = found.units[0]
    assert (first.kind, first.author, first.published, first.url) == ("post", "ann", "2024-03-01", f"{URL}#p1")


def test_answers_in_json_ld() -> None:
    answers = [{"@type": "Answer", "text": text, "author": {"@type": "Person", "name": "bo"}} for text in TEXTS[1:]]
    question = {"@type": "Question", "name": "Coral?", "text": TEXTS[0], "suggestedAnswer": answers}
    data = json.dumps({"@context": "https://schema.org", "@type": "QAPage", "mainEntity": question})
    found = layout(f"<script type='application/ld+json'>{data}</script><p>Page</p>")
    assert found.kind == "thread" and posts(found) == TEXTS
    assert [unit.author for unit in found.units] == ["", "bo", "bo"]


def test_entries_as_microformats() -> None:
    body = "".join(
        f"<div class=hentry><h2 class=entry-title><a rel=bookmark href=/p{n}>Post {n}</a></h2><p>{text}</p></div>"
        for n, text in enumerate(TEXTS)
    )
    found = layout(body)
    assert found.kind == "listing" and [unit.kind for unit in found.units] == ["entry"] * 3
    assert [(unit.title, unit.url) for unit in found.units] == [
        (f"Post {n}", f"http://a.example/p{n}") for n in range(3)
    ]


@pytest.mark.parametrize("tag", ["div class='post bg{}'", "table", "li class=message"])
def test_posts_by_repeated_parts(tag: str) -> None:
    open_, close = ("<table><tr><td>", "</td></tr></table>") if tag == "table" else (f"<{tag}>", f"</{tag.split()[0]}>")
    body = "".join(
        f"{open_.format(n)}<a href='/user/{n}'>ann</a> 2024-03-0{n} <p>{text}</p><a href='/post/{n}'>#{n}</a>{close}"
        for n, text in enumerate(TEXTS, 1)
    )
    found = layout(f"<h1>Reefs</h1>{body}")
    assert found.kind == "thread" and len(found.units) == 3
    for text, unit in zip(TEXTS, found.units, strict=True):
        assert text in unit.text and unit.author == "ann"
    assert [unit.url for unit in found.units] == [f"http://a.example/post/{n}" for n in (1, 2, 3)]


def test_replies_in_replies_are_units_without_each_other() -> None:
    inner = ""
    for n, text in reversed(list(enumerate(TEXTS, 1))):
        inner = f"<div class=reply><a href='/user/{n}'>ann</a> 2024-03-0{n} <p>{text}</p>{inner}</div>"
    found = layout(inner)
    assert found.kind == "thread"
    assert [[text in unit.text for text in TEXTS] for unit in found.units] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


def test_rows_that_lead_to_pages_of_their_own_are_a_listing() -> None:
    rows = "".join(
        f"<tr><td><a href='/item/{n}'>Coral number {n}</a><td>{n} EUR<td>{TEXTS[n % 3]}</tr>" for n in range(9)
    )
    found = layout(f"<h1>Goods</h1><table>{rows}</table>")
    assert found.kind == "listing" and len(found.units) == 9
    assert found.units[4].title == "Coral number 4" and found.units[4].url == "http://a.example/item/4"


def test_an_article_with_comments_keeps_both_apart() -> None:
    story = "".join(f"<p>{text * 6}</p>" for text in TEXTS)
    remarks = "".join(
        f"<li class=comment><cite class=author>bo</cite> <time datetime=2024-04-0{n}>April</time><p>Remark {n}, and more.</p></li>"  # noqa: E501
        for n in range(1, 5)
    )
    head = "<meta property='og:type' content='article'>"
    found = layout(
        f"{head}<h1>Reefs</h1><article><time datetime=2024-03-09>9 March</time>{story}</article><ol>{remarks}</ol>"
    )
    assert found.kind == "article" and [unit.kind for unit in found.units] == ["article"] + ["post"] * 4
    assert found.units[0].published == "2024-03-09" and "Remark" not in found.units[0].text
    assert "Menu" not in found.units[0].text.title()


def test_a_day_with_a_long_s_is_read() -> None:
    paragraphs = "".join(f"<p>{text}" * 9 for text in TEXTS)
    found = layout(f"<article><h1>Of the reef</h1><p>\u017fep 12, 2024</p>{paragraphs}</article>")
    assert found.units[0].published == "2024-09-12"


def test_a_manual_is_nothing_of_that() -> None:
    sections = "".join(
        f"<div class=section><h2>Step {n}</h2><p>{text * 5} See <a href='/x{n}'>this</a>.</p></div>"
        for n, text in enumerate(TEXTS)
    )
    assert layout(f"<h1>How to install</h1>{sections}") == Layout()


def test_a_site_knows_its_posts_on_a_page_with_two() -> None:
    def thread(count: int, start: int) -> bytes:
        return "".join(
            f"<div class=entry><a href='/user/{n}'>ann</a> 2024-03-01 <p>Said number {chr(97 + n)} in the thread at length.</p></div>"  # noqa: E501
            for n in range(start, start + count)
        ).encode()

    pages = [(f"http://a.example/t/{n}", thread(4, 4 * n), "text/html") for n in range(4)]
    template = detect_template(pages)
    short = thread(2, 20)
    assert layout_of(URL, short, "text/html").units == (), (
        "two of a kind are chance on a page of which nothing is known"
    )
    assert len(template.layout(URL, short, "text/html").units) == 2


@given(st.lists(st.sampled_from(
    ["<div class=a>", "</div>", "<a href=/x>link of it</a>", "text 2024-01-01 ", "<table><tr><td>", "<li>", "<article>", "<time>", "\0",  # noqa: E501
     "<div itemscope itemtype=http://schema.org/Comment>", "<p itemprop=text>", "<h1>", '<script type="application/ld+json">{"@type":[1]}</script>']  # noqa: E501
)))  # fmt: skip
def test_no_markup_raises(pieces: list[str]) -> None:
    found = layout_of(URL, "".join(pieces).encode(), "text/html")
    assert found.kind in KINDS


@pytest.mark.parametrize("said", [None, 7, {"a": 1}, [None, "Comment"]])
@pytest.mark.parametrize("url", ["http://[", "/x", 7])
def test_no_structured_data_raises(said: object, url: object) -> None:
    data = json.dumps([{"@type": said, "text": "One", "url": url}, {"@type": "Comment", "text": "Two", "url": url}] * 2)
    microdata = f"<p itemscope itemtype=Answer><a itemprop=url href='{url}'>x</a><b itemprop=text>Three</b></p>"
    found = layout(f"<script type='application/ld+json'>{data}</script>{microdata}<p>Page</p>")
    assert {"Two", "Three"} <= {*posts(found)} and {unit.url for unit in found.units} <= {
        "",
        "http://a.example/x",
        "http://a.example/t/7",
    }


@pytest.mark.parametrize(
    "body",
    ["<div class=a>" * 40_000 + "x", "".join(f"<div class=c{'abcdefgh'[n % 8]}><a href=/x{n}>title of {n}</a>" for n in range(8_000)),  # noqa: E501
     "<div itemscope itemprop=a>" * 100 + "<p itemprop=text>hello</p>" * 18_000, "<div class=hentry>" * 20_000 + "text",
     "<script type=application/ld+json>" * 30_000,
     "<div itemscope>" + "".join(f"<div itemprop=p{n}>" for n in range(240)) + "<b></b>" * 100_000,
     f"<div itemscope><div itemprop='{' '.join(f'p{n}' for n in range(5_000))}'>" + "<b></b>" * 20_000],
    ids=["deep", "crowded", "properties", "entries", "scripts", "properties in each other", "names"],
)  # fmt: skip
def test_hostile_markup_takes_seconds_at_most(body: str) -> None:
    began = time.process_time()
    layout_of(URL, body.encode(), "text/html")
    assert time.process_time() - began < 5
