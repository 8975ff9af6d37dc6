"""Exports a crawl as one WARC file: the records archived during the crawl, and the rest reconstructed from its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from crawlproject.errors import BadCrawlDir
from crawlproject.exporting.selection import workers_of
from crawlproject.records import Visit
from crawlproject.storage.history import DigestSet
from crawlproject.storage.logs import read_robots
from crawlproject.storage.page_files import stored_body
from crawlproject.storage.read import read_visits
from crawlproject.storage.warc.archive import FOLDER, key_of
from crawlproject.storage.warc.capture import ArchivedPayloads, IndexEntry, capture
from crawlproject.storage.warc.index import read_entries
from crawlproject.storage.warc.record import Exchange, identity_of, joined, reconstructed, warcinfo

_CHUNK = 1 << 20  # bytes copied at a time
_UNWANTED = "content type "  # prefix of the history's error for a response that is not a page

Write = Callable[[bytes], object]


def write_warc(
    crawl_dir: Path, manifest: dict[str, Any], write: Write, *, name: str, now: float
) -> Iterator[IndexEntry]:
    """Write the records of the crawl; yield an index entry for each response and revisit in the file ``name``.

    The records archived during the crawl (``CRAWL_WARC``), by each worker, come first, unchanged. The other fetches in the
    history are reconstructed: status, stored body with its content type, redirects, failures. Pages that the crawl did not
    store (noarchive, or not a page) are missing, and so are earlier versions that were not kept (``PAGE_VERSIONS``). Duplicates
    and "not modified" responses become revisit records.

    Raises ``BadCrawlDir``.
    """
    there = DigestSet()
    originals = ArchivedPayloads()
    offset = 0
    for folder in _live(crawl_dir):
        for file, entries in groupby(read_entries(folder), key=lambda entry: entry.file):
            held = list(entries)
            for entry in held:
                there.add(entry.key or entry.url)
                originals.note(entry)
                yield replace(entry, file=name, offset=offset + entry.offset, end=offset + entry.end)
            offset += _copy(folder / file, held[-1].end, write)
    identity = identity_of(name, manifest["started"], now, "reconstructed")
    begun = False
    for exchange, key in chain(_robots(crawl_dir, there), _missing(crawl_dir, there)):
        if not begun:
            begun = True
            data = warcinfo(_about(manifest), name=name, at=now, identity=identity).data
            write(data)
            offset += len(data)
        records, entry = capture(exchange, originals, file=name, offset=offset, warcinfo=identity, key=key)
        data = joined(records)
        write(data)
        offset += len(data)
        yield entry


def _robots(crawl_dir: Path, there: DigestSet) -> Iterator[tuple[Exchange, str]]:
    yield from ((exchange, "") for exchange in read_robots(crawl_dir) if exchange.url not in there)


def _missing(crawl_dir: Path, there: DigestSet) -> Iterator[tuple[Exchange, str]]:
    for visit in read_visits(crawl_dir):
        key = key_of(visit)
        exchange = None if key in there else _exchange(crawl_dir, visit)
        if exchange is not None:
            yield exchange, key


def archive_size(crawl_dir: Path) -> int:
    """Return an upper bound of the bytes that ``write_warc`` writes: the archived records, and all bodies uncompressed."""
    live = sum(file.stat().st_size for folder in _live(crawl_dir) for file in folder.glob("*.warc.gz"))
    return live + sum(visit.size + 1_000 for visit in read_visits(crawl_dir))


def _live(crawl_dir: Path) -> list[Path]:
    """Return the folders of the archives written during the crawl, by it and by its workers."""
    return [place / FOLDER for place in (crawl_dir, *workers_of(crawl_dir)) if (place / FOLDER).is_dir()]


def _copy(path: Path, size: int, write: Write) -> int:
    """Copy the first ``size`` bytes of a file; later bytes are not committed. Return ``size``."""
    left = size
    try:
        with path.open("rb") as file:
            while left and (chunk := file.read(min(_CHUNK, left))):
                write(chunk)
                left -= len(chunk)
    except FileNotFoundError:
        pass
    if left:
        raise BadCrawlDir(str(path), f"expected {size:,} bytes according to records.jsonl, but {left:,} are missing")
    return size


def _exchange(crawl_dir: Path, visit: Visit) -> Exchange | None:
    """Return the exchange reconstructed from a fetch; None if that is impossible."""
    if not visit.status:
        return None
    if visit.md5:
        try:
            return reconstructed(visit, stored_body(crawl_dir / "pages", visit))
        except FileNotFoundError:  # the page file was removed, or replaced by a later version
            return None
    if 200 <= visit.status < 300 and not visit.redirect:
        if not visit.error.startswith(_UNWANTED):
            return None
        return reconstructed(replace(visit, content_type=visit.content_type or visit.error.removeprefix(_UNWANTED)))
    return reconstructed(visit)


def _about(manifest: dict[str, Any]) -> dict[str, object]:
    return {
        "software": "topical-crawler",
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "isPartOf": str(manifest["topic"].get("name", "")),
        "description": "Reconstructed from a crawl folder, without requests; headers: content type and redirects only.",
        "topic": {key: manifest["topic"].get(key) for key in ("name", "keywords", "seeds", "language")},
        "ordering": str(manifest.get("ordering", "")),
        "settings": manifest.get("settings", {}),
    }
