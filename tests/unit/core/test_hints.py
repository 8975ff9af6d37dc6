"""Hints of sitemaps and feeds: believed where they are true, and read again at their own pace."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlproject.parts.revisits.collection import Collection
from crawlproject.parts.revisits.hints import HINTED, Hints
from crawlproject.parts.revisits.rereads import Rereads
from crawlproject.records import CHANGED, SAME, SITEMAP, Visit
from crawlproject.storage.history import History

NOW = 1_700_000_000.0  # 14 November 2023, 22:13:20 UTC
LATER = "2023-11-14T22:30:00Z"
EARLIER = "2023-11-14T22:00:00Z"


def url(number: int) -> str:
    return f"http://a.example/{number}"


@pytest.fixture
def known(tmp_path: Path) -> tuple[Hints, Collection, History]:
    """A collection of 40 pages."""
    history = History(tmp_path / "history.jsonl")
    for number in range(40):
        history.append(Visit(url(number), 200, NOW, md5="x"))
    collection = Collection(tmp_path)
    return Hints(collection), collection, history


def visit(known: tuple[Hints, Collection, History], row: int, change: str, at: float = NOW + 2_000.0) -> list[int]:
    """Visit a page; the rows that are due for it."""
    hints, collection, history = known
    signs = {HINTED: 1.0} if hints.is_hinted(collection[row]) else {}
    line = Visit(url(row), 200, at, number=collection[row].number + 1, change=change, signs=signs)
    history.append(line)
    collection.catch_up()
    return [page.row for page in hints.shown(line, row)]


def test_only_later_dates_of_known_pages_are_hints(known: tuple[Hints, Collection, History]) -> None:
    hints = known[0]
    entries = [
        (url(0), EARLIER),
        (url(1), LATER),
        (url(2), ""),
        (url(3), "soon"),
        ("http://x/", LATER),
        (url(4), "2099-01-01"),
    ]
    assert [page.row for page in hints.read(entries, NOW + 1_000)] == [1]
    assert hints.due == {1} and hints.read(entries, NOW + 1_000) == []


def test_a_day_is_later_than_a_visit_on_that_day(known: tuple[Hints, Collection, History]) -> None:
    assert [page.row for page in known[0].read([(url(0), "2023-11-14"), (url(1), "2023-11-13")], NOW)] == [0]


def test_a_host_that_tells_the_truth_is_believed_more(known: tuple[Hints, Collection, History]) -> None:
    hints = known[0]
    due = {page.row for page in hints.read([(url(n), LATER) for n in range(40)], NOW + 1_000)}
    assert len(due) == 4, "nobody knows yet whether it is true"
    seen = 0
    while due:
        due |= set(visit(known, due.pop(), CHANGED))
        seen += 1
    assert seen == 40 and hints.truth("a.example") > 0.9 and not hints.due


def test_a_host_that_lies_costs_a_few_visits_and_may_be_believed_again(
    known: tuple[Hints, Collection, History],
) -> None:
    hints = known[0]
    due = [page.row for page in hints.read([(url(n), LATER) for n in range(40)], NOW + 1_000)]
    for row in due:  # which grows
        due += visit(known, row, SAME)
    assert len(due) == 5
    assert hints.truth("a.example") < 0.5 and not hints.due
    for row in range(10, 20):  # visits that the policy had planned anyway
        visit(known, row, CHANGED)
    assert hints.truth("a.example") > 0.5


def test_a_replay_learns_the_same(known: tuple[Hints, Collection, History]) -> None:
    again = Hints(known[1])
    for row, change in enumerate([SAME] * 5 + [CHANGED]):
        again.shown(Visit(url(row), 200, NOW + 1, number=2, change=change, signs={HINTED: 1.0}), row)
    assert again.truth("a.example") == 3 / 9


def test_readings_come_closer_with_news_and_drift_apart_without() -> None:
    rereads = Rereads(3_600.0)
    rereads.add(Visit("http://a.example/s.xml", 200, NOW, kind=SITEMAP, etag='"1"'))
    (record,) = rereads.records()
    assert (record.kind, record.variant, record.not_before) == ("reread", SITEMAP, NOW + 86_400)
    assert rereads.validators(record.url) == {"If-None-Match": '"1"'}
    assert rereads.read(record.url, NOW, news=True, last_modified="x") == NOW + 43_200
    assert rereads.validators(record.url) == {"If-None-Match": '"1"', "If-Modified-Since": "x"}
    assert [rereads.read(record.url, NOW, news=True) for _ in range(9)][-1] == NOW + 3_600
    assert [rereads.read(record.url, NOW, news=False) for _ in range(40)][-1] == NOW + 30 * 86_400
    assert next(rereads.records(now=True)).not_before == 0.0
