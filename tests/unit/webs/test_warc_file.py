"""A WARC as a web: look-up, redirects, encodings, damage, and the index that is built once."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.archives import shared_data
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawlproject.errors import BadWeb
from crawlproject.webs.open import open_web
from crawlproject.webs.warc_file import WarcWeb
from crawlproject.webs.warc_index import index_path

HTML = [("Content-Type", "text/html; charset=utf-8")]


class WarcFile:
    """Writes a small archive, record by record."""

    def __init__(self, *, compressed: bool = True) -> None:
        self._buffer = io.BytesIO()
        self._writer = WARCWriter(self._buffer, gzip=compressed)

    def page(
        self, url: str, body: bytes = b"", status: str = "200 OK", headers: Iterable[tuple[str, str]] = HTML
    ) -> WarcFile:
        http = StatusAndHeaders(status, list(headers), protocol="HTTP/1.1")
        self._write(url, "response", body, http)
        return self

    def redirect(self, url: str, location: str, status: str = "301 Moved Permanently") -> WarcFile:
        return self.page(url, status=status, headers=[("Location", location)])

    def resource(self, url: str, body: bytes, content_type: str) -> WarcFile:
        self._writer.write_record(
            self._writer.create_warc_record(url, "resource", io.BytesIO(body), warc_content_type=content_type)
        )
        return self

    def request(self, url: str) -> WarcFile:
        http = StatusAndHeaders("GET / HTTP/1.1", [("Host", "h.example")], is_http_request=True)
        self._write(url, "request", b"", http)
        return self

    def bytes(self) -> bytes:
        return self._buffer.getvalue()

    def save(self, path: Path) -> Path:
        path.write_bytes(self.bytes())
        return path

    def _write(self, url: str, kind: str, body: bytes, http: StatusAndHeaders) -> None:
        record = self._writer.create_warc_record(url, kind, payload=io.BytesIO(body), http_headers=http)
        self._writer.write_record(record)


def opened(warc: WarcFile, folder: Path, name: str = "web.warc.gz") -> WarcWeb:
    return WarcWeb(warc.save(folder / name), cache_dir=folder / "cache")


@pytest.mark.parametrize("compressed", [True, False])
def test_page_comes_back_with_status_headers_and_body(tmp_path: Path, compressed: bool) -> None:
    headers = [
        *HTML,
        ("Last-Modified", "Wed, 15 Jan 1997 00:00:00 GMT"),
        ("Content-Length", "9"),
        ("Connection", "close"),
    ]
    warc = WarcFile(compressed=compressed).page("http://h.example/a", b"<p>a</p>\n", headers=headers)
    reply = opened(warc.page("http://h.example/b", b"b"), tmp_path).get("http://h.example/a")
    assert (reply.url, reply.status, reply.body, reply.error) == ("http://h.example/a", 200, b"<p>a</p>\n", "")
    assert reply.headers == {
        "content-type": "text/html; charset=utf-8",
        "last-modified": "Wed, 15 Jan 1997 00:00:00 GMT",
    }


def test_what_is_not_held_is_a_404(tmp_path: Path) -> None:
    web = opened(WarcFile().page("http://h.example/a", b"a"), tmp_path)
    for url in (
        "http://h.example/b",
        "https://h.example/a",
        "http://h.example/robots.txt",
        "no url",
        "http://[",
        "\udc80",
    ):
        assert web.get(url).status == 404
        assert url not in web
    assert "http://h.example/a" in web


def test_canonical_spelling_finds_a_default_page(tmp_path: Path) -> None:
    web = opened(WarcFile().page("http://h.example/dir/index.html", b"dir"), tmp_path)
    assert web.get("http://h.example/dir/").body == b"dir"
    assert web.get("HTTP://H.example:80/dir/index.htm#top").body == b"dir"
    assert list(web.urls()) == ["http://h.example/dir/index.html"]


def test_exact_match_beats_canonical_match_in_either_order(tmp_path: Path) -> None:
    index, folder = ("http://h.example/dir/index.html", b"index"), ("http://h.example/dir/", b"folder")
    for number, pages in enumerate([(index, folder), (folder, index)]):
        warc = WarcFile()
        for url, body in pages:
            warc.page(url, body)
        web = opened(warc, tmp_path, f"{number}.warc.gz")
        assert web.get("http://h.example/dir/").body == b"folder"
        assert web.get("http://h.example/dir/index.html").body == b"index"


@pytest.mark.parametrize("redirect_first", [True, False])
def test_redirect_to_its_own_canonical_url_does_not_hide_the_page(tmp_path: Path, redirect_first: bool) -> None:
    warc = WarcFile()
    if redirect_first:
        warc.redirect("http://h.example/dir/", "index.html")
    warc.page("http://h.example/dir/index.html", b"the page")
    if not redirect_first:
        warc.redirect("http://h.example/dir/", "http://h.example/dir/index.html")
    web = opened(warc, tmp_path)
    assert web.get("http://h.example/dir/").body == b"the page"
    assert list(web.urls()) == ["http://h.example/dir/index.html"]


def test_redirect_elsewhere_is_served_with_its_location(tmp_path: Path) -> None:
    warc = WarcFile().redirect("http://h.example/old", "/new").page("http://h.example/new", b"new")
    reply = opened(warc, tmp_path).get("http://h.example/old")
    assert (reply.status, reply.headers["location"]) == (301, "/new")


def test_page_beats_a_redirect_for_a_canonical_name(tmp_path: Path) -> None:
    warc = (
        WarcFile().page("http://h.example/d/index.html", b"page").redirect("http://h.example/d/index.htm", "/elsewhere")
    )
    assert opened(warc, tmp_path).get("http://h.example/d/").status == 200


def test_last_capture_wins(tmp_path: Path) -> None:
    warc = WarcFile().page("http://h.example/a", b"old").page("http://h.example/a", b"new")
    web = opened(warc, tmp_path)
    assert web.get("http://h.example/a").body == b"new"
    assert list(web.urls()) == ["http://h.example/a"]


def test_resource_records_are_served_and_requests_are_not(tmp_path: Path) -> None:
    warc = WarcFile().request("http://h.example/a").resource("http://h.example/r", b"text", "text/plain")
    web = opened(warc.page("http://h.example/z", b"z").request("http://h.example/z"), tmp_path)
    assert web.get("http://h.example/r").headers == {"content-type": "text/plain"}
    assert web.get("http://h.example/r").body == b"text"
    assert web.get("http://h.example/z").body == b"z"
    assert "http://h.example/a" not in web


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ([("Content-Encoding", "gzip")], gzip.compress(b"hello hello", mtime=0)),
        ([("Content-Encoding", "br")], b"\x0b\x05\x80hello hello\x03"),
        ([("Transfer-Encoding", "chunked")], b"6\r\nhello \r\n5\r\nhello\r\n0\r\n\r\n"),
        ([("Content-Encoding", "gzip")], b"hello hello"),  # already decoded by the archiving tool
        ([("Transfer-Encoding", "chunked")], b"hello hello"),
        ([("Content-Encoding", "unheard-of")], b"hello hello"),
    ],
)
def test_encodings_are_undone(tmp_path: Path, headers: list[tuple[str, str]], body: bytes) -> None:
    reply = opened(WarcFile().page("http://h.example/", body, headers=[*HTML, *headers]), tmp_path).get(
        "http://h.example/"
    )
    assert reply.body == b"hello hello"
    assert set(reply.headers) == {"content-type"}


@pytest.mark.parametrize("status", ["20000 OK", "0 Nothing", "99 Early"])
def test_a_number_that_is_no_status_is_not_served(tmp_path: Path, status: str) -> None:
    file = WarcFile().page("http://h.example/a", b"a").page("http://h.example/b", b"b", status=status)
    web = opened(file, tmp_path)
    assert list(web.urls()) == ["http://h.example/a"]
    assert web.warnings == ("records without a URL or an HTTP status: 1; they are not served",)


def test_repeated_headers_are_joined(tmp_path: Path) -> None:
    headers = [("X-Robots-Tag", "noindex"), ("x-robots-tag", "nofollow")]
    web = opened(WarcFile().page("http://h.example/", headers=headers), tmp_path)
    assert web.get("http://h.example/").headers["x-robots-tag"] == "noindex, nofollow"


def test_second_opening_does_not_read_the_archive(tmp_path: Path) -> None:
    path = WarcFile().page("http://h.example/a", b"aaaa").save(tmp_path / "web.warc")
    WarcWeb(path, cache_dir=tmp_path / "cache").close()
    kept = path.stat()
    path.write_bytes(b"\0" * kept.st_size)  # an index that reads the file again would now refuse it
    os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    assert "http://h.example/a" in WarcWeb(path, cache_dir=tmp_path / "cache")
    assert [file.suffix for file in (tmp_path / "cache").iterdir()] == [".index"]


def test_changed_archive_is_indexed_again(tmp_path: Path) -> None:
    path = tmp_path / "web.warc.gz"
    opened(WarcFile().page("http://h.example/a", b"a"), tmp_path).close()
    WarcFile().page("http://h.example/a", b"a").page("http://h.example/b", b"b").save(path)
    assert "http://h.example/b" in WarcWeb(path, cache_dir=tmp_path / "cache")


def test_damaged_index_is_built_again(tmp_path: Path) -> None:
    path = WarcFile().page("http://h.example/a", b"a").save(tmp_path / "web.warc.gz")
    kept = index_path(path, tmp_path / "cache")
    kept.parent.mkdir()
    kept.write_bytes(b"not a database")
    assert WarcWeb(path, cache_dir=tmp_path / "cache").get("http://h.example/a").body == b"a"


def test_index_that_cannot_be_kept_is_a_warning(tmp_path: Path) -> None:
    path = WarcFile().page("http://h.example/a", b"a").save(tmp_path / "web.warc.gz")
    (tmp_path / "taken").write_text("a file where the folder should be")
    web = WarcWeb(path, cache_dir=tmp_path / "taken")
    assert web.get("http://h.example/a").body == b"a"
    assert "cannot save the index" in web.warnings[0]


def test_archive_cut_inside_a_record_serves_what_is_whole(tmp_path: Path) -> None:
    for compressed in (True, False):
        warc = WarcFile(compressed=compressed).page("http://h.example/a", b"first" * 99)
        whole = len(warc.bytes())
        data = warc.page("http://h.example/b", os.urandom(3000)).bytes()
        for cut in (whole + 300, whole + 2000, len(data) - 30):
            path = tmp_path / f"{compressed}{cut}.warc"
            path.write_bytes(data[:cut])
            web = WarcWeb(path, cache_dir=tmp_path / "cache")
            assert list(web.urls()) == ["http://h.example/a"]
            assert web.get("http://h.example/a").body == b"first" * 99
            assert len(web.warnings) == 1


def test_damage_half_way_keeps_the_records_before_it(tmp_path: Path) -> None:
    warc = WarcFile()
    for number in range(5):
        warc.page(f"http://h.example/{number}", os.urandom(500))
    data = bytearray(warc.bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
    path = tmp_path / "web.warc.gz"
    path.write_bytes(data)
    web = WarcWeb(path, cache_dir=tmp_path / "cache")
    assert sorted(web.urls()) == ["http://h.example/0", "http://h.example/1"]
    assert web.warnings
    assert all(web.get(url).status == 200 for url in web.urls())


@pytest.mark.parametrize(
    "data", [b"", b"hello world\n" * 40, b"\x1f\x8bxxxxxxxxx", b"WARC/1.0\r\n", b"\x89PNG\r\n\x1a\n"]
)
def test_file_that_is_no_warc_is_refused_with_its_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "web.warc.gz"
    path.write_bytes(data)
    with pytest.raises(BadWeb, match=r"web\.warc\.gz.*WARC"):
        WarcWeb(path, cache_dir=tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_warc_compressed_as_one_piece_is_refused(tmp_path: Path) -> None:
    plain = WarcFile(compressed=False)
    for number in range(50):
        plain.page(f"http://h.example/{number}", os.urandom(2000))
    path = tmp_path / "web.warc.gz"
    path.write_bytes(gzip.compress(plain.bytes()))
    with pytest.raises(BadWeb, match="one piece"):
        WarcWeb(path, cache_dir=tmp_path / "cache")


def test_record_damaged_after_indexing_is_a_502(tmp_path: Path) -> None:
    path = WarcFile().page("http://h.example/a", b"a").save(tmp_path / "web.warc.gz")
    web = WarcWeb(path, cache_dir=tmp_path / "cache")
    for data in (b"\0" * path.stat().st_size, b""):
        path.write_bytes(data)
        assert web.get("http://h.example/a").status == 502


def test_open_web_knows_a_warc(tmp_path: Path) -> None:
    path = WarcFile().page("http://h.example/a", b"a").save(tmp_path / "web.warc.gz")
    assert open_web(str(path), cache_dir=tmp_path / "cache").get("http://h.example/a").body == b"a"


def test_open_web_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(BadWeb, match=r"nowhere\.warc.*no such file.*WARC file.*folder.*sample"):
        open_web(tmp_path / "nowhere.warc", cache_dir=tmp_path)


@pytest.mark.realweb
def test_webkb_is_served_whole(tmp_path: Path) -> None:
    path = shared_data("webkb/webkb.warc.gz")
    web = open_web(path, cache_dir=tmp_path)
    statuses = [web.get(url).status for url in web.urls()]
    assert statuses.count(200) == 8210
    assert statuses.count(301) == 792  # of 1,074; the other 282 point to another spelling of themselves
