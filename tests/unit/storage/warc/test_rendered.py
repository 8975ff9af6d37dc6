"""Rendered pages in the archive: as received, marked, and with the fetches of their scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.warcs import check, records

from crawlproject.records import NOT_KEPT, RENDERED, Visit
from crawlproject.storage.warc.archive import CrawlArchive, RenderedPage
from crawlproject.storage.warc.index import read_entries
from crawlproject.storage.warc.record import Exchange
from crawlproject.urls.post import is_digest

URL = "http://a.example/1"
CAME, RENDERED_HTML = b"<div id=root></div>", b"<p>what the scripts made of it"
BROTLI = ((b"Content-Type", b"text/html"), (b"Content-Encoding", b"br"))
PLAIN = ((b"Content-Type", b"text/html; charset=utf-16"),)
DATA = Exchange(
    "http://a.example/graphql", 200, ((b"Content-Type", b"application/json"),), b"{}", 2.0,
    method="POST", request=((b"Content-Type", b"application/json"),), sent=b'{"query": "{ a }"}',
)  # fmt: skip


def visit(**more: object) -> Visit:
    facts = {
        "md5": "0" * 32,
        "digest": "d",
        "signs": {RENDERED: 4.0},
        "content_type": "text/html; charset=utf-8",
        **more,
    }
    return Visit(URL, 200, 3.0, **facts)  # type: ignore[arg-type]


def archived(folder: Path, exchange: Exchange | None, fetched: Visit, *, rendered: bool = True) -> list[tuple]:
    archive = CrawlArchive(folder, "t", {}, lambda _: RENDERED_HTML, clock=lambda: 0.0, seed="s", max_bytes=10**9)
    if exchange is not None:
        archive.received(URL, exchange)
    if rendered:
        archive.rendered(URL, RenderedPage(CAME, "text/html; charset=utf-16", (DATA,)))
    archive.commit(fetched)
    archive.commit(visit(digest="again"))  # the next visit was not rendered
    archive.close()
    paths = list((folder / "warc").glob("*.gz"))
    check(*paths)
    return [found for path in paths for found in records(path)][1:]


@pytest.mark.parametrize("headers", [BROTLI, PLAIN])
def test_a_page_is_archived_as_it_came(tmp_path: Path, headers: tuple[tuple[bytes, bytes], ...]) -> None:
    packed = b"\x8b\x00brotli" if headers is BROTLI else CAME
    found = archived(tmp_path, Exchange(URL, 200, headers, packed, 1.0, request=()), visit())
    assert [(kind, url) for kind, url, *_ in found[:5]] == [
        ("response", URL), ("request", URL), ("metadata", URL), ("response", DATA.url), ("request", DATA.url),
    ]  # fmt: skip
    page, _, told, _, sent = found[:5]
    assert page[3] == CAME
    assert told[3] == b"rendered: true\r\noutlink: http://a.example/graphql E POST\r\n"
    for name in ("WARC-Refers-To", "WARC-Concurrent-To"):
        assert told[2].rec_headers.get_header(name) == page[2].rec_headers.get_header("WARC-Record-ID")
    assert sent[3] == DATA.sent and sent[2].http_headers.get_header("Content-Length") == str(len(DATA.sent))
    urls = [entry.url for entry in read_entries(tmp_path / "warc")]
    assert urls[0] == URL and urls[1].startswith(DATA.url) and is_digest(urls[1])
    assert [kind for kind, *_ in found[5:]] == ["response"], "nothing is left of the rendering for the next visit"


def test_without_a_response_it_is_reconstructed_as_it_came(tmp_path: Path) -> None:
    page = archived(tmp_path, None, visit())[0]
    assert page[3] == CAME and page[2].http_headers.get_header("Content-Type") == "text/html; charset=utf-16"


def test_a_page_that_showed_nothing_is_marked_all_the_same(tmp_path: Path) -> None:
    found = archived(tmp_path, Exchange(URL, 200, PLAIN, CAME, 1.0), visit(md5="", error="needs_browser"))
    assert [kind for kind, *_ in found[:2]] == ["response", "metadata"]


def test_nothing_is_kept_of_a_page_that_asks_for_it(tmp_path: Path) -> None:
    found = archived(tmp_path, Exchange(URL, 200, PLAIN, CAME, 1.0), visit(error=NOT_KEPT, md5=""))
    assert [(kind, body) for kind, _, _, body in found] == [("response", RENDERED_HTML)], "but of the next visit"


def test_a_page_that_was_not_rendered_has_no_mark(tmp_path: Path) -> None:
    found = archived(tmp_path, Exchange(URL, 200, PLAIN, CAME, 1.0), visit(), rendered=False)
    assert "metadata" not in [kind for kind, *_ in found]
