"""The messages to agents when a tool fails, and the pages that a failure costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.items import a_crawl, an_item

pytest.importorskip("mcp")

from mcp.server.mcpserver.exceptions import ToolError

from crawlproject.errors import StorageFailed
from crawlproject.library import agent_server
from crawlproject.library.stored_crawl import StoredCrawl
from crawlproject.records import Topic
from crawlproject.storage.manifest import Manifest
from crawlproject.storage.read import read_info


def test_pages_of_a_crawl_that_failed_are_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = StoredCrawl(a_crawl(tmp_path / "crawl", an_item(0, "coral reef")))
    pages = 1

    def fails(*_: object, **settings: Any) -> None:
        nonlocal pages
        pages = settings["CRAWL_MAX_PAGES"]
        raise StorageFailed("the disk is full")

    monkeypatch.setattr(agent_server, "crawl", fails)
    monkeypatch.setattr(agent_server, "_pages", lambda _: pages)
    crawl = agent_server._crawling(stored, 10, {})
    for _ in range(2):
        with pytest.raises(ToolError, match="the disk is full"):
            crawl(6)
    with pytest.raises(ToolError, match="0 pages are left"):
        crawl(6)
    assert pages == 11


def test_the_limits_of_an_agent_are_not_those_of_later_crawls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = StoredCrawl(a_crawl(tmp_path / "crawl", an_item(0, "coral reef")))
    limits = {"CRAWL_MAX_PAGES": 2_000, "CRAWL_MAX_SECONDS": 0.0, "CRAWL_REVISIT_ROUND": 0}

    def crawls(topic: Topic, folder: Path, *, ordering: str = "dom", progress: bool = True, **settings: Any) -> None:
        manifest = Manifest(folder, topic, ordering, {})
        manifest.begin({name.lower(): value for name, value in settings.items()}, "", 1.0)
        manifest.finish("page budget", 2.0, {})

    settings = {**limits, "CRAWL_REVISIT": "adaptive", "PAGE_RELEVANT": 0.25}
    crawls(stored.topic, stored.folder, **settings)
    monkeypatch.setattr(agent_server, "crawl", crawls)
    done = agent_server._crawling(stored, 10, {"PAGE_RELEVANT": 0.5})(6)
    assert (done.reason, done.left) == ("page budget", 10)
    assert read_info(stored.folder).settings == {**settings, "PAGE_RELEVANT": 0.5}
