"""The records of all URLs, one line of JSON each, compressed; and the check for files that were removed or cut from outside.
Zeros in place of lost data would read as unknown URLs, so a damaged frontier is not opened.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, trying_to
from crawlproject.frontier.changes import json_number, read_key, written_kind
from crawlproject.frontier.disk.block_file import BlockFile, place_of
from crawlproject.frontier.disk.mapped_file import closer
from crawlproject.records import ACTIVE, CrawlUrl
from crawlproject.storage.append_log import json_of

MAPPED = ("rows", "times", "seen", "seen.map", "hosts", "hosts.map")
RECORDS = "urls.jsonl.zst"
EARLIER = "urls.jsonl"  # of versions before 4
REMEDY = "restore the folder; or remove it, then a topical crawl makes it again from its history and pages"

_COMPRESSED = 1 << 63  # the bit of an offset that says that it is in ``RECORDS``
_READ = 512  # bytes of the first read; a longer line takes a second one


class UrlRecords:
    """``urls.jsonl.zst``. A line holds what never changes in a ``CrawlUrl``: all but its score, its class and ``not_before``.

    Lines are gathered until ``write``; until then, ``load`` finds them in memory. A folder of an earlier version also has
    lines in ``urls.jsonl``. Raises ``StorageFailed``, and ``BadCrawlDir`` for a line that cannot be read.
    """

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        self._folder = folder
        self._earlier = EarlierRecords(folder / EARLIER) if (folder / EARLIER).exists() else None
        is_absent = readonly and self._earlier is not None and not (folder / RECORDS).exists()
        self._file = file = BlockFile(Path(os.devnull) if is_absent else folder / RECORDS, readonly=readonly)
        self.unwritten = file.unwritten
        self.write, self.sync = file.write, file.sync

    @property
    def end(self) -> int:
        """The size of the file in bytes once everything is written."""
        return self._file.end

    def add(self, record: CrawlUrl) -> int:
        """Add a record. Return its offset."""
        key, parent = record.key, record.parent
        fields = [key, record.depth, parent, record.anchor, json_number(record.context_score)]
        kind = written_kind(key, parent, record.kind)
        if record.inherited or record.request is not None or kind:
            fields += [[*map(json_number, record.inherited)], record.request]
        if kind:
            fields.append(kind)
        return self._file.add(json_of(fields, orjson.OPT_APPEND_NEWLINE)) | _COMPRESSED

    def load(self, offset: int, score: float, not_before: float, precedence: int = ACTIVE) -> CrawlUrl:
        """The record at ``offset``, with this score, time and class."""
        try:
            key, depth, parent, anchor, context_score, *more = self._fields(offset)
            inherited, request, *named = more or ((), None)
            url, kind, variant = read_key(key, parent, *named)
            inherited = tuple(map(float, inherited))
            context = float(context_score)
        except (AttributeError, TypeError, ValueError) as damage:
            if isinstance(damage, BadCrawlDir):
                raise
            raise self.damage(offset, damage) from None
        return CrawlUrl(
            url, score, depth, parent, anchor, context, not_before, inherited, request, kind, variant, precedence
        )

    def url(self, offset: int) -> str:
        """The key of the record at ``offset``."""
        return self._fields(offset)[0]

    def cut(self, end: int, *, is_earlier: bool = False) -> None:
        """Remove what follows ``end``: lines of a step that has not happened. ``is_earlier``: ``end`` is in the file of an
        earlier version; the present file then has no valid lines yet.
        """
        if is_earlier and self._earlier is not None:
            self._earlier.cut(end)
        self._file.cut(0 if is_earlier else end)

    def close(self) -> None:
        self._file.close()
        if self._earlier is not None:
            self._earlier.close()

    def damage(self, offset: int, damage: object) -> BadCrawlDir:
        """The error for a record that cannot be used."""
        is_earlier = self._earlier is not None and not offset & _COMPRESSED
        path, place = (EARLIER, offset) if is_earlier else (RECORDS, place_of(offset & ~_COMPRESSED))
        where = f"{self._folder / path}, byte {place}"
        return BadCrawlDir(where, f"expected a record of a URL ({damage}); {REMEDY}")

    def _fields(self, offset: int) -> list[Any]:
        try:
            if offset & _COMPRESSED or self._earlier is None:
                return orjson.loads(self._file.line(offset & ~_COMPRESSED))
            return orjson.loads(self._earlier.line(offset))
        except ValueError as damage:
            raise self.damage(offset, damage) from None


class EarlierRecords:
    """``urls.jsonl``, to which versions before 4 appended the records. Offsets are in bytes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with trying_to("open", path):
            self._file = os.open(path, os.O_CLOEXEC | os.O_RDONLY)
            self.close = closer(self, self._file)

    def line(self, offset: int) -> bytes:
        """The line at this offset, without its line break."""
        size = _READ
        while True:
            with trying_to("read", self._path):
                data = os.pread(self._file, size, offset)
            end = data.find(b"\n")
            if end >= 0 or len(data) < size:
                return data[:end]
            size *= 8

    def cut(self, end: int) -> None:
        """Remove what follows ``end``."""
        with trying_to("write to", self._path):
            os.truncate(self._path, end)


def sizes_of(folder: Path) -> dict[str, int]:
    """The sizes in bytes of the mapped files, which never shrink, and of the records."""
    return {name: _size(folder / name) for name in (*MAPPED, RECORDS, EARLIER)}


def refuse_losses(folder: Path, found: Mapping[str, int], expected: Mapping[str, int]) -> None:
    """Raises ``BadCrawlDir`` when a file, which has ``found`` bytes now, was longer before."""
    for name, size in expected.items():
        _refuse_shorter(folder / name, found[name], size)


def refuse_stateless(folder: Path) -> None:
    """Raises ``BadCrawlDir`` when there are records of URLs although ``state.json`` is missing."""
    for name in (RECORDS, EARLIER):
        if _size(folder / name):
            raise BadCrawlDir(str(folder / "state.json"), f"missing, although {name} is there; {REMEDY}")


def refuse_cut_journal(path: Path, piece: int) -> None:
    """Raises ``BadCrawlDir`` for a journal that is missing, or no longer made of whole pieces of ``piece`` bytes."""
    size = _size(path)
    _refuse_shorter(path, size, piece)
    if size % piece:
        raise BadCrawlDir(f"{path}, byte {size}", f"cut: it was a multiple of {piece} bytes long; {REMEDY}")


def _refuse_shorter(path: Path, found: int, size: int) -> None:
    if size and not path.exists():
        raise BadCrawlDir(str(path), f"missing; {REMEDY}")
    if found < size:
        raise BadCrawlDir(f"{path}, byte {found}", f"cut: it was {size} bytes long, or longer; {REMEDY}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
