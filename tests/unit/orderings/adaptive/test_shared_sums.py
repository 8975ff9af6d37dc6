"""Adaptive orderings that exchange sums: together they know as much as a single one that fetched all pages."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest
from support.pages import a_context
from support.pages import a_linked_page as a_page

from crawlproject.orderings.adaptive.adaptive import Adaptive
from crawlproject.urls.hosts import folder_of

PLACE = "html body main a"


def adaptive(*, crew: bool) -> Adaptive:
    ordering = Adaptive(a_context("coral reef", seeds=["http://a.example/"]))
    if crew:
        ordering.join_others()
    return ordering


def tell(one: Adaptive, *others: Adaptive) -> None:
    """Send the sums of ``one`` to the others as JSON, as workers do."""
    message = orjson.loads(orjson.dumps(one.difference()))
    for other in others:
        other.add("one", message)


def portal(ordering: Adaptive) -> None:
    links = [(f"http://b.example/{n}", "reef", PLACE) for n in range(6)]
    ordering.observe(a_page("http://a.example/", "coral reef", *links))


def test_who_adds_a_difference_knows_what_was_learned() -> None:
    one, other = adaptive(crew=True), adaptive(crew=True)
    portal(one)
    for n in range(3):
        one.observe(a_page(f"http://b.example/{n}", "coral reef" if n else "steam engine"))
    tell(one, other)
    for ordering in (one, other):
        ordering._learn_all()
    assert other._ridge.weights == pytest.approx(one._ridge.weights, abs=1e-5)
    assert other._evidence._outcomes == pytest.approx(one._evidence._outcomes, abs=1e-5)
    assert (other._pages, other._terms.documents, other._terms.mean_length) == (4, 4, one._terms.mean_length)
    assert other._terms.idf(other._terms.ids.number("coral")) == one._terms.idf(one._terms.ids.number("coral"))
    folders = [ordering._evidence._groups[1] for ordering in (one, other)]
    folder = folder_of("http://b.example/1")
    sums = [groups.sums[groups.find(folder)] for groups in folders]
    assert sums[1] == pytest.approx(sums[0], abs=1e-5) and sums[0][0] > 0
    assert [groups.members[groups.find(folder)] for groups in folders] == [3, 3]
    assert one.difference() is None, "it is told once"


def test_whoever_fetches_the_worker_that_has_the_row_learns() -> None:
    alone, keeper, fetcher = adaptive(crew=False), adaptive(crew=True), adaptive(crew=True)
    portal(alone)
    portal(keeper)
    page = replace(a_page("http://b.example/1", "coral reef"), depth=1)
    alone.observe(page)
    fetcher._terms.observe(fetcher._terms.numbers(["coral", "reef"]))  # it has seen as many pages
    fetcher.observe(page)
    assert fetcher._evidence._pages == 1, "it has no row: it learns nothing by itself"
    keeper.fetched_elsewhere(page.url, fetcher.outcome(page.url))
    assert keeper._table.row(page.url) is None
    for ordering in (alone, keeper):
        ordering._ridge.solve()
    assert keeper._ridge.weights == pytest.approx(alone._ridge.weights, abs=1e-9)
    tell(keeper, fetcher)
    fetcher._ridge.solve()
    assert fetcher._ridge.weights == pytest.approx(alone._ridge.weights, abs=1e-5)


def test_a_url_that_another_worker_keeps_has_no_row_and_one_from_before_a_restart_stays() -> None:
    ordering = adaptive(crew=True)
    portal(ordering)
    ordering.observe(a_page("http://a.example/2", "", ("http://b.example/0", "reef", PLACE)))
    for n in range(2):
        ordering.kept_elsewhere(f"http://b.example/{n}")
    assert ordering._table.row("http://b.example/0") is not None, "two of its own pages lead there"
    assert ordering._table.row("http://b.example/1") is None
    again = a_page("http://a.example/3", "", ("http://b.example/1", "reef", PLACE))
    ordering.observe(again)
    assert ordering.score(again, again.links[0]) == 0.0, "it is not new"


def test_the_floor_counts_what_others_have_until_they_leave() -> None:
    one, other = adaptive(crew=True), adaptive(crew=True)
    for ordering, name in ((one, "c"), (other, "d")):
        links = [(f"http://{name}.example/{n}", "coral reef", PLACE) for n in range(6)]
        ordering.observe(a_page(f"http://{name}.example/", "coral reef", *links))
        ordering._active.is_short = lambda: True  # type: ignore[method-assign]
        list(ordering.revise())
    assert one.floor == -np.inf, "six of eight"
    tell(other, one)
    list(one.revise())
    assert one.floor > -np.inf, "eight of twelve"
    one.left("one")
    list(one.revise())
    assert one.floor == -np.inf


@pytest.mark.parametrize("damage", [5, None, [], [1, 2], ["news", None], [[""] * 8, None], [None, [["x"], {}]]])
def test_what_is_no_difference_is_refused(damage: Any) -> None:
    ordering = adaptive(crew=True)
    with pytest.raises((ValueError, TypeError, KeyError)):
        ordering.add("one", damage)


@pytest.mark.parametrize(
    ("places", "value"),
    [
        ((0, 7, 3), ""),  # terms without counts
        ((0, 7, 2, 0), 5),  # a term that is no text
        ((0, 6, 0, 2), "AAAAAA=="),  # other counts than terms
        ((0, 5, 2, 0, 0), ["reef.example", 5]),  # a place whose tag path is no text
        ((0, 5), []),
        ((0, 0), "!"),
        ((0, 3), "many"),
    ],
)
def test_a_difference_of_which_a_part_is_damaged_is_refused(places: tuple[int, ...], value: Any) -> None:
    one, other = adaptive(crew=True), adaptive(crew=True)
    portal(one)
    one.observe(a_page("http://b.example/0", "coral reef"))
    message = orjson.loads(orjson.dumps(one.difference()))
    *way, last = places
    part = message
    for place in way:
        part = part[place]
    part[last] = value
    with pytest.raises((ValueError, TypeError, KeyError)):
        other.add("one", message)


def test_a_term_that_is_in_no_page_is_refused() -> None:
    one, other = adaptive(crew=True), adaptive(crew=True)
    portal(one)
    message = orjson.loads(orjson.dumps(one.difference()))
    page = message[0][6][0]
    page[2] = b64encode(bytes(4 * len(page[1]))).decode()
    with pytest.raises(ValueError, match="counts below 1"):
        other.add("one", message)
