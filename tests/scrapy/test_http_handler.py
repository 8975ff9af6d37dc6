"""The HTTP download handler against a server that writes given responses byte by byte."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.core.downloader.handlers import _base_streaming
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from crawlproject.adapters.refused import Refused
from crawlproject.core.heartbeat import Heartbeat
from crawlproject.core.responses import HEAD
from crawlproject.http import http_handler
from crawlproject.http.connection_failures import ExchangeLost, connection_failure
from crawlproject.http.http_handler import HttpDownloadHandler

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PAGE = HTML + b"Content-Length: 5\r\n\r\n<p>hi"
ANSWERS = {
    "/lying": HTML + b"Content-Length: 50\r\n\r\n<p>hi",
    "/long": HTML + b"Content-Length: 100000\r\n\r\n" + b"x" * 100_000,
    "/policy": HTML + b"Content-Security-Policy: " + b"x" * 20_000 + b"\r\nContent-Length: 5\r\n\r\n<p>hi",
    "/headers": HTML + b"X-Many: y\r\n" * 200 + b"Content-Length: 5\r\n\r\n<p>hi",
    "/junk": b"\x00\x01\x02\r\n\r\n",
    "/none": b"",
    "/twice": HTML + b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n",
}

SETTINGS = {"DOWNLOAD_FAIL_ON_DATALOSS": False, "CRAWL_ALLOWED_ADDRESSES": ["127.0.0.1"]}


class Server:
    """Answers requests from ``ANSWERS``, but never ``/slow``. Records request lines and the number of connections."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.heads: list[bytes] = []
        self.connections = 0
        self.writers: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.heads.append(head)
                self.lines.append(head.split(b"\r\n")[0].decode())
                path = self.lines[-1].split()[1]
                if path == "/slow":
                    await asyncio.sleep(30)
                if path == "/reset":
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    break
                if path == "/pieces":
                    await self.piecewise(writer)
                    break
                if path == "/more":  # more bytes than its head announced
                    writer.write(HTML + b"Content-Length: 65536\r\n\r\n")
                    await writer.drain()
                    await asyncio.sleep(0.1)
                    writer.write(b"x" * 2 * 65_536)
                    continue
                if path == "/unhurried":
                    await self.piecewise(writer, piece=b"x" * 2_000, wait=0.1)
                    break
                writer.write(ANSWERS.get(path, PAGE))
                await writer.drain()
                if path in ("/lying", "/junk", "/none"):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    async def piecewise(self, writer: asyncio.StreamWriter, piece: bytes = b"x", wait: float = 0.001) -> None:
        writer.write(HTML + b"\r\n")
        for _ in range(1_000):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(wait)


Fetch = Callable[..., Awaitable[Response]]


@pytest.fixture(autouse=True)
def asyncio_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_base_streaming, "is_asyncio_available", lambda: True)


def run(
    scenario: Callable[[Fetch, Server], Awaitable[None]],
    settings: dict[str, object] | None = None,
    connect: dict[object, Callable[..., None]] | None = None,
) -> Server:
    """Run a scenario; its ``fetch`` takes a path or a full URL, and the arguments of ``Request``."""
    crawler = get_crawler(settings_dict={**SETTINGS, **(settings or {})})
    for signal, receiver in (connect or {}).items():
        crawler.signals.connect(receiver, signal)
    server = Server()

    async def main() -> None:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        handler = HttpDownloadHandler(crawler)

        async def fetch(path: str, meta: dict[str, Any] | None = None, **options: Any) -> Response:
            here = f"http://127.0.0.1:{port}"
            meta = {"download_timeout": 5.0, **(meta or {})}
            if meta.get("proxy") == "here":
                meta["proxy"] = here
            return await handler.download_request(Request(path if "://" in path else here + path, meta=meta, **options))

        try:
            await scenario(fetch, server)
        finally:
            await handler.close()
            listening.close()

    asyncio.run(main())
    return server


def test_pages_come_over_one_connection() -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        for path in ("/a", "/b"):
            response = await fetch(path)
            assert isinstance(response, HtmlResponse)
            assert (response.status, response.body, str(response.ip_address)) == (200, b"<p>hi", "127.0.0.1")

    assert run(scenario).connections == 1


def test_a_connection_with_more_than_was_asked_for_is_not_used_again() -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        for path in ("/more", "/a", "/more", "/more", "/a"):
            assert len((await fetch(path)).body) == (65_536 if path == "/more" else 5)

    assert run(scenario).connections == 4


@pytest.mark.parametrize("size", [10, 2**14, 2**14 + 1, 40_000, 2**16 + 2**14, 150_000, 700_000])
def test_pages_of_any_size_come_over_one_connection(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    page = HTML + f"Content-Length: {size}\r\n\r\n".encode() + b"x" * size
    monkeypatch.setitem(ANSWERS, "/sized", page)
    monkeypatch.setitem(
        ANSWERS, "/chunked", HTML + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % size + b"x" * size + b"\r\n0\r\n\r\n"
    )

    async def scenario(fetch: Fetch, server: Server) -> None:
        for path in ("/sized", "/chunked", "/sized", "/chunked"):
            assert len((await fetch(path)).body) == size

    assert run(scenario).connections == 1


@pytest.mark.parametrize(
    ("path", "setting", "limit", "read"),
    [
        ("/headers", "CRAWL_MAX_HEADERS", 256, True),
        ("/headers", "CRAWL_MAX_HEADERS", 100, False),
        ("/policy", "CRAWL_MAX_HEADER_BYTES", 65_536, True),
        ("/policy", "CRAWL_MAX_HEADER_BYTES", 10_000, False),
    ],
)
def test_headers_have_limits(path: str, setting: str, limit: int, read: bool) -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        if read:
            assert (await fetch(path)).body == b"<p>hi"
        else:
            with pytest.raises(Refused) as refused:
                await fetch(path)
            assert refused.value.reason == HEAD

    run(scenario, {setting: limit})


def test_a_url_is_sent_letter_by_letter() -> None:
    spelled = "/a%2fb/%7Eme;v=1/|x?q=%41+b&r"

    async def scenario(fetch: Fetch, server: Server) -> None:
        assert (await fetch(spelled, meta={"verbatim_url": True})).url.endswith(spelled)
        await fetch("/%7e?a=%2f")

    assert run(scenario).lines == [f"GET {spelled} HTTP/1.1", "GET /%7e?a=%2f HTTP/1.1"]


def test_headers_and_bodies_go_out_as_the_request_has_them() -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        await fetch("/", method="POST", body=b"a=1", headers={"User-Agent": "me", "X-Two": ["1", "2"]})
        await fetch("/")

    post, get = run(scenario).heads
    assert b"\r\nUser-Agent: me\r\n" in post and b"\r\nContent-Length: 3\r\n" in post
    assert post.count(b"\r\nX-Two: ") == 2
    assert b"User-Agent" not in get and b"Accept" not in get and b"Content" not in get


def test_headers_come_in_whole_however_long() -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        assert (await fetch("/twice")).headers.getlist("Set-Cookie") == [b"a=1", b"b=2"]
        assert (await fetch("/policy")).body == b"<p>hi"

    run(scenario)


def test_a_proxy_is_asked_for_the_whole_url() -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        await fetch("http://far.example/x?y", meta={"proxy": "here"})

    assert run(scenario).lines == ["GET http://far.example/x?y HTTP/1.1"]


def test_a_body_shorter_than_promised_is_kept() -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        response = await fetch("/lying")
        assert (response.body, response.flags) == (b"<p>hi", ["dataloss"])
        with pytest.raises(ResponseDataLossError):
            await fetch("/lying", meta={"download_fail_on_dataloss": True})

    run(scenario)


def test_a_body_can_be_stopped_and_may_be_too_large() -> None:
    def stop(data: bytes, request: Request) -> None:
        if request.url.endswith("/long"):
            raise StopDownload(fail=False)

    async def scenario(fetch: Fetch, server: Server) -> None:
        response = await fetch("/long")
        assert 0 < len(response.body) <= 100_000 and response.flags == ["download_stopped"]
        with pytest.raises(DownloadCancelledError):
            await fetch("/long", meta={"download_maxsize": 1000})

    run(scenario, connect={signals.bytes_received: stop})


@pytest.mark.parametrize(
    ("url", "error", "answered"),
    [
        ("/slow", DownloadTimeoutError, False),
        ("/junk", DownloadFailedError, True),
        ("/none", DownloadFailedError, False),
        ("http://127.0.0.1:1/", DownloadConnectionRefusedError, False),
        ("http://no-such-host.invalid/", CannotResolveHostError, False),
    ],
)
def test_failures_are_what_the_retry_middleware_knows(url: str, error: type[Exception], answered: bool) -> None:
    """The crawl also learns whether a server answered."""

    async def scenario(fetch: Fetch, server: Server) -> None:
        with pytest.raises(error) as failed:
            await fetch(url, meta={"download_timeout": 0.3} if url == "/slow" else {})
        assert connection_failure(failed.value) == ("" if answered else error.__name__)

    run(scenario)


def test_a_failure_of_tls_says_why() -> None:
    """The port speaks plain HTTP."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def scenario(fetch: Fetch, server: Server) -> None:
        async with await asyncio.start_server(greet, "127.0.0.1", 0) as plain:
            with pytest.raises(DownloadConnectionRefusedError) as failed:
                await fetch(f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}/")
        assert connection_failure(failed.value) == "tls wrong version number"

    run(scenario)


def test_a_request_that_is_reset_is_not_sent_again() -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        with pytest.raises(DownloadFailedError) as failed:
            await fetch("/reset")
        assert connection_failure(failed.value) == "DownloadFailedError"

    assert len(run(scenario).lines) == 1


@pytest.mark.parametrize("path", ["/reset", "/none"])
def test_a_kept_connection_that_the_server_closes_is_nobodys_fault_and_none_is_kept_any_more(path: str) -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        await fetch("/a")
        with pytest.raises(ExchangeLost) as lost:
            await fetch(path)
        assert lost.value.reason == "idle_connection" and len(server.lines) == 2
        for _ in range(2):
            await fetch("/a")
        with pytest.raises(DownloadFailedError) as failed:
            await fetch(path)
        assert not isinstance(failed.value, ExchangeLost), "on a connection of its own it is the server's fault"

    assert run(scenario).connections == 4


def test_what_fails_while_the_process_stands_still_is_nobodys_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000.0]
    heart = Heartbeat(lambda: clock[0], lambda: 0.0)
    monkeypatch.setattr(http_handler, "heartbeat", heart)
    monkeypatch.setattr(http_handler, "time", lambda: clock[0])

    async def scenario(fetch: Fetch, server: Server) -> None:
        heart.start()
        await fetch("/a")
        for path, jump, reason in (
            ("/slow", 60.0, "suspended"),
            ("/slow", 3.0, "busy"),
            ("/pieces", 60.0, "suspended"),
        ):
            fetching = asyncio.ensure_future(fetch(path, meta={"download_timeout": 0.5}))
            await asyncio.sleep(0.2)
            clock[0] += jump
            with pytest.raises(ExchangeLost) as lost:
                await fetching
            assert lost.value.reason == reason
        with pytest.raises(DownloadTimeoutError):
            await fetch("/slow", meta={"download_timeout": 0.5})

    run(scenario)


def test_bytes_that_come_one_by_one_are_read_together() -> None:
    pieces: list[bytes] = []

    def note(data: bytes) -> None:
        pieces.append(data)

    async def scenario(fetch: Fetch, server: Server) -> None:
        assert (await fetch("/pieces")).body == b"x" * 1_000

    run(scenario, connect={signals.bytes_received: note})
    assert len(pieces) < 150


def test_a_body_that_comes_slowly_is_cut_when_its_time_is_over() -> None:
    """For an honest slow server, the part that was received is kept."""

    async def scenario(fetch: Fetch, server: Server) -> None:
        response = await fetch("/unhurried", meta={"download_timeout": 1.0})
        assert response.flags == ["dataloss"] and len(response.body) >= 2_000

    run(scenario)


def test_a_host_that_was_quick_may_be_silent_for_a_short_time_and_then_for_the_whole() -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        await fetch("/a")
        for least, most in ((0.2, 1.0), (1.4, 3.0)):
            began = asyncio.get_running_loop().time()
            with pytest.raises(DownloadTimeoutError):
                await fetch("/slow", meta={"download_timeout": 1.5})
            assert least <= asyncio.get_running_loop().time() - began < most

    run(scenario, {"CRAWL_MIN_TIMEOUT": 0.3})


def test_what_comes_unasked_closes_the_connection() -> None:
    async def scenario(fetch: Fetch, server: Server) -> None:
        assert (await fetch("/a")).body == b"<p>hi"
        await asyncio.sleep(0.1)
        (writer,) = server.writers
        writer.write(PAGE)
        await asyncio.sleep(0.1)
        assert (await fetch("/twice")).body == b""

    assert run(scenario).connections == 2


def test_names_that_nobody_answers_for_do_not_hold_up_others(monkeypatch: pytest.MonkeyPatch) -> None:
    look_up = socket.getaddrinfo

    def slow(host: str, *rest: Any, **more: Any) -> Any:
        if host.endswith(".invalid"):
            time.sleep(1.0)
            raise socket.gaierror(socket.EAI_AGAIN, "nobody answers")
        return look_up("127.0.0.1", *rest, **more)

    async def scenario(fetch: Fetch, server: Server) -> None:
        dead = [asyncio.ensure_future(fetch(f"http://dead{n}.invalid/")) for n in range(30)]
        await asyncio.sleep(0.1)
        began = time.monotonic()
        with pytest.raises(DownloadConnectionRefusedError):
            await fetch("http://honest.example:1/")
        assert time.monotonic() - began < 0.7
        await asyncio.gather(*dead, return_exceptions=True)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    run(scenario, {"CONCURRENT_REQUESTS": 64})


def test_the_project_fetches_with_it() -> None:
    from crawlproject import settings

    assert set(settings.DOWNLOAD_HANDLERS.values()) == {"crawlproject.http.http_handler.HttpDownloadHandler"}
