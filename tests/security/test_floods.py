"""Servers that try to keep the crawler busy, next to honest hosts: a test passes if the honest hosts were crawled."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.crawling import QUICK, ROOT, command, crawl, environment, history, refusals, stored, topic_file

from benchmarks.flood_servers import CHAIN_HOSTS, FLOODS, OF_ONE_HOST, FloodServer, flood_servers
from benchmarks.floods import SETTINGS

HONEST = 10  # hosts
PAGES = 400
PATIENCE = 60.0  # seconds: an idle machine needs five
EXPECTED = {
    "interim": "flood/interim",
    "headers": "flood/head",
    "long_header": "flood/head",
    "gzip": "safety/decompression",
    "brotli": "safety/decompression",
    "zstd": "safety/decompression",
    "chunks": "flood/overhead",
    "trailers": "flood/overhead",
    "unasked": "flood/overhead",
    "drip": "flood/slow",
    "head_drip": "flood/slow",
    "robots_interim": "flood/interim",
    "robots_drip": "flood/slow",
}
ALLOWED = {name: SETTINGS[name] for name in ("CRAWL_ALLOWED_ADDRESSES", "CRAWL_ALLOWED_PORTS")}


@contextmanager
def served() -> Iterator[FloodServer]:
    """Run the servers in a thread, so that tests can inspect the requests that they received."""
    server, loop, ready = FloodServer(), asyncio.new_event_loop(), threading.Event()

    async def start() -> None:
        await server.start()
        ready.set()

    def run() -> None:
        loop.create_task(start())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


@pytest.fixture(scope="module")
def flooded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a crawl of honest hosts and one host for each kind of flood from a single host."""
    place = tmp_path_factory.mktemp("floods")
    with flood_servers() as ports:
        topic = topic_file(place, *ports.seeds(OF_ONE_HOST, HONEST))
        chosen = {
            **SETTINGS,
            "CRAWL_MAX_PAGES": PAGES,
            "CRAWL_MAX_SECONDS": PATIENCE,
            "DOWNLOAD_TIMEOUT": 4,
            "CRAWL_RETRY_DELAY": 1,
        }
        done = crawl(topic, place / "crawl", ordering="breadth_first", **chosen)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return place / "crawl"


def errors_of(folder: Path, kind: str) -> Counter[str]:
    host = f"//127.0.2.{FLOODS.index(kind) + 1}:"
    return Counter(line["error"] for line in history(folder) if host in line["url"] and line["error"])


def test_honest_hosts_are_served_beside_all_floods_at_once(flooded: Path) -> None:
    pages = Counter(url.split("/")[2] for url in stored(flooded) if "//127.0.1." in url)
    assert len(pages) == HONEST and min(pages.values()) >= 5, pages
    assert sum(pages.values()) >= PAGES // 4, pages


def test_a_flood_is_in_the_history_with_its_reason_and_its_host_is_left_alone(flooded: Path) -> None:
    found = {kind: errors_of(flooded, kind) for kind in EXPECTED}
    assert found == {kind: {error: 1} for kind, error in EXPECTED.items()}, "once: it rests for half a minute"


def test_floods_are_counted(flooded: Path) -> None:
    stats = json.loads((flooded / "crawl.json").read_text())["stats"]
    counted = {name.removesuffix("/refused"): count for name, count in stats.items() if name.startswith("flood/")}
    assert counted.keys() == {reason for reason in EXPECTED.values() if reason.startswith("flood/")}
    assert all(refusals(flooded)[reason] for reason in counted)


def test_a_robots_txt_that_takes_too_long_to_match_forbids_all(flooded: Path) -> None:
    host = f"//127.0.2.{FLOODS.index('robots_rules') + 1}:"
    assert not [line for line in history(flooded) if host in line["url"]]
    assert refusals(flooded)["robots/wildcards"] >= 1


def test_a_chain_of_robots_txt_is_not_followed_again_for_each_of_its_hosts(tmp_path: Path) -> None:
    with served() as server:
        topic = topic_file(tmp_path, f"http://127.0.2.{FLOODS.index('robots_chain') + 1}:{server.port}/")
        chosen = {**SETTINGS, "CRAWL_MAX_PAGES": 100, "CONCURRENT_REQUESTS": 1}
        done = crawl(topic, tmp_path / "crawl", ordering="breadth_first", **chosen)
    assert done.returncode == 0, done.stderr
    fetched = sum(server.served.values())
    pages = len(stored(tmp_path / "crawl"))
    assert pages == 100
    assert fetched <= 2 * pages + CHAIN_HOSTS // 10, "one robots.txt and one page a host, and the first chain"


def swarm(folder: Path, kinds: tuple[str, ...], size: int, pages: int, **settings: object) -> list[dict[str, Any]]:
    """The history of a crawl of five honest hosts and a swarm."""
    with flood_servers() as ports:
        topic = topic_file(folder, *ports.seeds(kinds, 5, size))
        chosen = {
            **SETTINGS,
            "CRAWL_MAX_PAGES": pages,
            "CRAWL_MAX_SECONDS": PATIENCE,
            "CRAWL_RETRY_DELAY": 1,
            **settings,
        }
        done = crawl(topic, folder / "crawl", ordering="breadth_first", **chosen)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return history(folder / "crawl")


def is_honest(line: dict[str, Any]) -> bool:
    return "//127.0.1." in line["url"] and bool(line["md5"])


def test_honest_hosts_are_served_beside_a_swarm_of_all_kinds(tmp_path: Path) -> None:
    kinds = tuple(EXPECTED)
    lines = swarm(tmp_path, kinds, 2 * len(kinds), 300, DOWNLOAD_TIMEOUT=4)
    pages = Counter(line["url"].split("/")[2] for line in lines if is_honest(line))
    assert len(pages) == 5 and min(pages.values()) >= 20, pages
    errors = Counter(line["error"] for line in lines if line["error"])
    assert set(errors) <= set(EXPECTED.values()), errors
    for host, floods in Counter(line["url"].split("/")[2] for line in lines if line["error"]).items():
        assert floods == 1, f"{host} rests for half a minute"


def test_a_swarm_that_drips_takes_no_place_for_long(tmp_path: Path) -> None:
    """More hosts than connections send a byte now and then: other hosts proceed before the first of these has ended."""
    lines = swarm(tmp_path, ("drip",), 24, 400, CONCURRENT_REQUESTS=8, DOWNLOAD_TIMEOUT=12)
    ends = [number for number, line in enumerate(lines) if line["error"] == "flood/slow"]
    before = sum(map(is_honest, lines[: ends[0]])) if ends else len(lines)
    assert before >= 100, before


def test_a_thousand_hosts_are_crawled_with_few_open_files(tmp_path: Path) -> None:
    """Idle connections make room for new ones, new ones wait for others, and the crawl can always open its files."""
    hosts, files = 300, 160
    with served() as server:
        seeds = [f"http://127.0.1.{n % 250 + 1}:{server.port}/{n}" for n in range(250)]
        seeds += [f"http://127.0.3.{n + 1}:{server.port}/1" for n in range(hosts - 250)]
        settings = {
            **QUICK,
            **ALLOWED,
            "CRAWL_DIR": tmp_path / "crawl",
            "CONCURRENT_REQUESTS": 200,
            "CRAWL_MAX_PAGES": hosts,
        }
        arguments = command(
            "crawl",
            "topical",
            "-a",
            f"topic={topic_file(tmp_path, *seeds)}",
            "-a",
            "ordering=breadth_first",
            **settings,
        )
        done = subprocess.run(
            ["prlimit", f"--nofile={files}:{files}", *arguments],
            cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(stored(tmp_path / "crawl")) >= hosts
    assert not [line for line in history(tmp_path / "crawl") if line["error"]]


def test_the_soft_limit_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from crawlproject.http.connector import raise_limit

    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1024, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append(limits))
    assert raise_limit() == 4096
    assert asked == [(4096, 4096)]
