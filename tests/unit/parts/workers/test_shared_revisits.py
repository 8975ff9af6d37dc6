"""Workers that share a collection agree on what waits for its next visit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.parts import revisits_of
from support.redisserver import empty_database

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.services import UNREACHABLE
from crawlproject.parts.revisits.part import RevisitPart
from crawlproject.records import CrawlUrl, FetchEvent, Topic, Visit

FEED = "http://a.example/feed.xml"


def worker(folder: Path, name: str, where: dict[str, object]) -> Crawl:
    asked = {"FRONTIER": "redis", "REDIS_PORT": where["port"], "REDIS_DB": where["db"], "CRAWL_WORKER": name}
    options = read_options({"POLITENESS_MIN_DELAY": 0, "CRAWL_REVISIT": "uniform", "CRAWL_FEEDS": 1, **asked})
    return assemble(Topic("reefs", ("reef",), ()), options, clock=lambda: 1000.0, folder=folder / name)


def with_feed(folder: Path, name: str, where: dict[str, object]) -> Crawl:
    """A worker that knows a feed, which waits to be read again."""
    crawl = worker(folder, name, where)
    revisits_of(crawl).learn(FetchEvent(Visit(FEED, 200, 5.0, kind="feed")))
    crawl.frontier.put_many(revisits_of(crawl).read_listing(FEED))
    return crawl


def refuse_feed(crawl: Crawl, reason: str) -> None:
    found = crawl.take(1e9)
    assert found is not None and found.url == FEED
    crawl.refuse(found, reason)


@pytest.mark.parametrize("reason", ["robots/forbidden", UNREACHABLE])
def test_a_listing_that_is_refused_does_not_hide_a_new_url(tmp_path: Path, reason: str) -> None:
    """It left the frontier, but was counted among what waits to be read again: a new URL looked like that one."""
    one = with_feed(tmp_path, "one", empty_database().connection_pool.connection_kwargs)
    revisits = revisits_of(one)
    assert not revisits.has_new(), "one URL waits, which was fetched before"
    refuse_feed(one, reason)
    assert not revisits.has_new(), "nothing waits"
    one.frontier.put(CrawlUrl("http://a.example/new", 1.0))
    assert revisits.has_new()


def test_other_workers_hear_of_it_and_a_new_run_reads_all_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = empty_database().connection_pool.connection_kwargs
    one, other, told = with_feed(tmp_path, "one", where), worker(tmp_path, "other", where), list[Any]()
    revisits_of(other).learn(FetchEvent(Visit(FEED, 200, 5.0, kind="feed")))
    monkeypatch.setattr(one.peers, "publish", lambda part, url, message: told.append(message))
    refuse_feed(one, "robots/forbidden")
    listener = other.part(RevisitPart)
    assert listener is not None and len(revisits_of(other).rereads) == 1
    listener.hear(told[-1])
    assert len(revisits_of(other).rereads) == 0
    revisits_of(other).begin(2000.0)
    assert len(revisits_of(other).rereads) == 1
