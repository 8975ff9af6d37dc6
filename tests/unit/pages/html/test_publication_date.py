"""The day of publication, wherever a document states it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.html.head import day_of
from crawlproject.pages.html.parse import parse_document


def published(markup: str) -> str:
    return parse_document(f"<!doctype html><html><body>{markup}<p>Reefs.</p>".encode()).published


def linked_data(document: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(document)}</script>'


@pytest.mark.parametrize(
    "markup",
    [
        linked_data(
            {"@graph": [{"@type": "WebPage"}, {"@type": "Article", "datePublished": "2024-03-09T23:30:00-05:00"}]}
        ),
        '<meta property="article:published_time" content="2024-03-09T08:00:00+01:00">',
        '<meta name="DC.date.issued" content="2024-03-09">',
        '<meta name=citation_publication_date content="2024/3/9">',
        '<meta name="date" content="Sat, 09 Mar 2024 08:00:00 GMT">',
        '<meta itemprop="datePublished" content="2024-03-09">',
        '<time itemprop="datePublished" datetime="2024-03-09">9 March</time>',
        '<time pubdate datetime="2024-03-09">9 March</time>',
        '<time datetime="2024-03-09">9 March</time> and again <time datetime="2024-03-09T10:00">at ten</time>',
    ],
)
def test_where_a_day_may_stand(markup: str) -> None:
    assert published(markup) == "2024-03-09"


def test_the_more_careful_statement_wins_wherever_it_stands() -> None:
    said = [
        '<time datetime="2020-01-04">',
        '<time pubdate datetime="2020-01-03">',
        '<meta name=date content="2020-01-02">',
        linked_data({"datePublished": "2020-01-01"}),
    ]
    for count in range(1, len(said) + 1):
        assert published("".join(said[:count])) == f"2020-01-0{5 - count}"


@pytest.mark.parametrize(
    "markup",
    [
        "",
        '<time datetime="2024-03-09">a list</time><time datetime="2024-03-10">of posts</time>',
        '<time datetime="PT2H">two hours</time>',
        '<meta name="date" content="soon"><meta name="viewport" content="2024-03-09">',
        '<meta name="date" content="2024-02-30">',
        '<script>{"datePublished": "2024-03-09"}</script>',
        '<script type="application/ld+json">{"datePublished": "2024-03-09"</script>',
        linked_data({"datePublished": {"year": 2024}}),
        linked_data(["datePublished", 2024]),
    ],
)
def test_what_is_no_statement(markup: str) -> None:
    assert published(markup) == ""


def test_a_script_of_deep_nesting_and_a_huge_one_cost_nothing() -> None:
    assert published(linked_data(None).replace("null", "[" * 5_000 + '"datePublished"' + "]" * 5_000)) == ""
    assert published(linked_data({"pad": "x" * 600_000, "datePublished": "2024-03-09"})) == ""


def test_scripts_stay_out_of_the_text() -> None:
    assert "2024" not in parse_document(linked_data({"datePublished": "2024-03-09"}).encode()).text


@given(st.one_of(st.text(), st.dates().map(str), st.from_regex(r"\d{1,9}[-/.]?\d{0,3}[-/.]?\d{0,3}.*")))
def test_any_text_is_a_day_or_none(text: str) -> None:
    day = day_of(text)
    assert day == "" or day_of(day) == day
