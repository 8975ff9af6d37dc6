"""The message when a crawl fetches only URLs that guards have put last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.events import page_event

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.parts.duplicates.part import Duplicates
from crawlproject.records import (
    ACTIVE,
    NEW_TEXT,
    OVER_BUDGET,
    PLANTED,
    REDUNDANT,
    REPETITIVE,
    UNINFORMATIVE,
    CrawlUrl,
    Page,
    Topic,
)
from crawlproject.reports.report import write_report

TOPIC = Topic("t", ("coral",), ("http://a.example/",))


def crawl_in(folder: Path, **settings: object) -> Crawl:
    return assemble(TOPIC, read_options(settings), clock=lambda: 1_700_000_000.0, folder=folder)


def late(n: int, precedence: int = UNINFORMATIVE) -> CrawlUrl:
    return CrawlUrl(f"http://h{n}.example/", 0.5, 1, "http://a.example/", precedence=precedence)


@pytest.mark.parametrize("precedence", [UNINFORMATIVE, REPETITIVE, REDUNDANT])
def test_only_the_last_class_is_told_after_half_a_minute_of_nothing_else(tmp_path: Path, precedence: int) -> None:
    crawl = crawl_in(tmp_path)
    now = 1_700_000_000.0
    assert crawl.take(now) is not None, "the seed"
    for n in range(41):
        crawl.frontier.put(late(n, precedence))
        assert crawl.stats.all_that_is_left == ("" if n <= 30 else "pages that say nothing new"), n
        assert crawl.take(now + n) is not None
    crawl.frontier.put(late(99, ACTIVE))
    assert crawl.take(now + 50) is not None
    assert not crawl.stats.all_that_is_left, "something better came"


def test_a_trial_of_what_said_nothing_new_is_nothing_better(tmp_path: Path) -> None:
    crawl = crawl_in(tmp_path, CRAWL_SITE_BUDGET=0)
    now = 1_700_000_000.0
    assert crawl.take(now) is not None, "the seed"
    learn = crawl.part(Duplicates).learn
    for n in range(6):
        learn(page_event(Page(f"http://h.example/cal/{n}", signs={NEW_TEXT: 0.0})))
    taken = []
    for n in range(41):
        crawl.frontier.put(CrawlUrl(f"http://h.example/cal/{90 + n}", 0.5, 1, "http://a.example/"))
        url = crawl.take(now + n)
        assert url is not None
        taken.append(url.precedence)
        crawl.frontier.drop(url.key)
    assert taken[0] == ACTIVE and set(taken[1:]) <= {UNINFORMATIVE, REPETITIVE}, "a trial, and no other for a while"
    assert crawl.stats.all_that_is_left == "pages that say nothing new"
    crawl.frontier.put(CrawlUrl("http://h.example/cal/200", 0.5, 1, "http://a.example/"))
    url = crawl.take(now + 4_000)
    assert url is not None and url.precedence == ACTIVE, "the next trial"
    assert crawl.stats.all_that_is_left == "pages that say nothing new"
    assert crawl.stats.taken_last == url.url


@pytest.mark.parametrize(
    ("settings", "endless"),
    [
        ({}, True),
        ({"CRAWL_MAX_PAGES": 9}, False),
        ({"CRAWL_MAX_SECONDS": 9}, False),
        ({"CRAWL_MIN_HARVEST": 0.1}, False),
    ],
)
def test_a_crawl_is_endless_without_any_budget(tmp_path: Path, settings: dict[str, object], endless: bool) -> None:
    assert crawl_in(tmp_path, **{"CRAWL_MAX_PAGES": 0, **settings}).stats.is_endless is endless


def test_the_report_says_what_waits_behind_what(tmp_path: Path) -> None:
    crawl = crawl_in(tmp_path)
    crawl.frontier.put_many([late(1), late(2), late(3, OVER_BUDGET), late(4, PLANTED), late(5, ACTIVE)])
    crawl.close("shutdown", 1_700_000_000.0)
    stats = json.loads((tmp_path / "crawl.json").read_text())["stats"]
    assert {name: n for name, n in stats.items() if name.startswith("waiting/")} == {
        "waiting/in_turn": 3,  # the seed, too
        "waiting/over_budget": 1,
        "waiting/uninformative": 2,
    }
    text = write_report(tmp_path).read_text()
    table = text[text.index('id="waiting"') : text.index('id="refused"')]
    words = ["in the order of their scores", "earned", "links of copies"]
    assert sorted(words, key=table.index) == words


def test_of_very_many_hosts_the_first_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlproject.core.stats._MOST", 2)
    crawl = crawl_in(tmp_path)
    crawl.frontier.put_many(CrawlUrl(f"http://{host}.example/{n}", 0.5, 1) for host in "bcd" for n in range(3))
    counts = crawl.stats.waiting_by_class(1_700_000_000.0, lambda url: False)
    looked_at = counts["waiting/in_turn"]
    assert 2 <= looked_at <= 6 and counts["waiting/not_counted"] == len(crawl.frontier) - looked_at
