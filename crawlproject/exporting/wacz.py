"""Exports a crawl as WACZ 1.1.1: a zip file of archive, index and page list that replays in a browser without a server."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import orjson

from crawlproject.exporting.selection import Item, Selection, read_items
from crawlproject.exporting.warc import archive_size, write_warc
from crawlproject.storage.append_log import ITEMS
from crawlproject.storage.warc.index import cdxj_line, idx_head, sorted_lines, zipnum
from crawlproject.storage.warc.record import date_of
from crawlproject.urls.post import is_digest, is_post

VERSION = "1.1.1"
_LARGE = 1_800_000_000  # bytes; a larger file may need the headers of zip64
_ARCHIVE = "archive/data.warc.gz"
_INDEX, _SECOND = "indexes/index.cdx.gz", "indexes/index.idx"
_PAGES, _EXTRA = "pages/pages.jsonl", "pages/extraPages.jsonl"


def write_wacz(crawl_dir: Path, manifest: dict[str, Any], file: BinaryIO, selection: Selection, *, now: float) -> int:
    """Write the package; return the number of pages it lists.

    It contains the whole crawl. Selected pages are listed in ``pages.jsonl``, the others in ``extraPages.jsonl``; both include
    the text of the pages, for full-text search during replay. Raises ``BadCrawlDir``.
    """
    with ZipFile(file, "w") as package:
        parts = _Parts(package)
        name = _ARCHIVE.rpartition("/")[2]
        with tempfile.TemporaryFile() as unsorted:
            with parts.part(_ARCHIVE, expected=archive_size(crawl_dir)) as part:
                for entry in write_warc(crawl_dir, manifest, part.write, name=name, now=now):
                    if not is_digest(entry.url):  # the body of the request is unknown
                        unsorted.write(cdxj_line(entry))
            unsorted.seek(0)
            _write_index(parts, unsorted)
        count = 0
        text = (crawl_dir / ITEMS).stat().st_size
        with parts.part(_PAGES, ZIP_DEFLATED, expected=text) as part:
            part.write(_line({"format": "json-pages-1.0", "id": "pages", "title": "All pages", "hasText": True}))
            for item in _shown(read_items(crawl_dir, selection)):
                part.write(_line(_page(item)))
                count += 1
        others = _shown(item for item in read_items(crawl_dir) if not selection.takes(item))
        _write_others(parts, others, text)
        topic = manifest["topic"]
        _write_description(package, parts, str(topic.get("name") or "crawl"), str(topic.get("description") or ""), now)
    return count


def _shown(items: Iterable[Item]) -> Iterator[Item]:
    """Return the items that a replay can open by URL; responses to POST are in the archive and its index only."""
    return (item for item in items if not is_post(item["url"]))


class _Parts:
    """Writes the files of the package and records their digests."""

    def __init__(self, package: ZipFile) -> None:
        self._package = package
        self.resources: list[dict[str, object]] = []

    @contextmanager
    def part(self, path: str, compression: int = ZIP_STORED, *, expected: int = 0) -> Iterator[_Part]:
        """Write a file of the package. If ``expected`` bytes may exceed 2 GiB, it gets the long headers of zip64.

        Smaller files must not have these: replay tools compute the offset of the content from the short headers.
        """
        info = ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
        info.compress_type = compression
        with self._package.open(info, "w", force_zip64=expected > _LARGE) as file:
            part = _Part(file)
            yield part
        name = path.rpartition("/")[2]
        self.resources.append({"name": name.lower(), "path": path, "hash": part.hash, "bytes": part.size})


class _Part:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = sha256()
        self.size = 0

    @property
    def hash(self) -> str:
        return f"sha256:{self._digest.hexdigest()}"

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._digest.update(data)
        self.size += len(data)


def _write_index(parts: _Parts, lines: Iterable[bytes]) -> None:
    name = _INDEX.rpartition("/")[2]
    second = [idx_head(name)]
    with parts.part(_INDEX) as part:
        for block, line in zipnum(sorted_lines(lines), name):
            part.write(block)
            second.append(line)
    with parts.part(_SECOND) as part:
        part.write(b"".join(second))


def _write_others(parts: _Parts, others: Iterable[Item], text: int) -> None:
    """Write the list of the other pages, unless it is empty."""
    iterator = iter(others)
    first = next(iterator, None)
    if first is None:
        return
    with parts.part(_EXTRA, ZIP_DEFLATED, expected=text) as part:
        part.write(_line({"format": "json-pages-1.0", "id": "extra-pages", "title": "Other pages", "hasText": True}))
        part.write(_line(_page(first)))
        for item in iterator:
            part.write(_line(_page(item)))


def _page(item: Item) -> dict[str, object]:
    page = {
        "id": item["md5"],
        "url": item["url"],
        "ts": date_of(item["at"]),
        "title": item["title"],
        "text": item["text"],
    }
    return {**page, "relevance": item["relevance"]}


def _write_description(package: ZipFile, parts: _Parts, title: str, description: str, now: float) -> None:
    found: Mapping[str, object] = {
        "profile": "data-package",
        "wacz_version": VERSION,
        "title": title,
        "description": description,
        "software": "topical-crawler",
        "created": date_of(now),
        "resources": parts.resources,
    }
    document = orjson.dumps(found, option=orjson.OPT_INDENT_2)
    package.writestr(ZipInfo("datapackage.json", (1980, 1, 1, 0, 0, 0)), document)
    digest = {"path": "datapackage.json", "hash": f"sha256:{sha256(document).hexdigest()}"}
    package.writestr(ZipInfo("datapackage-digest.json", (1980, 1, 1, 0, 0, 0)), orjson.dumps(digest))


def _line(record: Mapping[str, object]) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
