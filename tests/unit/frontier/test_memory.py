"""Properties outside the contract: cost, memory, and wrong parameters."""

from __future__ import annotations

import gc
import tracemalloc
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier import host_queue as lazyheap
from crawlproject.frontier.host_queue import HostQueue, queue_of
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl
from crawlproject.urls.hosts import host_of


def frontier_of(**options: Any) -> MemoryFrontier:
    defaults: dict[str, Any] = {"max_urls": 0, "politeness": Politeness(1.0, 0.0), "random": Random(1)}
    return MemoryFrontier(**{**defaults, **options})


def heap_steps_of_50_takes(monkeypatch: pytest.MonkeyPatch, cooling: int) -> int:
    """Heap operations of 50 takes from 100 poor hosts, while the best URLs are all on ``cooling`` resting hosts."""
    frontier = frontier_of(batch_size=10)
    for host in range(cooling):
        frontier.put_many(CrawlUrl(f"http://good{host}.test/{page}", 1.0) for page in range(2))
        frontier.crawl_delay(f"good{host}.test", 1e6)
    for _ in range(cooling):
        taken = frontier.take(0.0)
        assert taken is not None
        frontier.done(taken.url, 0.0, 0.0)
    frontier.put_many(CrawlUrl(f"http://poor{host}.test/{page}", 0.1) for host in range(100) for page in range(5))
    steps = 0

    def counted(function: Any) -> Any:
        def step(*arguments: Any) -> Any:
            nonlocal steps
            steps += 1
            return function(*arguments)

        return step

    with monkeypatch.context() as patch:
        for name in ("heappush", "heappop"):
            patch.setattr(lazyheap, name, counted(getattr(lazyheap, name)))
        patch.setattr(lazyheap.LazyHeap, "first", counted(lazyheap.LazyHeap.first))
        for _ in range(50):
            taken = frontier.take(1.0)
            assert taken is not None
            assert "poor" in taken.url
            assert frontier.next_due(1.0) is not None
            frontier.done(taken.url, 1.0, 0.0)
    return steps


def test_best_urls_behind_cooling_hosts_cost_nothing(monkeypatch):
    few = heap_steps_of_50_takes(monkeypatch, 20)
    assert heap_steps_of_50_takes(monkeypatch, 2000) <= few + 50
    assert few < 50 * 60


def grown(work: Any) -> int:
    """Bytes that stay allocated after ``work()``."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_new_scores_do_not_fill_the_memory():
    frontier = frontier_of(max_urls=200)
    urls = [f"http://h{number % 20}.test/{number}" for number in range(200)]
    frontier.put_many(CrawlUrl(url, 0.5) for url in urls)
    frontier.put(CrawlUrl("http://h0.test/refused", 0.1))  # builds the order of the worst URLs
    frontier.best()
    random = Random(2)

    def rescore() -> None:
        for _ in range(20_000):
            frontier.rescore(random.choice(urls), random.random())

    assert grown(rescore) < 500_000, "20,000 stale entries would be millions of bytes"


def test_hosts_without_urls_leave_the_memory():
    frontier = frontier_of(batch_size=5)
    before = sum(isinstance(thing, HostQueue) for thing in gc.get_objects())
    for number in range(1000):
        frontier.put(CrawlUrl(f"http://h{number}.test/", 0.0))
        taken = frontier.take(float(number))
        assert taken is not None
        frontier.done(taken.url, float(number), 0.0)
    gc.collect()
    assert sum(isinstance(thing, HostQueue) for thing in gc.get_objects()) - before < 5


def test_a_waiting_url_takes_less_than_half_a_kilobyte():
    """Without its record. On CPython 3.11, 100,000 URLs cost 200 bytes each on 2,000 hosts, 318 on 20,000."""
    frontiers = frontier_of(), frontier_of()
    records = [CrawlUrl(f"http://h{number % 2000}.test/{number}", number / 20_000) for number in range(20_000)]
    found = [grown(partial(frontier.put_many, records)) for frontier in frontiers]
    assert min(found) / len(records) < 500, "other threads of the process allocate at times, too"


@pytest.mark.parametrize(("name", "wrong"), [("batch_size", 0), ("commit", 0), ("max_urls", -1)])
def test_a_wrong_parameter_is_named(name, wrong):
    with pytest.raises(ValueError, match=name):
        frontier_of(**{name: wrong})


@given(
    scheme=st.sampled_from(["http", "https"]),
    host=st.sampled_from(["a.test", "www.a.test", "127.0.0.1", "[::1]"]),
    port=st.sampled_from(["", ":81"]),
    path=st.sampled_from(["", "a", "a:b", "?q=http://b.test/", "a#1"]),
)
def test_a_canonical_url_queues_under_its_host(scheme, host, port, path):
    url = f"{scheme}://{host}{port}/{path}"
    assert queue_of(url) == host_of(url) == host


@pytest.mark.parametrize(
    ("key", "queue"),
    [
        ("http://a.test", "a.test"),
        ("http://a.test:8080", "a.test"),
        ("ftp://files.test/a", "ftp:files.test"),
        ("data:,x", "data"),
        ("nonsense", "nonsense"),
        ("http://[::/", "["),
        ("", ""),
    ],
)
def test_anything_else_queues_somewhere(key, queue):
    assert queue_of(key) == queue
    frontier = frontier_of()
    frontier.put(CrawlUrl(key, 0.0))
    taken = frontier.take(0.0)
    assert taken is not None
    frontier.done(taken.url, 0.0, 0.0)
    assert len(frontier) == 0


@given(st.text())
def test_no_key_is_too_strange(key):
    assert isinstance(queue_of(key), str)
