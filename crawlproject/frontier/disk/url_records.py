"""The records of all URLs, one line of JSON each; and what to do when files of the frontier were removed or cut from
outside: zeros in place of what is gone would read as URLs that nobody knows, so nothing is opened then.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.changes import json_number, read_key, written_kind
from crawlproject.records import ACTIVE, CrawlUrl
from crawlproject.storage.append_log import json_of

MAPPED = ("rows", "times", "seen", "seen.map", "hosts", "hosts.map")
RECORDS = "urls.jsonl"
REMEDY = "restore the folder; or remove it, then a topical crawl makes it again from its history and pages"

_READ = 512  # bytes that are read at a guess; a longer line is read in a second go


class UrlRecords:
    """``urls.jsonl``. A line holds what never changes of a ``CrawlUrl``: all but its score, its class and
    ``not_before``.

    Lines are gathered until ``write``. Until then ``load`` finds them in memory. Raises ``StorageFailed``, and
    ``BadCrawlDir`` for a line that cannot be read.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self.unwritten: dict[int, bytes] = {}  # lines by offset
        try:
            self._file = os.open(path, os.O_CLOEXEC | (os.O_RDONLY if readonly else os.O_RDWR | os.O_CREAT), 0o644)
            self._written = os.fstat(self._file).st_size
        except OSError as error:
            raise StorageFailed(f"cannot open {path}: {error}") from error
        self.end = self._written  # the offset of the next line

    def add(self, record: CrawlUrl) -> int:
        """The offset of the record."""
        key, parent = record.key, record.parent
        fields = [key, record.depth, parent, record.anchor, json_number(record.context_score)]
        kind = written_kind(key, parent, record.kind)
        if record.inherited or record.request is not None or kind:
            fields += [[*map(json_number, record.inherited)], record.request]
        if kind:
            fields.append(kind)
        line = json_of(fields, orjson.OPT_APPEND_NEWLINE)
        offset = self.end
        self.unwritten[offset] = line
        self.end = offset + len(line)
        return offset

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

    def write(self) -> None:
        """Append what was gathered."""
        lines = b"".join(self.unwritten.values())
        try:
            if os.pwrite(self._file, lines, self._written) != len(lines):
                raise OSError("the disk took only a part of it (is it full?)")
        except OSError as error:
            raise StorageFailed(f"cannot write to {self.path}: {error}") from error
        self._written += len(lines)
        self.unwritten.clear()

    def cut(self, end: int) -> None:
        """Remove what follows ``end``: lines of a step that has not happened."""
        os.ftruncate(self._file, end)
        self._written = self.end = end

    def sync(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as error:
            raise StorageFailed(f"cannot write to {self.path}: {error}") from error

    def close(self) -> None:
        os.close(self._file)

    def _fields(self, offset: int) -> list[Any]:
        line = self.unwritten.get(offset) if self.unwritten else None
        if line is None:
            line = os.pread(self._file, _READ, offset)
            end = line.find(b"\n")
            line = line[:end] if end >= 0 else self._read(offset)
        try:
            return orjson.loads(line)
        except orjson.JSONDecodeError as damage:
            raise self.damage(offset, damage) from None

    def damage(self, offset: int, damage: object) -> BadCrawlDir:
        """The error for a record that cannot be used."""
        return BadCrawlDir(f"{self.path}, byte {offset}", f"expected a record of a URL ({damage}); {REMEDY}")

    def _read(self, offset: int) -> bytes:
        """A line that is longer than usual."""
        size = 8 * _READ
        while True:
            data = os.pread(self._file, size, offset)
            end = data.find(b"\n")
            if end >= 0 or len(data) < size:
                return data[:end]
            size *= 8


def sizes_of(folder: Path) -> dict[str, int]:
    """Bytes of the mapped files, which never shrink, and of the records."""
    return {name: _size(folder / name) for name in (*MAPPED, RECORDS)}


def refuse_losses(folder: Path, found: Mapping[str, int], expected: Mapping[str, int]) -> None:
    """Raises ``BadCrawlDir`` when one of the files, of ``found`` bytes, was longer before."""
    for name, size in expected.items():
        _refuse_shorter(folder / name, found[name], size)


def refuse_stateless(folder: Path) -> None:
    """Raises ``BadCrawlDir`` when there are records of URLs, although ``state.json`` is missing."""
    if _size(folder / RECORDS):
        raise BadCrawlDir(str(folder / "state.json"), f"missing, although {RECORDS} is there; {REMEDY}")


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
