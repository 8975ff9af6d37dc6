"""``scrapy mcp`` with a client of the official SDK, over standard input and output."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.crawling import ROOT, crawl, environment, history, scrapy, stored
from support.invoking import invoke

from crawlproject.commands.mcp import McpCommand
from crawlproject.storage.read import read_info

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.slow
SEED = "http://www.lagoon-notes.example/"
IMPOLITE = ("-s", "POLITENESS_MIN_DELAY=0", "-s", "POLITENESS_FACTOR=0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp") / "crawl"
    done = crawl(ROOT / "topics" / "demo.toml", path, VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=15)
    assert done.returncode == 0, done.stderr
    assert scrapy("index", path).returncode == 0
    return path


def converse(folder: Path, talk: Callable[[Client], Awaitable[None]], *options: str) -> None:
    """Talk to a server for the folder; afterwards the server must end without a signal."""
    from mcp import Client, StdioServerParameters, stdio_client  # takes seconds

    async def conversation() -> None:
        arguments = ["-m", "scrapy", "mcp", str(folder), *options]
        server = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT, env=environment())
        async with Client(stdio_client(server)) as client:
            await talk(client)

    asyncio.run(asyncio.wait_for(conversation(), 120))


def text(result: Any) -> str:
    return "".join(part.text for part in result.content)


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_an_agent_reads_and_writes_nothing(folder: Path) -> None:
    before = files(folder)

    async def talk(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"search", "page", "why"}
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
        found = (await client.call_tool("search", {"query": "coral", "limit": 3})).structured_content
        assert found and found["total"] > 3 and len(found["hits"]) == 3
        assert "<b>" not in json.dumps(found)
        url = found["hits"][0]["url"]
        page = text(await client.call_tool("page", {"url": url}))
        assert page.startswith("# ") and f"<{url}>" in page and "coral" in page.lower()
        rest = text(await client.call_tool("page", {"url": url, "offset": 10}))
        assert rest == page[10:]
        assert "Fetched: number" in text(await client.call_tool("why", {"url": SEED}))

        lost = await client.call_tool("page", {"url": "http://nowhere.example/"})
        assert lost.is_error and "is not stored" in text(lost)
        wrong = await client.call_tool("page", {"url": "mailto:me@example.org"})
        assert wrong.is_error and "expected a URL that can be crawled" in text(wrong)
        assert (await client.call_tool("crawl", {"pages": 5})).is_error

    converse(folder, talk)
    assert files(folder) == before


def test_a_bounded_crawl_if_it_is_allowed(folder: Path) -> None:
    before = stored(folder)

    async def talk(client: Client) -> None:
        first = (await client.call_tool("crawl", {"pages": 6})).structured_content
        assert first == {"new_pages": 6, "pages": len(before) + 6, "reason": "page budget", "left": 4}
        second = (await client.call_tool("crawl", {"pages": 100})).structured_content
        assert second and (second["new_pages"], second["left"]) == (4, 0)
        spent = await client.call_tool("crawl", {})
        assert spent.is_error and "0 pages are left" in text(spent)
        everything = (await client.call_tool("search", {"query": "*", "limit": 1})).structured_content
        assert everything and everything["total"] > len(before), "the index has the new pages"

    converse(folder, talk, "--crawl", "10", *IMPOLITE)
    assert len(stored(folder)) == len(before) + 10
    assert read_info(folder).settings["CRAWL_MAX_PAGES"] == 15, "the limit is the agent's, not that of the crawl"
    assert len({line["url"] for line in history(folder)}) == len(history(folder))


def test_without_the_package_the_command_says_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert invoke(McpCommand(), folder) == 2
    assert "scrapy mcp needs mcp: pip install" in capsys.readouterr().err


def test_a_bounded_crawl_of_a_collection_that_is_visited_again(folder: Path, tmp_path: Path) -> None:
    """Its pages are no limit to a crawl with revisits, and the last round left its own size in the folder."""
    visited = tmp_path / "visited"
    shutil.copytree(folder, visited)
    assert scrapy("revisit", visited, "--pages", 20, POLITENESS_MIN_DELAY=0, POLITENESS_FACTOR=0).returncode == 0
    fetches = len(history(visited))

    async def talk(client: Client) -> None:
        asked = (await client.call_tool("crawl", {"pages": 3})).structured_content
        assert asked and 0 < asked["new_pages"] <= 3 and asked["left"] == 5 - asked["new_pages"]

    converse(visited, talk, "--crawl", "5", *IMPOLITE)
    assert len(history(visited)) == fetches + 3
