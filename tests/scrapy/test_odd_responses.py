"""Responses that are not quite HTTP are read as browsers read them, whether they arrive in one piece or in many."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from scrapy.core.downloader.handlers import _base_streaming
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawlproject.http.guarded_protocol import put_right
from crawlproject.http.http_handler import HttpDownloadHandler
from crawlproject.settings import DOWNLOAD_FAIL_ON_DATALOSS

SETTINGS = {"CRAWL_ALLOWED_ADDRESSES": "127.0.0.1", "DOWNLOAD_FAIL_ON_DATALOSS": DOWNLOAD_FAIL_ON_DATALOSS}
BODY = b"<p>" + b"coral reef " * 30 + b"</p>\n"
LONG = BODY * 150  # more than is read in one piece
TYPE = b"Content-Type: text/html\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKS = b"%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n"


def head(*lines: bytes, status: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return status + b"\r\n" + TYPE + b"".join(lines) + b"\r\n"


ODD = {
    "length of characters": head(b"Content-Length: %d\r\n" % (len(BODY) - 7)) + BODY,
    "length of characters of a long page": head(b"Content-Length: %d\r\n" % (len(LONG) - 7)) + LONG,
    "length twice": head(LENGTH, LENGTH) + BODY,
    "length twice in a line": head(b"Content-Length: %d, %d\r\n" % (len(BODY), len(BODY))) + BODY,
    "length and chunks": head(LENGTH, b"Transfer-Encoding: chunked\r\n") + CHUNKS,
    "more behind the chunks": head(b"Transfer-Encoding: chunked\r\n") + CHUNKS + b"0\r\n\r\n",
    "a line without a colon": head(b"Options +Indexes\r\n", LENGTH) + BODY,
    "space before the colon": head(b"X-Powered-By : PHP\r\n", LENGTH) + BODY,
    "a name that is none": head(b"X Forwarded: x\r\n", b"caf\xc3\xa9: x\r\n", b": x\r\n", LENGTH) + BODY,
    "control characters": head(b"X-A: a\0b\x01c\rd\r\n", LENGTH) + BODY,
    "a version nobody has": head(LENGTH, status=b"HTTP/1.2 200 OK") + BODY,
    "small letters": head(LENGTH, status=b"http/1.1 200 OK") + BODY,
    "spaces in the status": head(LENGTH, status=b"HTTP/1.1  200  OK") + BODY,
}
ENDS = {  # responses that end with the connection
    "lengths that contradict": head(LENGTH, b"Content-Length: 20\r\n") + BODY,
    "a length that is none": head(b"Content-Length: -1\r\n") + BODY,
    "an empty length": head(b"Content-Length: \r\n") + BODY,
    "an encoding that is none": head(LENGTH, b"Transfer-Encoding: identity\r\n") + BODY,
}


@pytest.fixture(autouse=True)
def asyncio_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_base_streaming, "is_asyncio_available", lambda: True)


def fetched(answer: bytes, *, closes: bool, piece: int = 2**20, times: int = 1) -> list[Response]:
    """The results of ``times`` requests to a server that sends ``answer`` in pieces of ``piece`` bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                for at in range(0, len(answer), piece):
                    writer.write(answer[at : at + piece])
                    await writer.drain()
                    if piece < len(answer):
                        await asyncio.sleep(0.001)
                if closes:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    async def main() -> list[Response]:
        listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
        handler = HttpDownloadHandler(get_crawler(settings_dict=SETTINGS))
        try:
            request = Request(url, meta={"download_timeout": 5.0})
            return [await handler.download_request(request) for _ in range(times)]
        finally:
            await handler.close()
            listening.close()

    return asyncio.run(main())


@pytest.mark.parametrize("piece", [2**20, 100])
@pytest.mark.parametrize("kind", [*ODD, *ENDS])
def test_what_browsers_read_is_read(kind: str, piece: int) -> None:
    answer = ODD.get(kind) or ENDS[kind]
    whole = LONG if len(answer) > len(LONG) // 2 else BODY
    for response in fetched(answer, closes=kind in ENDS, piece=max(piece, len(answer) // 50), times=2):
        assert response.status == 200 and response.headers[b"Content-Type"] == b"text/html"
        assert whole.startswith(response.body) and len(response.body) >= len(whole) - 7
        assert (len(response.body) < len(whole)) == kind.startswith("length of characters")


@pytest.mark.parametrize(
    "first", [b"ICY 200 OK", b"HTTP/1.1 2000 OK", b"<html>", b"HTTP/1.1 100 Continue", b"HTTP/1.1 OK", b""]
)
def test_what_is_no_response_stays_none(first: bytes) -> None:
    assert put_right(first + b"\r\nContent-Type: text/html") is None
