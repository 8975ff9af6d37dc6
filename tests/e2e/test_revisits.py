"""A web that changes during the crawl, over real sockets: every change is found, reported once, and survives ``kill -9``."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.changingweb import DELAY, REVISITING, SPAN, ChangingWeb, untold
from support.crawling import PATIENCE, QUICK, kill_after_growth, start, topic_file
from support.webs import are_kept, by_host, gaps

from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.storage.read import read_visits

SETTINGS: dict[str, Any] = {**QUICK, **REVISITING}


@pytest.mark.parametrize(("frontier", "kills"), [("memory", 0), ("disk", 10)])
def test_every_change_of_a_web_is_found(tmp_path: Path, frontier: str, kills: int) -> None:
    web = ChangingWeb(time.time, start=time.time(), span=SPAN)
    topic, folder = topic_file(tmp_path, *web.seeds), tmp_path / "crawl"
    settings = {**SETTINGS, "CRAWL_DIR": folder, "FRONTIER": frontier, "ORDERING": "dom"}
    random = Random(8)
    arguments = ("crawl", "topical", "-a", f"topic={topic}")
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        for _ in range(kills):
            kill_after_growth(folder, random.randrange(1, 200), settings, server.port, topic)
        with start(*arguments, port=server.port, **settings) as process:
            try:
                until = time.time() + PATIENCE
                while time.time() < web.start + SPAN or (untold(web, folder, time.time()) and time.time() < until):
                    assert process.poll() is None, process.said()
                    time.sleep(1.0)
            finally:
                process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert untold(web, folder, web.start + SPAN) == {}
    visits = list(read_visits(folder))
    numbers = Counter(visit.url for visit in visits)
    assert Counter((visit.url, visit.number) for visit in visits).most_common(1)[0][1] == 1, "no visit has two lines"
    assert all(max(v.number for v in visits if v.url == url) == count for url, count in numbers.most_common(5))
    requests = [access for access in read_log(tmp_path / "log") if not access["url"].endswith("/robots.txt")]
    assert sum(access["status"] == 304 for access in requests) > 20, "validators are used"
    if not kills:
        assert are_kept((gap for seen in by_host(requests).values() for gap in gaps(seen)), DELAY)
