"""Page lifetimes stated by servers: they are parsed, believed as far as they proved true, and useful."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.changingweb import ChangingWeb
from support.timedcrawl import DAY, START, TimedCrawl

from crawlproject.core.responses import LONGEST, modified, stated_lifetime
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.parts.revisits.learned import Lifetimes
from crawlproject.records import Topic, Visit
from crawlproject.storage.read import read_visits

DATES = {"date": "Sat, 09 Mar 2024 08:00:00 GMT", "expires": "Sat, 09 Mar 2024 09:00:00 GMT"}
URL = "http://a.example/{}"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"cache-control": "public, max-age=600"}, 600.0),
        ({"cache-control": 'MAX-AGE="600"', "age": "100"}, 500.0),
        ({"cache-control": "max-age=600, s-maxage=60, immutable"}, 60.0),
        ({"cache-control": "max-age=600, no-store"}, 0.0),
        ({"cache-control": "no-cache", **DATES}, 0.0),
        ({"cache-control": "max-age=0", **DATES}, 0.0),
        ({"cache-control": "private", **DATES}, 3600.0),
        ({"expires": DATES["expires"]}, 0.0),
        ({"expires": "0"}, 0.0),
        ({"cache-control": "max-age=-5"}, 0.0),
        ({"cache-control": "max-age=" + "9" * 400}, 0.0),
        ({"cache-control": "max-age=9999999999"}, LONGEST),
    ],
)
def test_what_servers_state(headers: dict[str, str], seconds: float) -> None:
    assert stated_lifetime(headers, 1.8e9) == seconds


@pytest.mark.parametrize(
    ("date", "later", "kept"),
    [(DATES["date"], 1.0, False), ("", 0.9, False), ("", 1.0, True), ("Sat, 09 Mar 2024 08:00:01 GMT", 9.0, True),
     ("Sat, 09 Mar 2024 08:00:01 GMT", 0.5, False), ("Sat, 09 Mar 2024 07:00:00 GMT", 9.0, False)],
)  # fmt: skip
def test_a_second_that_is_not_over_names_no_version(date: str, later: float, kept: bool) -> None:
    """The page may change again within that second, and a conditional request would then report no change."""
    header = DATES["date"]
    at = parsedate_to_datetime(header).timestamp()
    assert modified({"last-modified": header, "date": date}, at + later) == header * kept


def test_what_is_no_date_is_kept_as_it_came() -> None:
    assert modified({"last-modified": "yesterday"}, 1.8e9) == "yesterday"


@given(st.text(), st.text(), st.text(), st.text())
def test_whatever_is_sent_is_a_lifetime_or_none(control: str, expires: str, date: str, age: str) -> None:
    headers = {"cache-control": f"max-age={control}", "expires": expires, "date": date, "age": age}
    assert 0.0 <= stated_lifetime(headers, 0.0) <= LONGEST
    del headers["cache-control"]
    assert 0.0 <= stated_lifetime(headers, 0.0) <= LONGEST


def shown(known: Lifetimes, row: int, day: float, change: str, lifetime: float) -> CollectedPage:
    """Visit a page on a day; return the page afterwards."""
    number = 1 if not change else 2
    visit = Visit(URL.format(row), 200, START + day * DAY, number=number, change=change, lifetime=lifetime * DAY)
    known.shown(visit, row)
    return CollectedPage(row, visit.url, 0, "", number, 1, visit.at, visit.at, 0.0, "", "", "")


def planned(known: Lifetimes, page: CollectedPage, days: float) -> float:
    """Days until the next visit of a page whose visit was planned in ``days`` days."""
    return (known.next_visit(page, page.at + days * DAY) - page.at) / DAY


def test_promises_that_were_kept_put_a_visit_off() -> None:
    known = Lifetimes(60.0)
    page = shown(known, 0, 0, "", 30)
    assert planned(known, page, 4) == 4, "nobody knows yet"
    for row in range(20):
        shown(known, row, 0, "", 30)
        page = shown(known, row, 10, "same", 30)
    assert planned(known, page, 4) == pytest.approx(10), "a twentieth of 200 days that were as promised"
    for row in range(20):
        page = shown(known, row, 20, "changed", 30)
    assert planned(known, page, 4) == 4, "the host has lied"
    assert planned(known, page, 40) == 30, "at the end of a lifetime, when it is near"


def test_ends_of_lifetimes_that_tell_nothing_are_left_alone() -> None:
    known = Lifetimes(60.0)
    page = shown(known, 0, 0, "", 3)
    assert planned(known, page, 4) == 3 and planned(known, page, 7) == 7
    for day in (3, 6, 9):
        page = shown(known, 0, day, "same", 3)
    assert planned(known, page, 4) == 4
    for day in (12, 15, 18):
        page = shown(known, 0, day, "changed", 3)
    assert planned(known, page, 4) == 3


@pytest.mark.parametrize("lifetime", [0.0, 30.0 / DAY])
def test_lifetimes_that_are_too_short_say_nothing(lifetime: float) -> None:
    known = Lifetimes(60.0)
    assert planned(known, shown(known, 0, 0, "", lifetime), 4) == 4


def freshness(folder: Path, lifetimes: str) -> float:
    """The mean share of time, from day 5 to 25, in which the stored page is current; each page is visited every 4 days."""
    days, sites, pages = 25.0, 3, 14
    crawls: list[TimedCrawl] = []
    web = ChangingWeb(
        lambda: crawls[0].now if crawls else START,
        start=START,
        span=days * DAY / 0.8,
        sites=sites,
        pages=pages,
        lifetimes=lifetimes,
    )
    settings = {
        "CRAWL_REVISIT": "uniform",
        "CRAWL_RATE": sites * (pages + 1) / (4 * 24),
        "CRAWL_REVISIT_MIN": 3600.0,
        "CRAWL_MAX_PAGES": sites * (pages - 4),
        "CRAWL_KEEP_PAGES": 1000,
        "CRAWL_NEW_SHARE": 0.2,
        "CRAWL_SITE_BUDGET": 0,
        "PAGE_DUPLICATES": False,
    }
    crawls.append(TimedCrawl(Topic("reef", ("coral reef",), tuple(web.seeds)), folder, web, **settings))
    crawls[0].run(days * DAY).close()
    visits: dict[str, list[float]] = {}
    for visit in read_visits(folder):
        if visit.url in web.articles and (visit.number == 1 or visit.change):
            visits.setdefault(visit.url, []).append(visit.at)
    fresh: list[bool] = []
    for url, seen in visits.items():
        page = web.pages[url]
        for hour in range(5 * 24, int(days * 24)):
            now = START + 3600.0 * hour
            if seen[0] <= now < min(page.gone, page.moved):
                fresh.append(page.version(max(at for at in seen if at <= now)) == page.version(now))
    return sum(fresh) / len(fresh)


def test_honest_servers_help_and_others_do_no_harm(tmp_path: Path) -> None:
    found = {kind: freshness(tmp_path / (kind or "none"), kind) for kind in ("", "honest", "useless", "short", "lying")}
    assert found["honest"] > found[""] + 0.02, found
    assert found["useless"] == found[""], found
    assert min(found["short"], found["lying"]) > found[""] - 0.015, found
