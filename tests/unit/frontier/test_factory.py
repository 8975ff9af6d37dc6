"""The kind of frontier with which a crawl starts or resumes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawlproject.configuration import read_options
from crawlproject.errors import BadSetting
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.factory import open_frontier
from crawlproject.frontier.journal import JournaledFrontier
from crawlproject.records import CrawlUrl


def opened(folder: Path, **settings: Any) -> Frontier:
    return open_frontier(read_options(settings), folder, clock=lambda: 100.0)


def test_urls_wait_on_disk_unless_somebody_wants_them_in_memory(tmp_path: Path) -> None:
    for kind, name, settings in ((DiskFrontier, "d", {}), (JournaledFrontier, "m", {"FRONTIER": "memory"})):
        frontier = opened(tmp_path / name, **settings)
        assert isinstance(frontier, kind)
        frontier.close()


def test_a_crawl_that_began_in_memory_goes_on_there(tmp_path: Path) -> None:
    began = opened(tmp_path, FRONTIER="memory")
    began.put(CrawlUrl("http://a.example/", 1.0))
    began.close()
    frontier = opened(tmp_path)
    assert isinstance(frontier, JournaledFrontier) and [url.url for url in frontier.waiting()] == ["http://a.example/"]
    frontier.close()


def test_a_crawl_that_began_on_disk_does_not_go_on_in_memory(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with pytest.raises(BadSetting, match="begun with 'disk'"):
        opened(tmp_path, FRONTIER="memory")
