"""WARC files that grow with a crawl: valid at any moment, whole again after a kill."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.warcs import check, records

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.storage.warc.files import WarcFiles
from crawlproject.storage.warc.index import INDEX, read_entries
from crawlproject.storage.warc.record import (
    Exchange,
    WrittenRecord,
    date_of,
    request_block,
    response_block,
    stamp_of,
    warcinfo,
)

HTML = ((b"Content-Type", b"text/html; charset=utf-8"), (b"Server", b"Reef/1.0"))
SENT = ((b"User-Agent", b"tests"), (b"Accept", b"text/html"))


def an_exchange(number: int = 0, body: bytes | None = None, **more: object) -> Exchange:
    body = f"<p>page {number}".encode() if body is None else body
    exchange = Exchange(f"http://a.example/{number}", 200, HTML, body, 1_700_000_000.0 + number, request=SENT)
    return replace(exchange, **more)  # type: ignore[arg-type]


def describe(name: str, identity: str) -> WrittenRecord:
    return warcinfo({"software": "tests", "topic": {"name": "reefs"}}, name=name, at=0.0, identity=identity)


def opened(folder: Path, max_bytes: int = 10**9) -> WarcFiles:
    return WarcFiles(folder, "reefs", describe, seed="s", max_bytes=max_bytes)


def archived(folder: Path) -> list[str]:
    """The URLs of responses and revisits, read from the files."""
    return [url for path in warcs(folder) for kind, url, _, _ in records(path) if kind in ("response", "revisit")]


def warcs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.warc.gz"))


def test_a_file_begins_with_its_description(tmp_path: Path) -> None:
    files = opened(tmp_path)
    files.append(an_exchange())
    files.close()
    [path] = warcs(tmp_path)
    check(path)
    (kind, _, _, payload), *_ = records(path)
    assert kind == "warcinfo" and b"software: tests\r\n" in payload and b'topic: {"name":"reefs"}\r\n' in payload


def test_request_and_response_as_they_were(tmp_path: Path) -> None:
    files = opened(tmp_path)
    files.append(an_exchange(7, ip="203.0.113.9"))
    files.close()
    _, (kind, url, response, body), (other, asked, request, _) = records(warcs(tmp_path)[0])
    assert (kind, url, body) == ("response", "http://a.example/7", b"<p>page 7")
    assert response.http_headers.statusline == "200 OK"
    assert response.http_headers.get_header("Server") == "Reef/1.0"
    assert response.rec_headers.get_header("WARC-IP-Address") == "203.0.113.9"
    assert response.rec_headers.get_header("WARC-Date") == "2023-11-14T22:13:27Z"
    assert (other, asked) == ("request", url)
    assert request.rec_headers.get_header("WARC-Concurrent-To") == response.rec_headers.get_header("WARC-Record-ID")
    assert request.http_headers.protocol == "GET" and request.http_headers.get_header("Host") == "a.example"


def test_a_copy_is_a_revisit(tmp_path: Path) -> None:
    files = opened(tmp_path)
    for number in range(3):
        files.append(an_exchange(number, body=b"<p>the same" if number != 1 else b""))
    files.close()
    check(*warcs(tmp_path))
    responses = [found for found in records(warcs(tmp_path)[0]) if found[0] in ("response", "revisit")]
    assert [kind for kind, *_ in responses] == ["response", "response", "revisit"]
    headers, original = responses[2][2].rec_headers, responses[0][2].rec_headers
    assert headers.get_header("WARC-Refers-To-Target-URI") == "http://a.example/0"
    assert headers.get_header("WARC-Refers-To-Date") == original.get_header("WARC-Date")
    assert headers.get_header("WARC-Payload-Digest") == original.get_header("WARC-Payload-Digest")
    assert responses[2][2].http_headers.get_header("Content-Type") == "text/html; charset=utf-8"


def test_a_copy_is_known_after_a_resume(tmp_path: Path) -> None:
    for number in range(2):
        files = opened(tmp_path)
        files.append(an_exchange(number, body=b"<p>the same"))
        files.close()
    kinds = " ".join(kind for kind, *_ in records(warcs(tmp_path)[0]))
    assert kinds == "warcinfo response request revisit request"
    check(*warcs(tmp_path))


def test_files_are_rotated(tmp_path: Path) -> None:
    random = Random(1)
    files = opened(tmp_path, max_bytes=5_000)
    for number in range(10):
        files.append(an_exchange(number, body=random.randbytes(2_000)))
    files.close()
    assert [path.name for path in warcs(tmp_path)] == [f"reefs-0000{number}.warc.gz" for number in range(5)]
    check(*warcs(tmp_path))
    assert archived(tmp_path) == [f"http://a.example/{number}" for number in range(10)]
    entries = list(read_entries(tmp_path))
    for entry in entries:
        data = (tmp_path / entry.file).read_bytes()[entry.offset : entry.offset + entry.length]
        alone = tmp_path / "alone.warc.gz"
        alone.write_bytes(data)
        assert [url for _, url, _, _ in records(alone)] == [entry.url]
        alone.unlink()


@pytest.mark.parametrize("torn", [b"\x1f\x8b\x08\x00garbage", b"", b"x" * 100_000])
def test_what_was_not_committed_is_cut_off(tmp_path: Path, torn: bytes) -> None:
    files = opened(tmp_path)
    files.append(an_exchange(0))
    files.close()
    with warcs(tmp_path)[0].open("ab") as file:
        file.write(torn)
    again = opened(tmp_path)
    again.append(an_exchange(1))
    again.close()
    check(*warcs(tmp_path))
    assert archived(tmp_path) == ["http://a.example/0", "http://a.example/1"]


def test_bytes_that_a_power_failure_took(tmp_path: Path) -> None:
    files = opened(tmp_path)
    for number in range(4):
        files.append(an_exchange(number))
    files.close()
    third = list(read_entries(tmp_path))[2]
    path = warcs(tmp_path)[0]
    path.write_bytes(path.read_bytes()[: third.end - 1])
    again = opened(tmp_path)
    assert [entry.url for entry in read_entries(tmp_path)] == ["http://a.example/0", "http://a.example/1"]
    again.append(an_exchange(9))
    again.close()
    check(path)
    assert archived(tmp_path) == [f"http://a.example/{number}" for number in (0, 1, 9)]


def test_a_file_that_was_begun_and_no_more(tmp_path: Path) -> None:
    """The crawl was killed after the first bytes of a new file, before anything in it was committed."""
    files = opened(tmp_path, max_bytes=1)
    files.append(an_exchange(0))
    files.close()
    (tmp_path / "reefs-00001.warc.gz").write_bytes(b"\x1f\x8b torn")
    again = opened(tmp_path, max_bytes=1)
    again.append(an_exchange(1))
    again.close()
    check(*warcs(tmp_path))
    assert archived(tmp_path) == ["http://a.example/0", "http://a.example/1"]


def test_unknown_files_stay(tmp_path: Path) -> None:
    """The index was lost: no file is overwritten."""
    files = opened(tmp_path)
    files.append(an_exchange(0))
    files.close()
    before = warcs(tmp_path)[0].read_bytes()
    (tmp_path / INDEX).unlink()
    again = opened(tmp_path)
    again.append(an_exchange(1))
    again.close()
    assert warcs(tmp_path)[0].read_bytes() == before
    assert archived(tmp_path) == ["http://a.example/0", "http://a.example/1"]


def test_no_two_records_have_one_name(tmp_path: Path) -> None:
    for number in range(6):
        files = opened(tmp_path, max_bytes=1_500)
        files.append(an_exchange(number, body=b"same"))
        files.append(an_exchange(number, body=b"same"))
        files.close()
    names = [
        each.rec_headers.get_header("WARC-Record-ID") for path in warcs(tmp_path) for _, _, each, _ in records(path)
    ]
    assert len(names) == len(set(names)) and all(name.startswith("<urn:uuid:") for name in names)


def test_a_disk_that_refuses(tmp_path: Path) -> None:
    files = opened(tmp_path / "warc")
    files.append(an_exchange(0))
    (tmp_path / "warc" / "reefs-00001.warc.gz").mkdir()
    files._max_bytes = 1
    with pytest.raises(StorageFailed, match="reefs-00001"):
        files.append(an_exchange(1))
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed):
        opened(tmp_path / "file")


def test_a_refusal_at_the_end_names_the_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = opened(tmp_path)
    files.append(an_exchange())
    [path] = warcs(tmp_path)
    index = (tmp_path / INDEX).stat()

    def force(file: int) -> None:
        if refused is None or os.path.samestat(os.fstat(file), refused):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    refused = index
    monkeypatch.setattr(os, "fsync", force)
    with pytest.raises(StorageFailed) as failed:
        files.close()
    assert str(failed.value) == f"cannot write to {tmp_path / INDEX}: [Errno 5] Input/output error"
    files, refused = opened(tmp_path), None
    with pytest.raises(StorageFailed) as failed:
        files.close()
    assert str(failed.value) == f"cannot write to {path}: [Errno 5] Input/output error"


def test_a_damaged_index_is_reported(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text('{"oops": 1}\n')
    with pytest.raises(BadCrawlDir, match=r"records\.jsonl"):
        opened(tmp_path)


# ------------------------------------------------------------ blocks


def test_headers_of_the_transfer_are_kept_under_another_name() -> None:
    headers = ((b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"999"), (b"Content-Encoding", b"gzip"))
    block, start = response_block(Exchange("http://a.example/", 200, headers, b"abc", 0.0))
    assert block[:start].decode().split("\r\n") == [
        "HTTP/1.1 200 OK",
        "X-Archive-Orig-Transfer-Encoding: chunked",
        "X-Archive-Orig-Content-Length: 999",
        "Content-Encoding: gzip",
        "Content-Length: 3",
        "",
        "",
    ]
    assert block[start:] == b"abc"


def test_a_header_cannot_begin_another_line_or_the_body() -> None:
    evil = ((b"X", b"a\r\nSet-Cookie: b\r\n\r\n<script>"), (b"Y\n", b"c"))
    block, start = response_block(Exchange("http://a.example/", 200, evil, b"", 0.0))
    assert block[:start].count(b"\r\n") == 5 and b"\n" not in block[:start].replace(b"\r\n", b"")


@pytest.mark.parametrize(
    ("url", "line", "host"),
    [
        ("http://a.example/", "GET / HTTP/1.1", "a.example"),
        ("http://a.example", "GET / HTTP/1.1", "a.example"),
        ("http://a.example:8080/x?y=/z", "GET /x?y=/z HTTP/1.1", "a.example:8080"),
        ("https://a.example?q=1/2", "GET /?q=1/2 HTTP/1.1", "a.example"),
        ("http://user:secret@a.example/x", "GET /x HTTP/1.1", "a.example"),
    ],
)
def test_the_first_lines_of_a_request(url: str, line: str, host: str) -> None:
    lines = request_block(Exchange(url, 200, (), b"", 0.0, request=())).decode().split("\r\n")
    assert lines[:2] == [line, f"Host: {host}"]


def test_secrets_stay_out() -> None:
    sent = (
        (b"Authorization", b"Basic c2VjcmV0"),
        (b"Cookie", b"id=1"),
        (b"Proxy-Authorization", b"x"),
        (b"Accept", b"*/*"),
    )
    block = request_block(Exchange("http://a.example/", 200, (), b"", 0.0, request=sent))
    assert block == b"GET / HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n\r\n"


def test_dates() -> None:
    assert date_of(1_709_971_200.9) == "2024-03-09T08:00:00Z"
    assert stamp_of("2024-03-09T08:00:00Z") == "20240309080000"
    assert date_of(-1.0) == "1970-01-01T00:00:00Z"


names = st.binary(min_size=1, max_size=20)
headers = st.lists(st.tuples(st.from_regex(rb"[A-Za-z-]{1,12}", fullmatch=True), st.binary(max_size=30)), max_size=5)


@example(b"", [], 304, "", [True])
@example(b"x", [], 304, "", [True])
@given(
    st.binary(max_size=200), headers, st.integers(100, 599), st.text(max_size=20), st.lists(st.booleans(), max_size=4)
)
def test_whatever_came_is_a_valid_archive(
    tmp_path_factory: pytest.TempPathFactory,
    body: bytes,
    received: list[tuple[bytes, bytes]],
    status: int,
    path: str,
    again: list[bool],
) -> None:
    folder = tmp_path_factory.mktemp("warc")
    files = opened(folder)
    exchange = Exchange(f"http://a.example/{path}", status, tuple(received), body, 0.0, request=tuple(received))
    for _ in [True, *again]:
        files.append(exchange)
    files.close()
    [warc] = warcs(folder)
    check(warc)
    kinds = [kind for kind, *_ in records(warc)]
    copies = (
        1 + len(again) if status == 304 else len(again) if body else 0
    )  # 304: the page is as it was archived before
    assert kinds.count("revisit") == copies and kinds.count("response") == 1 + len(again) - copies
    assert len((folder / INDEX).read_bytes().splitlines()) == 1 + len(again)
    assert all(json.loads(line)["status"] == status for line in (folder / INDEX).read_bytes().splitlines())
