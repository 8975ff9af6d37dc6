"""Revisit records in an archive, as other programs write them: another record holds the payload."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawlproject.webs.base import Web
from crawlproject.webs.open import open_web

ONE, TWO, OTHER = "http://a.example/1", "http://a.example/2", "http://b.example/"
PROFILE = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"


class Writer:
    """An archive to which responses and revisits are added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._writer = WARCWriter(self._file, gzip=True)

    def response(self, url: str, body: bytes, kind: str = "text/html") -> str:
        headers = StatusAndHeaders("200 OK", [("Content-Type", kind)], protocol="HTTP/1.1")
        record = self._writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=headers)
        self._writer.write_record(record)
        return record.rec_headers.get_header("WARC-Payload-Digest")

    def revisit(self, url: str, digest: str, refers_to: str, kind: str = "text/html", profile: str = PROFILE) -> None:
        headers = StatusAndHeaders("200 OK", [("Content-Type", kind)], protocol="HTTP/1.1")
        date = "2024-01-01T00:00:00Z"
        record = self._writer.create_revisit_record(url, digest, refers_to, date, http_headers=headers)
        record.rec_headers.replace_header("WARC-Profile", profile)
        self._writer.write_record(record)

    def opened(self) -> Web:
        self._file.close()
        return open_web(self.path, cache_dir=self.path.parent / "cache")


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return Writer(tmp_path / "w.warc.gz")


def test_a_revisit_has_the_payload_of_another_and_headers_of_its_own(writer: Writer) -> None:
    digest = writer.response(ONE, b"<p>one")
    writer.response(OTHER, b"<p>other")
    writer.revisit(TWO, digest, ONE, kind="text/html; charset=utf-8")
    web = writer.opened()
    assert not web.warnings
    reply = web.get(TWO)
    assert (reply.status, reply.body, reply.headers["content-type"]) == (200, b"<p>one", "text/html; charset=utf-8")
    assert web.get(ONE).headers["content-type"] == "text/html"
    assert sorted(web.urls()) == [ONE, TWO, OTHER] and TWO in web


def test_the_payload_is_found_by_its_digest_when_the_page_has_changed_since(writer: Writer) -> None:
    digest = writer.response(ONE, b"<p>first")
    writer.response(ONE, b"<p>second")
    writer.revisit(TWO, digest, ONE)
    web = writer.opened()
    assert (web.get(ONE).body, web.get(TWO).body) == (b"<p>second", b"<p>first")


def test_the_last_capture_of_a_url_wins_be_it_a_revisit(writer: Writer) -> None:
    digest = writer.response(ONE, b"<p>first")
    writer.response(ONE, b"<p>second")
    writer.revisit(ONE, digest, ONE)
    assert writer.opened().get(ONE).body == b"<p>first"


def test_a_revisit_of_what_is_elsewhere_is_reported_and_not_served(writer: Writer) -> None:
    writer.response(ONE, b"<p>one")
    writer.revisit(TWO, "sha1:" + "A" * 32, OTHER)
    web = writer.opened()
    assert web.warnings == ("revisits of pages that are not in the archive: 1; they are not served",)
    assert web.get(TWO).status == 404 and web.get(ONE).status == 200


def test_a_revisit_of_another_profile_is_not_served(writer: Writer) -> None:
    digest = writer.response(ONE, b"<p>one")
    writer.revisit(TWO, digest, ONE, profile="http://netpreserve.org/warc/1.0/revisit/server-not-modified")
    web = writer.opened()
    assert web.get(TWO).status == 404 and "1; they are not served" in web.warnings[0]


def test_an_index_that_was_kept_serves_the_same(writer: Writer) -> None:
    digest = writer.response(ONE, b"<p>one")
    writer.revisit("http://a.example/index.html", digest, ONE)
    first = writer.opened()
    again = open_web(writer.path, cache_dir=writer.path.parent / "cache")
    assert first.get("http://a.example/").body == again.get("http://a.example/").body == b"<p>one"
