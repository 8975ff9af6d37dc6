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
