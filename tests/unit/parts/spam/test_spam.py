"""Spam is recognised by its words, its hidden text and its links; honest pages of any kind are not affected."""

from __future__ import annotations

from random import Random

import pytest

from crawlproject.configuration import read_options
from crawlproject.core.reading import make_reader
from crawlproject.pages.content_features import CONCEALED, REPEATED
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.spam.part import FARMED, STUFFED, Spam
from crawlproject.records import Fetch, Page
from crawlproject.urls.canonical import make_canonicalizer

ANALYZER = Analyzer("en")
OPTIONS = read_options({})
READER = make_reader(OPTIONS, ANALYZER, make_canonicalizer(OPTIONS))
QUERY = TopicJudge(("coral reef",), ANALYZER).query
NOUNS = (
    *("harbour", "letter", "teacher", "window", "garden", "meeting", "market", "island"),
    *("winter", "boat", "history", "bread", "river", "summer", "song"),
)
FETCH = Fetch(200, 0.0, 0.1)


def prose(seed: int, sentences: int, *more: str) -> str:
    random = Random(seed)
    words = [*NOUNS, *more]
    return " ".join(
        f"In the {random.choice(words)} there is a {random.choice(words)} that was not the {random.choice(words)} of the"
        f" {random.choice(words)} we had {random.choice(('seen', 'bought', 'known', 'lost', 'heard of'))}."
        for _ in range(sentences)
    )


def examined(body: str, head: str = "") -> Page:
    page = READER.read("http://www.a.example/", f"<html><head>{head}</head><body>{body}</body></html>".encode())
    return Spam(QUERY).examine(page, FETCH)


def links(count: int, hosts: int) -> str:
    random = Random(4)
    return "".join(
        f'<li><a href="http://h{n % hosts}.example/{n}">{prose(n, 1)[:60]} {random.choice(NOUNS)}</a></li>'
        for n in range(count)
    )


def menu(place: str) -> str:
    return "".join(f'<li><a href="{place}{n}">{prose(n, 1)[:60]}</a></li>' for n in range(80))


@pytest.mark.parametrize(
    "body",
    [
        prose(1, 40, "coral", "reef"),
        prose(2, 10) + f"<ul>{links(100, 3)}</ul>",  # the index of a site and its friends
        f"<table>{'<tr><td>coral<td>12<td>reef<td>4' * 3}</table>",
        prose(3, 40) + '<div style="display:none"><a href="/menu">Menu</a> Sign in</div>',
        prose(3, 10) + f'<ul style="display: none">{menu("/docs/")}</ul>',  # folded, longer than the text
        prose(3, 10) + f"<nav hidden>{menu('http://docs.a.example/')}</nav>",
        f'<div style="flex:1; min-width:0">{prose(3, 20)}</div>',
        "",
    ],
)
def test_honest_pages(body):
    assert examined(body).spam < 0.1


def test_the_keywords_of_the_topic_over_and_over():
    page = examined("coral reef, " * 200)
    assert page.spam > 0.9 and page.signs[STUFFED] == 1.0


def test_other_words_over_and_over_without_a_language():
    page = examined(" ".join(Random(1).choices(("cheap", "flights", "hotels", "casino", "loans"), k=300)))
    assert page.spam > 0.9 and REPEATED in page.signs


@pytest.mark.parametrize(
    ("head", "block"),
    [
        ("", '<div style="display:none">{}</div>'),
        ("", '<p style="position: absolute; left: -9999px">{}</p>'),
        ("", '<p style="color:#FFF;background:white">{}</p>'),
        ("", '<p style="font-size:0">{}</p>'),
        ("", "<section hidden>{}</section>"),
        ("<style>.seo { display:none }</style>", '<div class="x seo">{}</div>'),
    ],
)
def test_text_that_nobody_sees(head, block):
    page = examined(prose(1, 5) + block.format(prose(2, 40, "coral", "reef")), head)
    assert page.spam > 0.7 and page.signs[CONCEALED] > 0.7


@pytest.mark.parametrize("engine", [5, 300])  # as a tree, and as events, for a document too deep for one
def test_a_page_that_a_script_shows_conceals_nothing(engine):
    whole = f'<html><body style="opacity: 0">{"<b>" * engine}{prose(1, 40)}</body></html>'
    page = READER.read("http://www.a.example/", whole.encode())
    assert CONCEALED not in Spam(QUERY).examine(page, FETCH).signs


def test_links_to_other_sites_that_nobody_sees():
    page = examined(prose(1, 5) + f'<div style="display:none">{links(60, 40)}</div>')
    assert page.spam > 0.7 and page.signs[CONCEALED] > 0.7


def test_links_to_everybody_and_no_text_are_suspicious_only():
    page = examined(f"<p>Best sites</p><ul>{links(60, 40)}</ul>")
    assert page.signs[FARMED] == page.spam == pytest.approx(0.5, abs=0.1)


def test_what_was_read_is_not_shown_as_evidence():
    page = examined(f"<ul>{links(100, 3)}</ul>")
    assert "linked" not in page.signs
