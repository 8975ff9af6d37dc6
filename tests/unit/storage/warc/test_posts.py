"""A POST in an archive: its request with the body, an index in the format of other tools, and the response found again."""

from __future__ import annotations

import io
import json
from gzip import compress
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.warcs import cdxj, check, records
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawlproject.records import Reply, Visit
from crawlproject.storage.warc.files import WarcFiles
from crawlproject.storage.warc.index import cdxj_line, read_entries, sorted_lines
from crawlproject.storage.warc.record import Exchange, reconstructed, warcinfo
from crawlproject.urls.post import FORM_TYPE, post_url
from crawlproject.webs.base import answer
from crawlproject.webs.open import CrawledWeb
from crawlproject.webs.warc_file import WarcWeb

PLACE = "http://a.example/find"
HTML = ((b"Content-Type", b"text/html"),)


def asked(body: bytes, text: bytes, place: str = PLACE) -> Exchange:
    sent = ((b"User-Agent", b"crawler"), (b"Content-Type", FORM_TYPE.encode()))
    return Exchange(place, 200, HTML, text, 1_700_000_000.0, method="POST", request=sent, sent=body)


def write(folder: Path, *exchanges: Exchange) -> Path:
    files = WarcFiles(
        folder, "x", lambda name, urn: warcinfo({}, name=name, at=0.0, identity=urn), seed="s", max_bytes=10**9
    )
    for exchange in exchanges:
        files.append(exchange)
    files.close()
    (path,) = folder.glob("*.warc.gz")
    return path


def test_the_records_are_those_of_a_post(tmp_path: Path) -> None:
    path = write(tmp_path, asked(b"q=coral+reef", b"<p>one"), asked(b"q=kelp", b"<p>one"))
    check(path)
    found = records(path)
    assert [(kind, url) for kind, url, _, _ in found[1:]] == [
        ("response", PLACE),
        ("request", PLACE),
        ("revisit", PLACE),
        ("request", PLACE),
    ]
    request = found[2][2]
    assert (request.http_headers.protocol, found[2][3]) == ("POST", b"q=coral+reef")
    assert request.http_headers.get_header("Content-Length") == "12"
    assert request.http_headers.get_header("Content-Type") == FORM_TYPE
    assert found[3][2].rec_headers.get_header("WARC-Refers-To-Target-URI") == PLACE


def test_the_index_is_that_of_others(tmp_path: Path) -> None:
    plain = Exchange(PLACE, 200, HTML, b"<p>form", 1_700_000_000.0, request=())
    odd = urlencode({"q": "Riff (é)", "in": "a/b & c", "empty": ""}).encode()
    path = write(
        tmp_path,
        plain,
        asked(b"q=coral+reef&lang=en", b"<p>one"),
        asked(odd, b"<p>two", "https://b.example/i.php?do=find"),
    )
    ours = [line.decode() for line in sorted_lines(map(cdxj_line, read_entries(tmp_path)))]
    theirs = cdxj(path, "--post-append")
    for line, other in zip(ours, theirs, strict=True):
        (key, _, fields), (their_key, _, their_fields) = line.split(" ", 2), other.split(" ", 2)
        said, their = json.loads(fields), json.loads(their_fields)
        assert key == their_key and said == their


def test_a_fetch_in_the_history_is_reconstructed_with_its_request() -> None:
    made = reconstructed(Visit(post_url(PLACE, "q=reef"), 200, 7.0, md5="x"), b"<p>")
    assert (made.url, made.method, made.sent, made.identity) == (PLACE, "POST", b"q=reef", post_url(PLACE, "q=reef"))
    assert dict(made.request or ())[b"Content-Type"] == FORM_TYPE.encode()


def test_answers_are_found_by_what_was_sent(tmp_path: Path) -> None:
    get = Exchange(PLACE, 200, HTML, b"<p>form", 1_700_000_000.0, request=())
    path = write(tmp_path, asked(b"q=a", b"<p>a"), get, asked(b"q=b", b"<p>b"), asked(b"q=c", b"<p>a"))
    web = WarcWeb(path, cache_dir=tmp_path / "cache")
    assert [web.get(post_url(PLACE, f"q={word}")).body for word in "abc"] == [b"<p>a", b"<p>b", b"<p>a"]
    assert web.get(PLACE).body == b"<p>form" and post_url(PLACE, "q=d") not in web and list(web.urls()) == [PLACE]
    assert answer(web, "POST", PLACE, {}, b"q=b") == Reply(PLACE, 200, {"content-type": "text/html"}, b"<p>b")
    for sent in (b"q=d", b"", b"\xff", b"a b", b"#"):
        assert answer(web, "POST", PLACE, {}, sent).status == 405
    assert answer(web, "PUT", PLACE, {}, b"q=b").status == 405


@pytest.mark.parametrize("request_first", [True, False])
@pytest.mark.parametrize("named_by", ["request", "response"])
def test_archives_of_other_tools_are_read(tmp_path: Path, request_first: bool, named_by: str) -> None:
    """A form, an upload by POST, a PUT and a GET of one URL: only requests that can be repeated are served."""
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True)
    bodies = [
        ("POST", FORM_TYPE, b"q=a"),
        ("POST", "multipart/form-data; boundary=x", b"--x--"),
        ("PUT", FORM_TYPE, b"q=a"),
    ]
    for number, (method, kind, body) in enumerate([*bodies, ("GET", "", b"")]):
        lines = [("Host", "a.example"), ("Content-Type", kind)]
        head = StatusAndHeaders(f"{method} /find HTTP/1.1", lines, is_http_request=True)
        request = writer.create_warc_record(PLACE, "request", payload=io.BytesIO(body), http_headers=head)
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        text = io.BytesIO(f"<p>{number}".encode())
        response = writer.create_warc_record(PLACE, "response", payload=text, http_headers=head)
        one, other = (request, response) if named_by == "request" else (response, request)
        one.rec_headers.add_header("WARC-Concurrent-To", other.rec_headers.get_header("WARC-Record-ID"))
        for record in (request, response) if request_first else (response, request):
            writer.write_record(record)
    (tmp_path / "web.warc.gz").write_bytes(buffer.getvalue())
    web = WarcWeb(tmp_path / "web.warc.gz", cache_dir=tmp_path / "cache")
    assert web.get(post_url(PLACE, "q=a")).body == b"<p>0" and web.get(PLACE).body == b"<p>3"
    assert list(web.urls()) == [PLACE] and not web.warnings


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(line=st.text(max_size=30), kind=st.sampled_from([FORM_TYPE, "", "x"]), body=st.binary(max_size=30))
def test_no_request_breaks_the_reading(tmp_path: Path, line: str, kind: str, body: bytes) -> None:
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True)
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    writer.write_record(writer.create_warc_record(PLACE, "response", payload=io.BytesIO(b"<p>"), http_headers=head))
    block = f"{line} HTTP/1.1\r\nContent-Type: {kind}\r\n\r\n".encode("utf-8", "replace") + body
    named = f"WARC-Type: request\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Target-URI: {PLACE}\r\n"
    named += f"Content-Type: application/http; msgtype=request\r\nContent-Length: {len(block)}\r\n\r\n"
    request = f"WARC/1.1\r\n{named}".encode() + block + b"\r\n\r\n"
    path = tmp_path / "web.warc.gz"
    path.write_bytes(buffer.getvalue() + compress(request) + buffer.getvalue())
    assert WarcWeb(path, cache_dir=tmp_path / uuid4().hex).get(PLACE).status == 200


def test_a_crawl_folder_serves_answers_and_lists_pages(tmp_path: Path) -> None:
    lines = []
    for url, name in ((PLACE, "0" * 32), (post_url(PLACE, "q=a"), "1" * 32)):
        path = tmp_path / "pages" / name[:2] / name[2:4] / name
        path.parent.mkdir(parents=True)
        path.write_text(f"<p>{name}")
        lines.append(json.dumps({"url": url, "status": 200, "seconds": 0, "md5": name, "redirect": "", "error": ""}))
    (tmp_path / "history.jsonl").write_text("".join(f"{line}\n" for line in lines))
    web = CrawledWeb(tmp_path)
    assert web.get(post_url(PLACE, "q=a")).body == b"<p>" + b"1" * 32 and web.get(PLACE).body == b"<p>" + b"0" * 32
    assert web.get(post_url(PLACE, "q=b")).status == 404 and list(web.urls()) == [PLACE]
