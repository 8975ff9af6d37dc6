"""A crawl killed by ``kill -9`` at random moments and resumed: the pages of an undisturbed crawl, each counted once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from support.crawling import QUICK, crawl, history, kill_after_growth, start, start_anew, stored, topic_file
from support.webs import host_farm

from crawlproject.http.virtual_web_server import AccessLog, read_log, running

KILLS = 4
CONCURRENT = 8


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_a_killed_crawl_loses_nothing_and_counts_nothing_twice(tmp_path: Path, frontier: str) -> None:
    random = Random(4)
    topic = topic_file(tmp_path, "http://portal.example/")
    web = host_farm(25, 12, seconds=0.02)
    folder = tmp_path / "crawl"
    settings = {**QUICK, "CRAWL_DIR": folder, "CONCURRENT_REQUESTS": CONCURRENT, "FRONTIER": frontier}
    with AccessLog(tmp_path / "log") as log, running(web, latency=True, log=log) as server:
        for number in range(KILLS):
            begin = start if number % 2 else start_anew
            kill_after_growth(folder, random.randrange(1, 60), settings, server.port, topic, begin)
        last = {"CONCURRENT_REQUESTS": CONCURRENT, "FRONTIER": frontier}
        done = crawl(topic, folder, port=server.port, ordering="adaptive", **last)
    assert done.returncode == 0, done.stderr
    assert stored(folder) == {url for url in web.urls() if not url.endswith("robots.txt")}
    assert len(history(folder)) == len({line["url"] for line in history(folder)})
    items = (folder / "items.jsonl").read_text().splitlines()
    assert len(items) == len(stored(folder))
    fetched = Counter(access["url"] for access in read_log(tmp_path / "log") if "robots.txt" not in access["url"])
    assert sum(fetched.values()) - len(fetched) <= KILLS * CONCURRENT, "more was fetched again than was in flight"
