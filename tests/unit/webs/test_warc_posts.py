"""Responses to POST in a WARC: served for the same URL and body, and never for a GET."""

from __future__ import annotations

import io
from itertools import permutations
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawlproject.webs.base import answer
from crawlproject.webs.open import open_web
from crawlproject.webs.warc_file import WarcWeb

URL = "http://reef.example/graphql"


def archive(folder: Path, *exchanges: tuple[str, bytes, bytes], request_first: bool = False) -> WarcWeb:
    """A WARC as another program writes it; each exchange is method, sent body, received body."""
    path = folder / "web.warc.gz"
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for method, sent, received in exchanges:
            asking = StatusAndHeaders(f"{method} /graphql HTTP/1.1", [("Host", "reef.example")], is_http_request=True)
            answering = StatusAndHeaders("200 OK", [("Content-Type", "application/json")], protocol="HTTP/1.1")
            request = writer.create_warc_record(URL, "request", payload=io.BytesIO(sent), http_headers=asking)
            response = writer.create_warc_record(URL, "response", payload=io.BytesIO(received), http_headers=answering)
            both = [response, request]
            if request_first:
                both.reverse()
            both[1].rec_headers.add_header("WARC-Concurrent-To", both[0].rec_headers.get_header("WARC-Record-ID"))
            for record in both:
                writer.write_record(record)
    return open_web(str(path), cache_dir=folder / "cache")  # type: ignore[return-value]


@pytest.mark.parametrize("request_first", [False, True])
def test_each_body_has_its_answer(tmp_path: Path, request_first: bool) -> None:
    exchanges = [
        ("GET", b"", b"got"),
        ("POST", b"{a", b"A"),
        ("POST", b"b", b"B"),
        ("PUT", b"c", b"C"),
        ("HEAD", b"", b""),
    ]
    for number, order in enumerate(permutations(exchanges)):
        folder = tmp_path / str(number)
        folder.mkdir()
        web = archive(folder, *order, request_first=request_first)
        assert web.get(URL).body == b"got"
        assert [answer(web, "POST", URL, {}, body).body for body in (b"{a", b"b")] == [b"A", b"B"]
        assert answer(web, "POST", URL, {}, b"c").status == 405
        assert list(web.urls()) == [URL] and not web.warnings
        web.close()


def test_posts_alone_are_no_page_of_that_url(tmp_path: Path) -> None:
    web = archive(tmp_path, ("POST", b"a", b"A"))
    assert web.get(URL).status == 404 and URL not in web and list(web.urls()) == []
    assert answer(web, "POST", URL, {}, b"a").body == b"A"


def test_a_server_answers_posts_where_the_web_does(tmp_path: Path) -> None:
    web = archive(tmp_path, ("POST", b"{a", b"A"), ("GET", b"", b"got"))
    assert answer(web, "POST", URL, {}, b"{a").body == b"A"
    assert answer(web, "POST", URL, {}, b"z").status == 405
    assert answer(open_web("sample", cache_dir=tmp_path), "POST", URL, {}, b"a").status == 405
