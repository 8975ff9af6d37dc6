"""The download handler never connects a socket to a private address, whatever a name server answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver
from scrapy import Request
from scrapy.core.downloader.handlers import _base_streaming
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError
from scrapy.utils.test import get_crawler

from crawlproject.adapters.refused import Refused
from crawlproject.core.address_policy import ADDRESS
from crawlproject.http import http_handler
from crawlproject.http.http_handler import HttpDownloadHandler

PUBLIC = "93.184.215.14"
Fetch = Callable[..., Awaitable[Any]]


class Names(AbstractResolver):
    """A name server that gives the answers for a name in turn, and then repeats the last one."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = {name.replace("_", "."): list(said) for name, said in answers.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[Any]:
        self.asked.append(host)
        await asyncio.sleep(0)
        if host not in self.answers:
            raise OSError(f"no such name: {host}")
        said = self.answers[host]
        found = said.pop(0) if len(said) > 1 else said[0]
        return [
            {"hostname": host, "host": at, "port": port, "family": 10 if ":" in at else 2, "proto": 0, "flags": 0}
            for at in found
        ]

    async def close(self) -> None:
        return None


@pytest.fixture(autouse=True)
def asyncio_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_base_streaming, "is_asyncio_available", lambda: True)


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that sockets connected to; every connection is refused."""
    made: list[str] = []

    async def refuse(loop: Any, sock: Any, address: tuple[Any, ...]) -> None:
        made.append(address[0])
        raise ConnectionRefusedError(111, "refused in the test")

    monkeypatch.setattr("asyncio.selector_events.BaseSelectorEventLoop.sock_connect", refuse)
    return made


def run(
    scenario: Callable[[Fetch], Awaitable[None]], names: Names, monkeypatch: pytest.MonkeyPatch, **settings: object
) -> None:
    monkeypatch.setattr(http_handler, "names_of", lambda crawler: names)

    async def main() -> None:
        handler = HttpDownloadHandler(get_crawler(settings_dict=settings))

        async def fetch(url: str, **meta: object) -> Any:
            return await handler.download_request(Request(url, meta={"download_timeout": 5.0, **meta}))

        try:
            await scenario(fetch)
        finally:
            await handler.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "fe80::1%lo",
        "fd00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
    ],
)
def test_a_name_that_leads_to_a_private_address_is_refused(
    address: str, connected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(fetch: Fetch) -> None:
        with pytest.raises(Refused) as refused:
            await fetch("http://evil.example/")
        assert refused.value.reason == ADDRESS

    run(scenario, Names(evil_example=[[address]]), monkeypatch)
    assert connected == []


def test_a_name_that_changes_its_mind_is_connected_to_where_it_was_checked(
    connected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: the first answer is public, the next one private."""
    names = Names(evil_example=[[PUBLIC], ["127.0.0.1"]])

    async def scenario(fetch: Fetch) -> None:
        with pytest.raises(DownloadConnectionRefusedError):
            await fetch("http://evil.example/")
        assert names.asked == ["evil.example"], "asked once: what was checked is what is connected to"
        for _ in range(3):
            with pytest.raises(Refused):
                await fetch("http://evil.example/")

    run(scenario, names, monkeypatch)
    assert connected == [PUBLIC]


def test_of_many_addresses_only_the_public_ones_are_tried(
    connected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(fetch: Fetch) -> None:
        with pytest.raises(DownloadConnectionRefusedError):
            await fetch("http://both.example/")

    run(scenario, Names(both_example=[["127.0.0.1", "::1", PUBLIC, "10.0.0.1"]]), monkeypatch)
    assert set(connected) == {PUBLIC}


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "127.1",
        "0177.0.0.1",
        "[fe80::1%25lo]",
        "0",
        "127.0.0.1.",
        "１２７.0.0.1",
        "%31%32%37.0.0.1",
    ],
)
def test_an_address_as_a_spider_may_spell_it_is_never_connected_to(
    host: str, connected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """URLs that were not canonicalized, as in requests of other spiders; the name resolves as the system would do it."""

    class System(Names):
        async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[Any]:
            found = await asyncio.get_running_loop().getaddrinfo(host, port)
            self.answers[host] = [[target[0] for *_, target in found]]
            return await super().resolve(host, port, family)

    async def scenario(fetch: Fetch) -> None:
        with pytest.raises(Exception) as refused:
            await fetch(f"http://{host}/")
        assert not isinstance(refused.value, DownloadConnectionRefusedError)

    run(scenario, System(), monkeypatch)
    assert connected == []


def test_what_the_operator_allowed_is_connected_to(connected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = ["10.0.0.0/8", "intranet.example", "wiki.example:8090"]
    names = Names(ten_example=[["10.0.0.7"]], intranet_example=[["192.168.0.1"]], wiki_example=[["192.168.0.2"]])

    async def scenario(fetch: Fetch) -> None:
        for url in ("http://ten.example/", "http://intranet.example/", "http://wiki.example:8090/", "http://10.1.1.1/"):
            with pytest.raises(DownloadConnectionRefusedError):
                await fetch(url)
        for url in ("http://wiki.example/", "http://192.168.0.1/"):
            with pytest.raises(Refused):
                await fetch(url)

    run(scenario, names, monkeypatch, CRAWL_ALLOWED_ADDRESSES=allowed)
    assert connected == ["10.0.0.7", "192.168.0.1", "192.168.0.2", "10.1.1.1"]


def test_a_proxy_is_the_operators_choice(connected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(fetch: Fetch) -> None:
        with pytest.raises(DownloadConnectionRefusedError):
            await fetch("http://any.example/", proxy="http://127.0.0.1:3128")

    run(scenario, Names(), monkeypatch)
    assert connected == ["127.0.0.1"]


def test_a_name_that_nobody_knows_is_distinguished(connected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(fetch: Fetch) -> None:
        with pytest.raises(CannotResolveHostError):
            await fetch("http://nobody.example/")

    run(scenario, Names(), monkeypatch)
    assert connected == []
