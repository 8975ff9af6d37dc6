"""The records of all URLs, one line of JSON each."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.records import CrawlUrl

_READ = 1024  # bytes that are read at a guess; a longer line is read in a second go


class UrlFile:
    """``urls.jsonl``. A line holds what never changes of a ``CrawlUrl``: all but its score and ``not_before``.

    Lines are gathered until ``write``. Until then ``load`` finds them in memory. Raises ``StorageFailed``, and
    ``BadCrawlDir`` for a line that cannot be read.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self._lines: list[bytes] = []
        self.unwritten: dict[int, CrawlUrl] = {}  # by offset
        try:
            self._file = os.open(path, os.O_CLOEXEC | (os.O_RDONLY if readonly else os.O_RDWR | os.O_CREAT), 0o644)
            self._written = os.fstat(self._file).st_size
        except OSError as error:
            raise StorageFailed(f"cannot open {path}: {error}") from error
        self.end = self._written  # the offset of the next line

    def add(self, record: CrawlUrl) -> int:
        """The offset of the record."""
        if record.inherited or record.request is not None:
            fields: tuple[Any, ...] = (*_told(record), [*map(_number, record.inherited)], record.request)
        elif record.parent is not None or record.depth or record.anchor or record.context_score:
            fields = _told(record)
        else:
            fields = (record.url,)
        try:
            line = orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
        except TypeError:  # half a surrogate pair in an anchor: JSON can only carry text
            line = orjson.dumps(_as_text(fields), option=orjson.OPT_APPEND_NEWLINE)
        offset = self.end
        self._lines.append(line)
        self.unwritten[offset] = record
        self.end += len(line)
        return offset

    def load(self, offset: int, score: float, not_before: float) -> CrawlUrl:
        """The record at ``offset``, with this score and time."""
        return _record(self._fields(offset), score, not_before)

    def url(self, offset: int) -> str:
        """The URL of the record at ``offset``."""
        return self._fields(offset)[0]

    def write(self) -> None:
        """Append what was gathered."""
        if not self._lines:
            return
        lines = b"".join(self._lines)
        try:
            if os.pwrite(self._file, lines, self._written) != len(lines):
                raise OSError("the disk took only a part of it (is it full?)")
        except OSError as error:
            raise StorageFailed(f"cannot write to {self.path}: {error}") from error
        self._written += len(lines)
        self._lines.clear()
        self.unwritten.clear()

    def cut(self, end: int) -> None:
        """Remove what stands behind ``end``: lines of a step that has not happened."""
        os.ftruncate(self._file, end)
        self._written = self.end = end

    def sync(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as error:
            raise StorageFailed(f"cannot write to {self.path}: {error}") from error

    def size(self) -> int:
        """Bytes on disk."""
        return self._written

    def close(self) -> None:
        os.close(self._file)

    def _fields(self, offset: int) -> list[Any]:
        if self.unwritten and (record := self.unwritten.get(offset)):
            return [
                record.url,
                record.depth,
                record.parent,
                record.anchor,
                record.context_score,
                record.inherited,
                record.request,
            ]
        line = os.pread(self._file, _READ, offset)
        end = line.find(b"\n")
        size = _READ
        while end < 0 and len(line) == size:
            size *= 8
            line = os.pread(self._file, size, offset)
            end = line.find(b"\n")
        try:
            return orjson.loads(line[:end])
        except orjson.JSONDecodeError as damage:
            wish = f"expected a record of a URL ({damage}); restore the file"
            raise BadCrawlDir(f"{self.path}, byte {offset}", wish) from None


def _record(fields: list[Any], score: float, not_before: float) -> CrawlUrl:
    size = len(fields)
    if size == 1:
        return CrawlUrl(fields[0], score, not_before=not_before)
    if size == 5:
        url, depth, parent, anchor, context_score = fields
        return CrawlUrl(url, score, depth, parent, anchor, float(context_score), not_before)
    url, depth, parent, anchor, context_score, inherited, request = fields
    handed_down = tuple(map(float, inherited))
    return CrawlUrl(url, score, depth, parent, anchor, float(context_score), not_before, handed_down, request)


def _told(record: CrawlUrl) -> tuple[Any, ...]:
    return record.url, record.depth, record.parent, record.anchor, _number(record.context_score)


def _number(value: float) -> float | str:
    """JSON has no infinity and no NaN: these travel as text."""
    return value if math.isfinite(value) else str(value)


def _as_text(value: Any) -> Any:
    """The same value with ``?`` for what is no character."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return [_as_text(part) for part in value] if isinstance(value, list | tuple) else value
