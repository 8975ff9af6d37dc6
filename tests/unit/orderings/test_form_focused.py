"""Form-focused crawling learns which links lead to search forms."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.pages import a_context, a_page_of

from crawlproject.errors import BadSetting
from crawlproject.orderings.form_focused import FormFocused
from crawlproject.orderings.registry import make_ordering
from crawlproject.pages.html.form_kinds import SEARCH_FORMS
from crawlproject.records import CrawlUrl, Page


def page(
    url: str, *links: tuple[str, str], form: bool = False, parent: str | None = None, relevance: float = 0.5
) -> Page:
    signs = {SEARCH_FORMS: 1.0} if form else {}
    return replace(a_page_of(*links, relevance=relevance), url=url, signs=signs, parent=parent)


def scores(ordering: FormFocused, found: Page) -> list[float]:
    return [ordering.score(found, link) for link in found.links]


def taught() -> FormFocused:
    """An ordering after a crawl in which "holdings" led to forms, on six hosts, and "people" did not."""
    ordering = FormFocused(a_context("coral reef"))
    for number in range(6):
        home = page(
            f"http://h{number}.example/",
            (f"http://h{number}.example/a", "our holdings"),
            (f"http://h{number}.example/b", "people"),
        )
        scores(ordering, home)
        ordering.observe(page(f"http://h{number}.example/b", parent=home.url))
        ordering.observe(page(f"http://h{number}.example/a", parent=home.url, form=True))
    return ordering


def test_links_that_say_search_come_first_from_the_start() -> None:
    ordering = FormFocused(a_context("coral reef"))
    first, second = scores(
        ordering, page("http://a.example/", ("http://a.example/x", "advanced search"), ("http://a.example/y", "people"))
    )
    assert first > second


def test_words_that_led_to_forms_count_and_waiting_links_are_scored_again() -> None:
    ordering = taught()
    new = page("http://z.example/", ("http://z.example/1", "people"), ("http://z.example/2", "holdings"))
    people, holdings = scores(ordering, new)
    assert holdings > people + 0.2
    before = dict(ordering.revise())
    for number in range(4):
        ordering.score(page("http://y.example/"), replace(new.links[0], url=f"http://y{number}.example/"))
        ordering.observe(page(f"http://y{number}.example/", form=True))
    after = dict(ordering.revise())
    assert after["http://z.example/1"] > before["http://z.example/1"]


def test_the_page_before_the_form_is_an_example_too() -> None:
    ordering = FormFocused(a_context("coral reef"))
    for number in range(4):
        host = f"http://h{number}.example"
        scores(ordering, page(f"{host}/", (f"{host}/s", "services"), (f"{host}/j", "jobs")))
        scores(ordering, page(f"{host}/s", (f"{host}/f", "holdings"), parent=f"{host}/"))
        ordering.observe(page(f"{host}/j", parent=f"{host}/"))
        ordering.observe(page(f"{host}/s", parent=f"{host}/"))
        ordering.observe(page(f"{host}/f", parent=f"{host}/s", form=True))
    services, jobs = scores(
        ordering, page("http://z.example/", ("http://z.example/1", "services"), ("http://z.example/2", "jobs"))
    )
    assert services > jobs


def test_a_host_whose_form_is_known_is_left_and_the_topic_counts() -> None:
    ordering = taught()
    known, other = scores(
        ordering, page("http://z.example/", ("http://h1.example/c", "holdings"), ("http://z.example/c", "holdings"))
    )
    assert known < other / 5
    off_topic = scores(ordering, page("http://w.example/", ("http://w.example/c", "holdings"), relevance=0.0))
    assert off_topic[0] < other


def test_why_names_what_the_words_and_the_topic_give() -> None:
    ordering = FormFocused(a_context("coral reef"))
    found = page("http://a.example/", ("http://a.example/x", "search"))
    score = ordering.score(found, found.links[0])
    parts = ordering.explain(CrawlUrl("http://a.example/x", score, 1, found.url))
    assert set(parts) == {"form", "topic", "before"} and sum(parts.values()) == pytest.approx(score)


def test_a_wrong_weight_is_named() -> None:
    with pytest.raises(BadSetting, match=r"ORDERING_FORM_WEIGHT.*0 to 1"):
        make_ordering("form_focused", a_context(), {"form_weight": "7"})
