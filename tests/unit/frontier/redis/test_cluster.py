"""The frontier in a Redis Cluster of three nodes: no step may touch keys of two of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

import pytest
import redis
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.script import FrontierRules
from support.eventloop import Loop, crawl
from support.redisserver import PROGRAM, RedisServer

from crawlproject.errors import BadSetting
from crawlproject.frontier.redis.connection import connect
from crawlproject.frontier.redis.joining import join
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.frontier.views.redis import RedisView
from crawlproject.records import CrawlUrl

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")
SLOTS, KEY_SLOTS = 12, 16384


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RedisServer]]:
    made = [RedisServer(tmp_path_factory.mktemp("node"), "--cluster-enabled", "yes") for _ in range(3)]
    try:
        for node in made:
            node.start()
        clients = [redis.Redis(port=node.port) for node in made]
        for number, client in enumerate(clients):
            first, end = (KEY_SLOTS * part // 3 for part in (number, number + 1))
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", made[0].port)
        limit = time.monotonic() + 60
        while not all(client.cluster("info")["cluster_state"] == "ok" for client in clients):
            assert time.monotonic() < limit, "the nodes did not find each other"
            time.sleep(0.05)
        yield made
    finally:
        for node in made:
            node.kill()


def urls(number: int) -> list[CrawlUrl]:
    return [CrawlUrl(f"http://h{page % 60}.test/{page}", float(page % 7)) for page in range(number)]


def test_every_operation_stays_on_one_node(nodes: list[RedisServer]) -> None:
    server = connect(url=nodes[1].url, slots=SLOTS)
    rules = FrontierRules(batch_size=10, commit=4, max_urls=40, min_delay=0.0, factor=0.0)
    frontier = RedisFrontier(server, "strict", "w", rules, now=0.0, random=Random(1), slots=SLOTS)
    assert frontier.put_many(urls(400)) > 300
    assert all(redis.Redis(port=node.port).dbsize() for node in nodes)
    taken = frontier.take_many(0.0, 5)
    frontier.release(taken[0].url, 0.0, 0.1, not_before=5.0, picked=False)
    frontier.drop(taken[1].url)
    frontier.done(taken[2].url, 0.0, 0.1)
    assert frontier.rescore(next(frontier.waiting()).url, 99.0)
    assert frontier.best() == 99.0
    frontier.crawl_delay("patient.test", 3.0)
    view = RedisView(server, "strict")
    frontier.block_host("h1.test", 7.0)
    frontier.block_host("h2.test", 7.0)
    frontier.block_host("h2.test", 0.0)
    assert view.blocks() == {"h1.test": 7.0}
    assert (view.counts().leased, view.counts().waiting) == (2, len(frontier))
    assert view.workers() == []
    frontier.close()
    RedisView(connect(url=nodes[2].url, slots=None), "strict").clear()
    assert not [key for node in nodes for key in redis.Redis(port=node.port).keys("*:crawl:strict:*")]


def test_two_workers_crawl_all_of_it(nodes: list[RedisServer]) -> None:
    rules, loops, workers = (
        FrontierRules(batch_size=10, min_delay=0.0, factor=0.0),
        [Loop(), Loop()],
        list[RedisWorker](),
    )
    for number, loop in enumerate(loops):
        server = connect(url=nodes[number].url, slots=SLOTS)
        joined = join(server, "live", f"w{number}", rules, clock=time.time, random=Random(number), slots=SLOTS)
        workers.append(loop.start(joined, 5))
    workers[0].put_many(urls(200))
    held = list[CrawlUrl]()
    loops[1].run_until(lambda: held.extend(filter(None, [workers[1].take(time.time())])) or held)
    workers[1].done(held[0].url, time.time(), 0.0)
    fetched = crawl(workers[1], loops[1]) + crawl(workers[0], loops[0])
    assert sorted([held[0].url, *fetched]) == sorted(url.url for url in urls(200))
    assert workers[0].pending() is workers[1].pending() is False
    for worker in workers:
        worker.close()


def test_a_cluster_needs_more_than_one_slot(nodes: list[RedisServer]) -> None:
    with pytest.raises(BadSetting, match="at least 2 slots"):
        connect(url=nodes[0].url, slots=1)
