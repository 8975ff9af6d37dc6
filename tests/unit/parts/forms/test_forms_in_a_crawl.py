"""Queries of forms in a crawl that is resumed."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from support.livecrawl import finish, taken

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.records import QUERY, CrawlUrl, Fetch, Reply, Topic

HOME = "http://a.example/"
FORM = b"<p>coral reef</p><form action='/find'><input name='q'><input type='hidden' name='ref' value='a'></form>"


def opened(folder: Path, **settings: object) -> Crawl:
    chosen = {
        "ORDERING": "best_first",
        "CRAWL_FORMS": 50,
        "POLITENESS_MIN_DELAY": 0,
        "POLITENESS_FACTOR": 0,
        **settings,
    }
    return assemble(Topic("reef", ("coral reef",), (HOME,)), read_options(chosen), clock=lambda: 0.0, folder=folder)


def answer(url: str) -> bytes:
    """Five pages of results about corals, and none for other words."""
    asked = {name: value[0] for name, value in parse_qs(urlsplit(url).query).items()}
    if asked.get("q") != "coral":
        return b"<p>no results</p>"
    number = int(asked.get("page", 1))
    items = "".join(f"<li><a href='/item{number}-{n}'>coral reef {number} {n}</a></li>" for n in range(5))
    following = f"<a href='/find?q=coral&ref=a&page={number + 1}'>Next page</a>" if number < 5 else ""
    return f"<ul>{items}</ul>{following}".encode()


def fetch_next(crawl: Crawl, now: float) -> CrawlUrl:
    url = taken(crawl, now)
    fetch = Fetch(200, now, 0.1)
    body = FORM if url.url == HOME else answer(url.url) if url.kind == QUERY else b"<p>coral reef</p>"
    page = crawl.receive(url, Reply(url.url, 200, {"content-type": "text/html"}, body), fetch)
    assert page is not None
    finish(crawl, url, crawl.steps.examine(page, fetch), body, fetch)
    return url


def queries(crawl: Crawl) -> list[str]:
    return [url.url for url in crawl.frontier.waiting() if url.kind == QUERY]


@pytest.mark.parametrize("fetches", range(1, 8))
def test_a_query_that_waits_while_spelling_changes_takes_its_new_spelling(tmp_path: Path, fetches: int) -> None:
    """The next page of a list, above all, would end the list if it were lost."""
    whole = opened(tmp_path / "whole")
    asked = [fetch_next(whole, 100.0 * (number + 1)).url for number in range(9)]
    whole.close("stopped", 1_000.0)

    crawl = opened(tmp_path / "crawl")
    found = [fetch_next(crawl, 100.0 * (number + 1)).url for number in range(fetches)]
    assert queries(crawl) == [asked[fetches]]
    crawl.close("stopped", 1_000.0)
    crawl = opened(tmp_path / "crawl", CRAWL_URL_STRIP_PARAMETERS="ref")
    for number in range(fetches, 9):
        found.append(fetch_next(crawl, 2_000.0 + 100.0 * number).url)
        assert len(queries(crawl)) == (number < 8), "one at a time"
    assert found == [*asked[:fetches], *(url.replace("&ref=a", "") for url in asked[fetches:])]
    crawl.close("stopped", 9_000.0)
