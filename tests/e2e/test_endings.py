"""How a crawl ends: reason, exit code, and the marker that others wait for."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from support.crawling import QUICK, crawl, history, start, stored, topic_file
from support.webs import host_farm

from crawlproject.http.virtual_web_server import running


def marker(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "finished.json").read_text())


def test_an_interrupted_crawl_exits_with_3_and_has_no_marker_until_it_is_complete(tmp_path: Path) -> None:
    topic, folder = topic_file(tmp_path, "http://portal.example/"), tmp_path / "crawl"
    web = host_farm(20, 10, seconds=0.02)
    with running(web, latency=True) as server:
        arguments = ("crawl", "topical", "-a", f"topic={topic}")
        with start(*arguments, port=server.port, **QUICK, CRAWL_DIR=folder, CONCURRENT_REQUESTS=4) as process:
            while not (folder / "history.jsonl").exists() or len(history(folder)) < 10:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 3
        assert json.loads((folder / "crawl.json").read_text())["reason"] == "shutdown"
        assert (folder / "report.html").exists() and not (folder / "finished.json").exists()
        done = crawl(topic, folder, port=server.port, ordering="adaptive")
        assert done.returncode == 0, done.stderr
    found = marker(folder)
    assert (found["reason"], found["waiting"]) == ("finished", 0)
    assert found["pages"] == len(stored(folder)) and found["fetches"] == len(history(folder))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"CRAWL_MAX_PAGES": 30}, "page budget"),
        ({"CRAWL_MAX_SECONDS": 1.5, "POLITENESS_MIN_DELAY": 0.3}, "time budget"),
        ({"CRAWL_MIN_HARVEST": 0.9, "CRAWL_HARVEST_WINDOW": 50}, "saturated"),
    ],
)
def test_a_crawl_that_has_enough_says_why(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    topic, folder = topic_file(tmp_path, "http://portal.example/", keywords="xylophone"), tmp_path / "crawl"
    with running(host_farm(20, 20)) as server:
        done = crawl(topic, folder, port=server.port, CONCURRENT_REQUESTS=1, **settings)
    assert done.returncode == 0, done.stderr
    found = marker(folder)
    assert found["reason"] == json.loads((folder / "crawl.json").read_text())["reason"] == reason
    assert 0 < found["pages"] < 400 and found["waiting"] > 0


def test_wrong_input_exits_with_2_and_leaves_a_finished_crawl_finished(tmp_path: Path) -> None:
    topic, folder = topic_file(tmp_path, "http://portal.example/"), tmp_path / "crawl"
    with running(host_farm(2, 2)) as server:
        assert crawl(topic, folder, port=server.port).returncode == 0
        before = marker(folder)
        assert crawl(topic, folder, port=server.port, CRAWL_MIN_HARVEST=2).returncode == 2
    assert marker(folder) == before
