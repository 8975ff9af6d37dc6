"""The archive of a crawl: it holds every page that counts, and none that asks not to be kept."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.warcs import check, records

from crawlproject.errors import StorageFailed
from crawlproject.records import Topic, Visit
from crawlproject.storage.warc.archive import CrawlArchive, about
from crawlproject.storage.warc.record import Exchange
from crawlproject.urls.hosts import page_name

TOPIC = Topic("reefs", ("coral",), ("http://a.example/",), description="Of reefs")
URL = "http://a.example/x"
HTML = ((b"Content-Type", b"text/html"),)


def opened(folder: Path, pages: Mapping[str, bytes]) -> CrawlArchive:
    def load(visit: Visit) -> bytes:
        if visit.url not in pages:
            raise FileNotFoundError(visit.url)
        return pages[visit.url]

    description = about(TOPIC, {"crawl_seed": 1}, "dom")
    return CrawlArchive(folder, "reefs", description, load, clock=lambda: 5.0, seed="s", max_bytes=10**9)


def stored(url: str = URL, body: bytes = b"<p>x", **more: object) -> Visit:
    visit = Visit(url, 200, 7.0, md5=page_name(url), digest=str(hash(body)), content_type="text/html")
    return replace(visit, **more)  # type: ignore[arg-type]


def archived(folder: Path) -> list[tuple[str, str, str, bytes]]:
    """Kind, URL, status and payload of the archived responses."""
    paths = sorted((folder / "warc").glob("*.warc.gz"))
    check(*paths)
    return [
        (kind, url, record.http_headers.get_statuscode(), payload)
        for path in paths
        for kind, url, record, payload in records(path)
        if kind in ("response", "revisit")
    ]


def test_what_waits_is_written_with_its_fetch(tmp_path: Path) -> None:
    archive = opened(tmp_path, {URL: b"<p>x"})
    archive.received(URL, Exchange(URL, 200, HTML, b"<p>x", 7.0, request=()))
    assert not list((tmp_path / "warc").glob("*.warc.gz"))
    archive.commit(stored())
    archive.close()
    assert archived(tmp_path) == [("response", URL, "200", b"<p>x")]


def test_a_page_that_asks_not_to_be_kept_is_not(tmp_path: Path) -> None:
    archive = opened(tmp_path, {})
    archive.received(URL, Exchange(URL, 200, HTML, b"<meta name=robots content=noindex>", 7.0))
    archive.commit(Visit(URL, 200, 7.0, error="noindex"))
    archive.close()
    assert archived(tmp_path) == []


def test_failures_and_redirects_are_archived(tmp_path: Path) -> None:
    archive = opened(tmp_path, {})
    archive.received(URL, Exchange(URL, 301, ((b"Location", b"/y"),), b"", 7.0))
    archive.commit(Visit(URL, 301, 7.0, redirect="http://a.example/y"))
    archive.received("http://a.example/y", Exchange("http://a.example/y", 404, HTML, b"gone", 8.0))
    archive.commit(Visit("http://a.example/y", 404, 8.0, error="http 404"))
    archive.commit(Visit("http://b.example/", 0, 9.0, error="TimeoutError"))
    archive.close()
    assert archived(tmp_path) == [("response", URL, "301", b""), ("response", "http://a.example/y", "404", b"gone")]


def test_of_retries_the_last_counts_and_other_spellings_are_kept(tmp_path: Path) -> None:
    archive = opened(tmp_path, {URL: b"<p>x"})
    archive.received(URL, Exchange(URL, 503, (), b"later", 5.0))
    archive.received(URL, Exchange(URL, 301, ((b"Location", b"/x/"),), b"", 6.0))
    archive.received(URL, Exchange(URL + "/", 200, HTML, b"<p>x", 7.0))
    archive.commit(stored())
    archive.close()
    assert archived(tmp_path) == [("response", URL, "301", b""), ("response", URL + "/", "200", b"<p>x")]


def test_a_page_whose_response_was_not_seen_is_archived_as_stored(tmp_path: Path) -> None:
    archive = opened(tmp_path, {URL: b"<p>x"})
    archive.commit(stored())
    archive.received("http://a.example/z", Exchange("http://a.example/z", 503, (), b"later", 5.0))
    archive.commit(stored("http://a.example/no-file", md5=""))
    archive.close()
    assert archived(tmp_path) == [("response", URL, "200", b"<p>x")]


@pytest.mark.parametrize(
    ("encoding", "truncated", "body", "expected"),
    [
        (b"gzip", False, gzip.compress(b"<p>x", mtime=0), b"<p>x"),  # as it came
        (b"gzip", True, gzip.compress(b"<p>x" * 99, mtime=0)[:20], b"<p>x"),  # cannot be undone: as it is stored
        (b"zstd", False, b"(\xb5/\xfd....", b"<p>x"),
        (b"", True, b"<p>x", b"<p>x"),
    ],
)
def test_encodings(tmp_path: Path, encoding: bytes, truncated: bool, body: bytes, expected: bytes) -> None:
    archive = opened(tmp_path, {URL: b"<p>x"})
    headers = (*HTML, (b"Content-Encoding", encoding)) if encoding else HTML
    archive.received(URL, Exchange(URL, 200, headers, body, 7.0, truncated=truncated))
    archive.commit(stored())
    archive.close()
    assert archived(tmp_path) == [("response", URL, "200", expected)]
    _, (_, _, record, _) = records(next((tmp_path / "warc").glob("*.warc.gz")))
    assert record.rec_headers.get_header("WARC-Truncated") == ("length" if truncated else None)
    kept = record.http_headers.get_header("X-Archive-Orig-Content-Encoding")
    assert kept == (encoding.decode() if expected != body and encoding and (truncated or encoding == b"zstd") else None)


def test_what_is_missing_is_put_in(tmp_path: Path) -> None:
    """The archive is switched on in the middle of a crawl; and one fetch has an archived body that differs from the page."""
    pages = {f"http://a.example/{n}": b"<p>%d" % n for n in range(4)}
    visits = [stored(url, body) for url, body in pages.items()]
    archive = opened(tmp_path, pages)
    archive.commit(visits[0])
    archive.commit(stored(visits[1].url, b"another body", digest="other"))
    archive.close()
    again = opened(tmp_path, pages)
    removed = stored("http://a.example/removed")
    assert again.repair([*visits, removed, Visit("http://b.example/", 404, 0.0, error="http 404")]) == 3
    assert again.repair(visits) == 0
    again.close()
    assert [url for _, url, _, _ in archived(tmp_path)] == [visits[n].url for n in (0, 1, 1, 2, 3)]


def test_what_waits_is_bounded(tmp_path: Path) -> None:
    archive = opened(tmp_path, {})
    for number in range(3_000):
        archive.received(f"http://a.example/{number}", Exchange(f"http://a.example/{number}", 200, (), b"", 0.0))
    for number in range(50):
        archive.received(URL, Exchange(f"{URL}?{number}", 301, (), b"", 0.0))
    assert len(archive._waiting) <= 1_000 and len(archive._waiting[URL]) <= 10
    archive.close()


def test_the_description_names_topic_and_settings(tmp_path: Path) -> None:
    archive = opened(tmp_path, {URL: b"<p>x"})
    archive.commit(stored())
    archive.close()
    (kind, _, record, payload), *_ = records(next((tmp_path / "warc").glob("*.warc.gz")))
    assert kind == "warcinfo" and record.rec_headers.get_header("WARC-Date") == "1970-01-01T00:00:05Z"
    assert (
        b'"keywords":["coral"]' in payload
        and b'settings: {"crawl_seed":1}' in payload
        and b"description: Of reefs" in payload
    )


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "warc").write_text("")
    with pytest.raises(StorageFailed):
        opened(tmp_path, {})


def test_an_answer_that_nothing_has_changed_is_a_revisit_of_the_last_payload(tmp_path: Path) -> None:
    archive = opened(tmp_path, {})
    visits = [stored(), stored(body=b"<p>y", number=2, version=2), stored(body=b"<p>y", number=3, status=304, md5="")]
    for visit, body in zip(visits, (b"<p>x", b"<p>y", b""), strict=True):
        if visit.status == 304:  # after a resume
            archive.close()
            archive = opened(tmp_path, {URL: b"<p>y"})
            assert not archive.repair(visits[:2])
        archive.received(URL, Exchange(URL, visit.status, HTML, body, 7.0 + visit.number, request=()))
        archive.commit(visit)
    archive.received("http://a.example/unknown", Exchange("http://a.example/unknown", 304, (), b"", 11.0, request=()))
    archive.commit(stored("http://a.example/unknown", number=2, status=304, md5=""))
    archive.close()
    assert archived(tmp_path) == [
        ("response", URL, "200", b"<p>x"),
        ("response", URL, "200", b"<p>y"),
        ("revisit", URL, "304", b""),
        ("revisit", "http://a.example/unknown", "304", b""),
    ]
    found = [record.rec_headers for path in (tmp_path / "warc").glob("*.gz") for kind, _, record, _ in records(path)]
    revisit, unknown = [each for each in found if each.get_header("WARC-Type") == "revisit"]
    (second,) = [each for each in found if each.get_header("WARC-Date") == "1970-01-01T00:00:09Z"][:1]
    assert revisit.get_header("WARC-Profile") == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert revisit.get_header("WARC-Refers-To-Target-URI") == URL
    assert revisit.get_header("WARC-Refers-To-Date") == "1970-01-01T00:00:09Z"
    assert revisit.get_header("WARC-Payload-Digest") == second.get_header("WARC-Payload-Digest")
    assert unknown.get_header("WARC-Refers-To-Date") is None and unknown.get_header("WARC-Payload-Digest") is None


def test_a_page_that_asks_not_to_be_kept_any_more_is_not(tmp_path: Path) -> None:
    archive = opened(tmp_path, {URL: b"<p>x"})
    archive.received(URL, Exchange(URL, 200, HTML, b"<p>secret", 8.0, request=()))
    archive.commit(stored(number=2, md5="", error="noindex", change="gone"))
    archive.close()
    assert archived(tmp_path) == []
