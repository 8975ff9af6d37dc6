"""A crawl whose WARC files were cut: it reports the offset, keeps whole records, and archives the lost pages again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.warcs import check, records

from crawlproject.errors import BadCrawlDir
from crawlproject.records import Visit
from crawlproject.storage.warc.archive import CrawlArchive
from crawlproject.storage.warc.capture import IndexEntry
from crawlproject.storage.warc.index import INDEX, mend_index, read_entries
from crawlproject.storage.warc.record import Exchange

PAGES = 9
BODIES = {f"http://a.example/{n}": Random(n if n != 5 else 2).randbytes(600) for n in range(PAGES)}  # 5 is a copy of 2
VISITS = [Visit(url, 200, 1.7e9 + n, md5="x", digest=str(n)) for n, url in enumerate(BODIES)]


def opened(folder: Path) -> CrawlArchive:
    return CrawlArchive(
        folder, "reefs", {"software": "t"}, lambda visit: BODIES[visit.url], clock=float, seed="s", max_bytes=3_000
    )


def archived(folder: Path) -> list[Path]:
    archive = opened(folder)
    for visit in VISITS:
        headers = ((b"Content-Type", b"text/html"),)
        archive.received(visit.url, Exchange(visit.url, 200, headers, BODIES[visit.url], visit.at, request=headers))
        archive.commit(visit)
    archive.close()
    files = sorted((folder / "warc").glob("*.warc.gz"))
    assert len(files) > 2
    return files


def payloads(folder: Path) -> dict[str, bytes]:
    """The payload that a reader of the archive gets for each URL."""
    found, by_digest = {}, {}
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        for kind, url, record, body in records(path):
            digest = record.rec_headers.get_header("WARC-Payload-Digest")
            if kind == "response":
                found[url] = by_digest[digest] = body
            elif kind == "revisit" and digest in by_digest:
                found[url] = by_digest[digest]
    return found


@settings(deadline=None, max_examples=60)
@given(number=st.integers(0, 2), share=st.floats(0, 1, exclude_max=True))
def test_every_cut_is_told_and_no_page_is_missing_afterwards(number: int, share: float) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = archived(folder)[number]
        size = int(path.stat().st_size * share)
        path.write_bytes(path.read_bytes()[:size])
        whole = [entry.key for entry in read_entries(folder / "warc") if entry.file != path.name or entry.end <= size]
        archive = opened(folder)
        [warning] = archive.warnings
        assert f"{path} was cut at byte {size}:" in warning
        again = archive.repair(VISITS)
        assert 0 < PAGES - len(whole) <= again <= PAGES - len(whole) + 1  # and the copy of a page that is lost
        archive.close()
        check(*(folder / "warc").glob("*.warc.gz"))
        assert payloads(folder) == BODIES
        after = opened(folder)
        assert after.warnings == [] and after.repair(VISITS) == 0
        after.close()


@pytest.mark.parametrize("number", [0, 1, -1])
def test_a_file_that_was_removed_is_told(tmp_path: Path, number: int) -> None:
    path = archived(tmp_path)[number]
    path.unlink()
    archive = opened(tmp_path)
    [warning] = archive.warnings
    assert f"{path} is missing:" in warning
    archive.repair(VISITS)
    archive.close()
    assert payloads(tmp_path) == BODIES


def test_an_index_that_was_removed_is_told(tmp_path: Path) -> None:
    files = archived(tmp_path)
    before = [path.read_bytes() for path in files]
    (tmp_path / "warc" / INDEX).unlink()
    archive = opened(tmp_path)
    [warning] = archive.warnings
    assert f"{INDEX} is missing" in warning
    assert archive.repair(VISITS) == PAGES
    archive.close()
    assert [path.read_bytes() for path in files] == before


def test_an_index_that_was_cut_is_told(tmp_path: Path) -> None:
    archived(tmp_path)
    index = tmp_path / "warc" / INDEX
    index.write_bytes(index.read_bytes()[:-300])
    archive = opened(tmp_path)
    assert archive.warnings and all("not in records.jsonl" in told for told in archive.warnings)
    archive.repair(VISITS)
    archive.close()
    assert payloads(tmp_path) == BODIES


@pytest.mark.parametrize(
    "line", [{"file": "../mine.warc.gz"}, {"file": 3}, {"end": "x"}, {"file": "reefs/x.warc.gz"}, {"offset": -1}]
)
def test_an_index_from_elsewhere_names_no_files_elsewhere(tmp_path: Path, line: dict[str, object]) -> None:
    """What an index says of a file that is too short is cut off, or the file is removed."""
    folder, mine = tmp_path / "warc", tmp_path / "mine.warc.gz"
    folder.mkdir()
    mine.write_bytes(b"mine")
    entry = IndexEntry(
        "http://a.example/", "2026-01-01T00:00:00Z", 200, "text/html", "sha1:A", "reefs-0.warc.gz", 0, 9, 9
    )
    (folder / INDEX).write_bytes(orjson.dumps({**asdict(entry), **line}) + b"\n")
    with pytest.raises(BadCrawlDir, match=r"records\.jsonl, line 1"):
        mend_index(folder)
    assert mine.read_bytes() == b"mine"
