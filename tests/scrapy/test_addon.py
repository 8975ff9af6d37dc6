"""The add-on in a stock project: the same items and requests as with Scrapy's own scheduler, polite, and safe when killed."""

from __future__ import annotations

import json
import re
import signal
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from support.redisserver import PROGRAM, redis_server
from support.shop import HOSTS, PRODUCTS, Seen, open_shop
from support.stockproject import crawl, read_items, start_crawl, start_project

from crawlproject.frontier.views.open import read_frontier

pytestmark = pytest.mark.slow

STOCK = {"ADDONS": "{}"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return start_project(tmp_path_factory.mktemp("theirs"))


def text(item: dict[str, object]) -> str:
    return str(sorted(item.items(), key=str))


def asked(seen: list[Seen]) -> Counter[tuple[str, ...]]:
    return Counter(one.asked for one in seen)


# ------------------------------------------------------------ the same crawl


@pytest.mark.parametrize("spider", ["orders", "catalogue", "site"])
def test_the_same_items_and_requests_as_with_scrapys_scheduler(project: Path, tmp_path: Path, spider: str) -> None:
    with open_shop() as stock_shop:
        stock = crawl(project, spider, stock_shop.port, tmp_path / "stock", **STOCK)
    with open_shop() as shop:
        ours = crawl(project, spider, shop.port, tmp_path / "ours", JOBDIR=tmp_path / "job")
    for done in (stock, ours):
        assert done.returncode == 0, done.stderr
    assert "RequestScheduler" not in stock.stderr and (tmp_path / "job" / "frontier").exists()
    items, theirs = read_items(tmp_path / "ours"), read_items(tmp_path / "stock")
    assert Counter(map(text, items)) == Counter(map(text, theirs))
    assert len(items) > 10
    assert asked(shop.seen) == asked(stock_shop.seen), "method, URL, body, cookies and the header of their middleware"
    for count in (
        "item_scraped_count",
        "item_dropped_count",
        "dupefilter/filtered",
        "request_depth_max",
        "log_count/ERROR",
    ):
        assert stat(ours.stderr, count) == stat(stock.stderr, count), count
    assert stat(ours.stderr, "scheduler/unserializable") is None


def stat(log: str, name: str) -> str | None:
    found = re.search(rf"'{name}': (\S+?)[,}}]", log)
    return found and found[1]


@pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")
def test_two_workers_with_redis_share_the_work(project: Path, tmp_path: Path) -> None:
    with open_shop() as stock_shop:
        crawl(project, "catalogue", stock_shop.port, tmp_path / "stock", **STOCK)
    with redis_server(tmp_path / "redis") as server, open_shop(seconds=0.1) as shop:
        common = {"FRONTIER": "redis", "REDIS_URL": server.url}
        with (
            start_crawl(project, "catalogue", shop.port, tmp_path / "one", CRAWL_WORKER="one", **common) as one,
            start_crawl(project, "catalogue", shop.port, tmp_path / "two", CRAWL_WORKER="two", **common) as two,
        ):
            assert (one.wait(60), two.wait(60)) == (0, 0)
    items = [read_items(tmp_path / name) for name in ("one", "two")]
    assert min(map(len, items)) > 5, "both worked"
    assert Counter(map(text, [*items[0], *items[1]])) == Counter(map(text, read_items(tmp_path / "stock")))
    assert pauses(shop.seen) >= 0.02, "a host is left alone by both"


# ------------------------------------------------------------ politeness


def pauses(seen: list[Seen]) -> float:
    """The shortest time from the end of a request to the start of the next one to the same host, without robots.txt."""
    found = []
    for host in HOSTS:
        visits = [one for one in seen if one.host == host and not one.url.endswith("/robots.txt")]
        found += [b.start - a.end for a, b in pairwise(sorted(visits, key=lambda one: one.start))]
    return min(found)


def test_one_request_a_host_and_a_rest_after_each(project: Path, tmp_path: Path) -> None:
    """The rest is ``DOWNLOAD_DELAY``, and for one agent the delay that robots.txt asks for."""
    robots = "Crawl-delay: 0.2\n"
    with open_shop(seconds=0.01, robots=robots) as shop:
        limits = {"CONCURRENT_REQUESTS_PER_DOMAIN": 8, "CLOSESPIDER_ITEMCOUNT": 8}
        done = crawl(project, "catalogue", shop.port, tmp_path / "items", **limits)
    assert done.returncode == 0, done.stderr
    for host in HOSTS:
        visits = sorted((one for one in shop.seen if one.host == host), key=lambda one: one.start)
        assert len(visits) > 3
        rests = [later.start - sooner.end for sooner, later in pairwise(visits)]
        assert min(rests) >= 0.2, f"{host} was not left alone"


def test_download_delay_is_the_rest_without_crawl_delay(project: Path, tmp_path: Path) -> None:
    with open_shop() as shop:
        done = crawl(project, "site", shop.port, tmp_path / "items", DOWNLOAD_DELAY=0.1, ROBOTSTXT_OBEY=False)
    assert done.returncode == 0, done.stderr
    visits = sorted((one for one in shop.seen if one.host == HOSTS[1]), key=lambda one: one.start)
    assert len(visits) == 1 + PRODUCTS
    assert min(later.start - sooner.end for sooner, later in pairwise(visits)) >= 0.1


# ------------------------------------------------------------ a full disk


@pytest.mark.parametrize("reactor", ["asyncioreactor.AsyncioSelectorReactor", "selectreactor.SelectReactor"])
def test_a_full_disk_stops_the_crawl_and_it_is_resumed_later(project: Path, tmp_path: Path, reactor: str) -> None:
    chosen = {"JOBDIR": tmp_path / "job", "TWISTED_REACTOR": f"twisted.internet.{reactor}", "ITEM_PIPELINES": "{}"}
    feed = tmp_path / "items.jsonl"
    chosen["FEEDS"] = json.dumps({str(feed): {"format": "jsonlines", "encoding": "utf-8"}})
    chosen["FRONTIER"] = "memory"  # the one on disk does not start with so little space
    with open_shop() as shop:
        full = crawl(project, "catalogue", shop.port, tmp_path / "none", limit=9_000, **chosen)
        assert "The crawl stops; free some space" in full.stderr
        assert stat(full.stderr, "finish_reason") == "'storage_failed'", full.stderr
        done = crawl(project, "catalogue", shop.port, tmp_path / "none", **chosen)
    assert done.returncode == 0 and stat(done.stderr, "finish_reason") == "'finished'", done.stderr
    assert {item["title"] for item in read_items(feed)} >= {f"{host} {n}" for host in HOSTS for n in range(PRODUCTS)}


# ------------------------------------------------------------ kill -9


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_killed_crawl_loses_nothing_and_repeats_no_more_than_was_in_flight(
    project: Path, tmp_path: Path, kind: str
) -> None:
    items, job, feed = tmp_path / "items", tmp_path / "job", tmp_path / "feed.jsonl"
    settings = {"JOBDIR": job, "FRONTIER": kind, "FEEDS": json.dumps({str(feed): {"format": "jsonlines"}})}
    open_leases = 0
    with open_shop(seconds=0.01) as shop:
        for number in range(1, 4):
            with start_crawl(project, "catalogue", shop.port, items, **settings) as process:
                wait_for_items(items, 7 * number)
                process.send_signal(signal.SIGKILL)
            frontier = read_frontier(job / "frontier")
            assert frontier is not None
            open_leases += frontier.counts().leased
        done = crawl(project, "catalogue", shop.port, items, **settings)
        assert done.returncode == 0 and not stat(done.stderr, "spider_exceptions/count"), done.stderr
    with open_shop() as shop_once:
        crawl(project, "catalogue", shop_once.port, tmp_path / "once", **STOCK)
    found, wanted = Counter(map(text, read_items(items))), Counter(map(text, read_items(tmp_path / "once")))
    assert set(found) == set(wanted), "nothing is lost, and nothing comes out that should not"
    fed = Counter(map(text, read_items(feed)))
    assert set(fed) == set(wanted) and fed.total() - len(fed) <= open_leases, "Scrapy's own feed, too"
    assert 0 < open_leases <= 3 * 16
    assert found.total() - len(found) <= open_leases
    fetches = Counter(one.asked for one in shop.seen if "/flaky" not in one.url and "robots.txt" not in one.url)
    assert fetches.total() - len(fetches) <= open_leases


def wait_for_items(path: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(read_items(path)) < count:
        assert time.monotonic() < deadline, f"fewer than {count} items"
        time.sleep(0.01)
