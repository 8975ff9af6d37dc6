"""Disasters of several workers, which share the hosts of a crawl and communicate through Redis."""

from __future__ import annotations

import json
import shutil
import time

from benchmarks.chaos.disaster import Scene
from benchmarks.chaos.relay import Relay
from benchmarks.redis_server import RedisCluster, RedisServer
from crawlproject.frontier.redis.connection import connect
from crawlproject.frontier.redis.keys import CrawlKeys
from crawlproject.frontier.views.redis import RedisView

_OFF = 10.0  # seconds that a clock is wrong
_SHORT_LEASE = 4  # seconds: FRONTIER_REDIS_LEASE where a worker is to be given up


def workers(scene: Scene) -> None:
    """One of two or three workers is killed; sometimes it restarts at once, else the others take over its hosts."""
    scene.crawler.settings["FRONTIER_REDIS_LEASE"] = _SHORT_LEASE
    _begin(scene)
    if scene.crawler.reach(scene.some()):
        _kill_one(scene, comes_back=scene.random.random() < 0.5)
    _end(scene)


def join(scene: Scene) -> None:
    """Another worker joins one or two; sometimes an existing worker is killed meanwhile and restarts."""
    crawler = scene.crawler
    _begin(scene, scene.random.randint(1, 2))
    before = list(crawler.names)
    if crawler.reach(scene.some()):
        crawler.names.append(f"w{len(before)}")
        crawler.start(crawler.names[-1])
        if scene.random.random() < 0.5:
            time.sleep(scene.random.uniform(0.0, 3.0))
            _kill_one(scene, before)
    _end(scene)


def clock_off(scene: Scene) -> None:
    """The clock of one worker is wrong by ten seconds; sometimes a worker is killed and restarts."""
    crawler = scene.crawler
    crawler.shifts = {"w1": scene.random.choice((-_OFF, _OFF))}
    _begin(scene)
    if crawler.reach(scene.some()) and scene.random.random() < 0.5:
        _kill_one(scene)
    _end(scene)


def network(scene: Scene) -> None:
    """Between one worker and Redis nothing passes for some seconds, or the connections break."""
    cut = _relayed(scene)
    if scene.crawler.reach(scene.some()):
        is_silent, seconds = scene.random.random() < 0.5, scene.random.uniform(0.5, 4.0)
        scene.notes.append(f"{'silent' if is_silent else 'broken'} for {seconds:.1f} s")
        (cut.silence if is_silent else cut.tear)()
        time.sleep(seconds)
        (cut.speak if is_silent else cut.mend)()
    _end(scene)


def given_up(scene: Scene) -> None:
    """One worker cannot reach Redis for so long that the others take over its hosts; then it can again."""
    scene.crawler.settings["FRONTIER_REDIS_LEASE"] = _SHORT_LEASE
    cut = _relayed(scene)
    if scene.crawler.reach(scene.some()):
        cut.silence()
        for seconds in (0.0, _SHORT_LEASE, 2.0):
            time.sleep(seconds)
            scene.in_flight()
            _permit_untold(scene, "w1")  # it may fetch the URLs granted to it, but cannot report them
        cut.speak()
    _end(scene)


def drain(scene: Scene) -> None:
    """One worker is told to leave; sometimes another one is killed meanwhile and restarts."""
    crawler = scene.crawler
    assert scene.redis is not None
    _begin(scene)
    if crawler.reach(scene.some()):
        told = RedisView(connect(url=scene.redis.url), "chaos").drain("w1")
        scene.notes.append("w1 leaves" if told else "w1 has ended before")
        if scene.random.random() < 0.5:
            _kill_one(scene, [name for name in crawler.names if name != "w1"])
    _end(scene)


def disk_lost(scene: Scene) -> None:
    """One worker is killed, and its folder is lost with its disk. Sometimes a new worker replaces it."""
    crawler = scene.crawler
    crawler.settings["FRONTIER_REDIS_LEASE"] = _SHORT_LEASE
    _begin(scene)
    if crawler.reach(scene.some()):
        _kill_one(scene, ["w1"], comes_back=False)
        _lose_folder(scene, "w1")
        if scene.random.random() < 0.5:
            crawler.names.append("another")
            crawler.start("another")
    _end(scene)


def redis_kept(scene: Scene) -> None:
    """Redis is killed and restarts with all acknowledged data."""
    assert isinstance(scene.redis, RedisServer)
    _begin(scene, scene.random.randint(1, 2))
    _restart(scene, scene.redis)


def redis_lost(scene: Scene) -> None:
    """Redis has no file: it is killed and restarts empty."""
    redis_kept(scene)
    scene.is_damaged = True
    scene.in_flight()


def cluster(scene: Scene) -> None:
    """One node of three is killed and restarts; meanwhile the other nodes do not answer either."""
    assert isinstance(scene.redis, RedisCluster)
    _begin(scene, scene.random.randint(1, 2))
    _restart(scene, scene.random.choice(scene.redis.nodes))


def _begin(scene: Scene, number: int = 0) -> None:
    """Start ``number`` workers; by default, two or three."""
    crawler = scene.crawler
    crawler.names = [f"w{each}" for each in range(number or scene.random.randint(2, 3))]
    for name in crawler.names:
        crawler.start(name)


def _end(scene: Scene) -> None:
    """If all workers ended normally, the crawl is complete; some complete crawls are resumed all the same."""
    codes = scene.crawler.wait()
    scene.notes.append(f"ended with {codes}")
    scene.is_over = not any(codes) and scene.random.random() < 0.7


def _kill_one(scene: Scene, names: list[str] | None = None, *, comes_back: bool = True) -> None:
    victim = scene.random.choice(names or scene.crawler.names)
    scene.crawler.kill(victim)
    scene.in_flight()
    scene.notes.append(f"{victim} killed{' and started again' if comes_back else ''}")
    if comes_back:
        scene.crawler.start(victim)
    else:
        _permit_untold(scene, victim)


def _permit_untold(scene: Scene, name: str) -> None:
    """Permit the next owner of a worker's hosts to fetch URLs again whose fetch the worker could not report."""
    assert scene.redis is not None
    told = int(connect(url=scene.redis.url).hget(CrawlKeys("chaos").published, name) or 0)
    history = scene.crawler.folder / "crawl" / "workers" / name / "history.jsonl"
    lines = history.read_bytes().split(b"\n") if history.exists() else []
    for line in lines[told:-1]:
        scene.moments[-1][1].discard(json.loads(line)["url"])


def _lose_folder(scene: Scene, name: str) -> None:
    crawler = scene.crawler
    before = scene.known()
    crawler.names.remove(name)
    del crawler.running[name]
    scene.gone = before - scene.known()
    shutil.rmtree(crawler.folder / "crawl" / "workers" / name)


def _relayed(scene: Scene) -> Relay:
    """Start two or three workers; w1 reaches Redis through the returned relay."""
    assert isinstance(scene.redis, RedisServer)
    scene.relay = Relay(scene.redis.port)
    scene.crawler.own["w1"] = {"REDIS_URL": scene.relay.url}
    _begin(scene)
    return scene.relay


def _restart(scene: Scene, server: RedisServer) -> None:
    if scene.crawler.reach(scene.some()):
        server.kill()
        time.sleep(scene.random.uniform(0.0, 2.0))
        server.start()
    _end(scene)
