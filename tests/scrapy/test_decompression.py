"""Bodies are decompressed by their actual format, even if the header declares another."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
from scrapy import Request
from scrapy.http import Headers, Response, TextResponse
from scrapy.utils.test import get_crawler

from crawlproject.pages.unpack import Damaged
from middlewares.decompression import DecompressionMiddleware

PAGE = b"<!doctype html><p>coral reef"
PACKED = gzip.compress(PAGE, mtime=0)  # identical in every run, as test names contain it


def unpacked(body: bytes, *codings: str) -> Response:
    headers = Headers({"Content-Type": "text/html", "Content-Encoding": list(codings)})
    response = TextResponse("http://a.example/", headers=headers, body=body)
    middleware = DecompressionMiddleware(get_crawler())
    return middleware.process_response(Request("http://a.example/"), response)


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (PACKED, ["gzip"]),
        (PACKED, ["GZip, utf-8"]),
        (PACKED, ["gzip,,", "identity", "none"]),
        (brotli.compress(PACKED), ["gzip", "br"]),
        (PACKED, ["br"]),
        (PACKED, ["deflate"]),
        (PAGE, ["utf-8\xe9"]),
        (PAGE, ["gzip"]),
        (b"\n" + PAGE, ["br"]),
        (PAGE, ["gzip, gzip"]),
        (PAGE, ["deflate"]),
        (PAGE, ["zstd"]),
    ],
)
def test_a_page_is_read_whatever_its_header_says(
    body: bytes, codings: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    response = unpacked(body, *codings)
    assert response.body.strip() == PAGE
    assert b"Content-Encoding" not in response.headers
    assert not caplog.records


def test_text_is_text() -> None:
    """For example a robots.txt."""
    assert unpacked(b"User-agent: *\nDisallow: /x\n", "gzip").body == b"User-agent: *\nDisallow: /x\n"


def test_what_is_neither_packed_nor_text_is_damaged() -> None:
    with pytest.raises(Damaged):
        unpacked(b"\0\1" + zlib.compress(PAGE), "gzip")
