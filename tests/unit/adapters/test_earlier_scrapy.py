"""The add-on with earlier versions of Scrapy; `make lowest` runs its tests with the earliest one."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from protego import Protego
from scrapy import Request, signals

from crawlproject import __main__ as topical
from crawlproject.adapters import earlier_scrapy
from crawlproject.adapters.earlier_scrapy import crawl_delay, hear_of_robots

ROBOTS = "User-agent: *\nCrawl-delay: 3\n"


class Middleware:
    """Like the middleware of Scrapy 2.14 to 2.17: for each host it keeps a parser without delays, or None."""

    def __init__(self) -> None:
        self._parsers: dict[str, Any] = {}

    async def robot_parser(self, request: Request) -> Any:
        host = request.url.split("/")[2]
        await asyncio.sleep(0)
        return self._parsers.setdefault(host, SimpleNamespace(rp=Protego.parse(ROBOTS)) if host != "dead" else None)


def test_a_robots_txt_is_heard_of_once_before_its_rules_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signals, "robots_parsed")
    heard: list[tuple[str, float]] = []

    async def hear(robotparser: Any, request: Request) -> None:
        heard.append((request.url, crawl_delay(robotparser, "me")))

    async def ask() -> None:
        for url in ("http://a/1", "http://a/2", "http://dead/", "http://b/"):
            before = len(heard)
            parser = await middleware.robot_parser(Request(url))
            assert (parser is None) == (url == "http://dead/")
            assert len(heard) - before == (url in ("http://a/1", "http://b/"))

    middleware = Middleware()
    hear_of_robots(SimpleNamespace(get_downloader_middleware=lambda cls: middleware), hear)  # type: ignore[arg-type]
    asyncio.run(ask())
    assert heard == [("http://a/1", 3.0), ("http://b/", 3.0)]


def test_a_project_without_robots_txt_hears_of_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signals, "robots_parsed")
    hear_of_robots(SimpleNamespace(get_downloader_middleware=lambda cls: None), lambda **_: None)  # type: ignore[arg-type, return-value]


def test_a_delay_is_asked_of_the_parser_or_of_what_it_is_made_of() -> None:
    rules = Protego.parse(ROBOTS)
    assert crawl_delay(rules, "me") == crawl_delay(SimpleNamespace(rp=rules), "me") == 3.0
    assert crawl_delay(Protego.parse(""), "me") == crawl_delay(SimpleNamespace(), "me") == 0.0


def test_the_command_says_which_scrapy_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(earlier_scrapy, "find_spec", lambda name: None)
    assert topical.run(["crawl", "demo"]) == 2
    assert "only the add-on works with it; topical needs 2.19" in capsys.readouterr().err
