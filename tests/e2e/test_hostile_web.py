"""Input from the web is never trusted: a crawl of 200 malformed pages ends, counts them, and uses bounded memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.crawling import crawl, history, topic_file
from support.hostile import hostile_proxy

MEMORY = 900  # MB of the whole process at its peak; Python, Scrapy and lxml alone need about 120


@pytest.mark.slow
def test_200_malformed_pages_crawl_to_the_end(tmp_path: Path) -> None:
    topic = topic_file(tmp_path, "http://hostile.example/")
    settings = {
        "CRAWL_MAX_PAGES": 0,
        "TRAP_MAX_DEPTH": 1,
        "DOWNLOAD_TIMEOUT": 5,
        "RETRY_TIMES": 1,
        "CRAWL_RETRY_DELAY": 0.2,
        "CRAWL_BLOCKED_REST": 0.001,  # doubled with each bomb
    }
    with hostile_proxy() as port:
        done = crawl(topic, tmp_path / "crawl", port=port, MEMUSAGE_ENABLED=True, **settings)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    lines = history(tmp_path / "crawl")
    assert len(lines) == 201, "every page is in the history, whatever it was"
    assert len({line["url"] for line in lines}) == 201
    assert sum(bool(line["error"]) for line in lines) > 20
    stats = json.loads((tmp_path / "crawl" / "crawl.json").read_text())["stats"]
    assert stats["memusage/max"] / 2**20 < MEMORY
