"""Append-only files of JSON lines that survive ``kill -9``, and readers for their new lines.

Each line is one write, so a killed process leaves complete lines and at most one incomplete line, which opening removes. A power
failure may leave zeros in place of the last lines, as file systems extend a file before they write its content. No line contains
a zero byte, so opening cuts the file at the first one. Of several logs that belong together, the one written last decides:
opening cuts off what the others contain beyond it (``trim``).

A crawl appends to a file such as ``items.jsonl``, a resumed crawl may replace lines at its end, and merging the folders of
workers rewrites it. So a position in the file includes a digest of the bytes before it. If these have changed, reading restarts
at the beginning, and the reader sees some lines again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import md5
from itertools import chain
from pathlib import Path
from threading import get_ident
from typing import IO, Any, NamedTuple

import orjson

from crawlproject.errors import BadCrawlDir, StorageFailed, trying_to

ITEMS = "items.jsonl"

_BLOCK = 1 << 16
_UNSAFE = 64 * 2**20  # bytes at the end of a file: more than a power failure can spoil
_MOST = 2**63 - 1  # bytes of a file
_NAME = 200  # bytes of a file name, of 255, that the name of its draft repeats
_TAIL = 4096  # bytes before a position that are digested

_line = partial(orjson.dumps, option=orjson.OPT_APPEND_NEWLINE)


class AppendLog:
    """One file of JSON lines, opened for appending; an incomplete last line is removed first.

    ``private``: only its owner may read it. Raises ``StorageFailed`` when the file cannot be opened or read, or a write fails;
    the failed line is then removed.
    """

    damaged: Sequence[int] = ()
    """Lines, from 1, that ``count`` found to have other bytes than were written, where it can tell."""

    def __init__(self, path: Path, *, private: bool = False) -> None:
        self.path = path
        self._private = private
        self._file = -1
        try:
            with trying_to("open", f"{path} for writing"):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600 if private else 0o644)
                self._size = self._end_of_last_line(self._first_zero(os.fstat(self._file).st_size))
                os.ftruncate(self._file, self._size)
        except StorageFailed:
            self.close()
            raise

    def append(self, *records: Any) -> None:
        """Write records (dicts or dataclasses), one line each, in one write."""
        if records:
            self.append_lines(b"".join(map(_line, records)))

    def append_lines(self, lines: bytes) -> None:
        """Write serialised lines."""
        try:
            written = os.pwrite(self._file, lines, self._size)
            if written != len(lines):
                raise OSError("the write was incomplete (is the disk full?)")
        except OSError as error:
            with suppress(OSError):  # leaves an incomplete last line, which opening removes
                os.ftruncate(self._file, self._size)
            raise StorageFailed(f"cannot write to {self.path}: {error}") from error
        self._size += len(lines)

    def count(self) -> int:
        """The number of lines; reads the file."""
        lines = 0
        for start in range(0, self._size, _BLOCK):
            lines += self._read(min(_BLOCK, self._size - start), start).count(b"\n")
        return lines

    def place(self, lines: int) -> TailPosition:
        """The position at the end of the file, which has ``lines`` lines."""
        first = max(0, self._size - _TAIL)
        return TailPosition(self._size, lines, _digest(self._read(self._size - first, first)))

    def replace_all(self, steps: Iterable[Sequence[Any]]) -> None:
        """Replace the file atomically by one with these records. Raises ``StorageFailed``."""
        write_atomically(self.path, map(_line, chain.from_iterable(steps)), private=self._private)
        self.close()
        with trying_to("open", f"{self.path} for writing"):
            self._file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
            self._size = os.fstat(self._file).st_size

    def trim(self, keep: Callable[[Any], bool]) -> int:
        """Remove the last lines for which ``keep(record)`` is false; return their number.

        Raises ``BadCrawlDir`` for a line that is damaged or that ``keep`` cannot read.
        """
        removed, size = 0, self._size
        while size:
            start = self._end_of_last_line(size - 1)
            line = self._read(size - start, start)
            record = parse_line(line, self.path)
            try:
                if keep(record):
                    break
            except (KeyError, TypeError) as damage:
                raise unexpected(self.path, None, damage) from damage
            size = start
            removed += 1
        self.cut(size)
        return removed

    def cut(self, size: int) -> None:
        """Keep the first ``size`` bytes."""
        with trying_to("write to", self.path):
            os.ftruncate(self._file, size)
        self._size = size

    def sync(self) -> None:
        """Sync the file to the disk, against power failures. Raises ``StorageFailed``."""
        with trying_to("write to", self.path):
            os.fsync(self._file)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _read(self, size: int, start: int) -> bytes:
        with trying_to("read", self.path):
            return os.pread(self._file, size, start)

    def _first_zero(self, size: int) -> int:
        """The offset of the first zero byte among those that a power failure may have spoiled; ``size`` if there is none."""
        for start in range(max(0, size - _UNSAFE), size, _BLOCK):
            zero = self._read(_BLOCK, start).find(b"\0")
            if zero >= 0:
                return start + zero
        return size

    def _end_of_last_line(self, size: int) -> int:
        """The offset just after the last newline before ``size``."""
        while size:
            start = max(0, size - _BLOCK)
            newline = self._read(size - start, start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            size = start
        return 0


def json_of(value: Any, option: int | None = None) -> bytes:
    """JSON. An unpaired surrogate, which JSON cannot represent, becomes a question mark."""
    try:
        return orjson.dumps(value, option=option)
    except TypeError:
        return orjson.dumps(_spelled(value), option=option)


def _spelled(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return list(map(_spelled, value)) if isinstance(value, list | tuple) else value


def parse_line(line: bytes, path: Path, number: int | None = None) -> Any:
    """One JSON line; raises ``BadCrawlDir`` naming the file (and line) when it is damaged."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as damage:
        raise unexpected(path, number, damage) from None


def unexpected(path: Path, number: int | None, damage: Exception) -> BadCrawlDir:
    """The error for a line that is not JSON, or not the expected record."""
    place = str(path) if number is None else f"{path}, line {number}"
    what = damage if isinstance(damage, orjson.JSONDecodeError) else repr(damage)
    return BadCrawlDir(place, f"expected a line of JSON ({what}); restore the file or remove the line")


def unreadable(path: Path, error: OSError) -> BadCrawlDir:
    """The error for a file that exists but cannot be read, for example for lack of permission."""
    return BadCrawlDir(str(path), f"cannot be read: {error.strerror}")


def open_to_read(path: Path) -> IO[bytes]:
    """Open a file to read. Raises ``FileNotFoundError``, and ``BadCrawlDir`` for a file that cannot be read."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error


def read_lines(path: Path, behind: TailPosition | None = None, *, without: Container[int] = ()) -> Iterator[Any]:
    """Stream the records of a file of JSON lines, without an incomplete last line. A missing file has no records.

    ``behind``: only the records after this position. ``without``: the numbers of lines, from 1, to skip. Reading ends where a
    power failure has left zeros, since ``AppendLog`` will cut the file there. Raises ``BadCrawlDir`` for other damage, and for a
    file that cannot be opened; ``StorageFailed`` when the disk fails.
    """
    if not path.exists():
        return
    with open_to_read(path) as file, trying_to("read", path):
        if behind:
            file.seek(behind.offset)
        for number, line in enumerate(file, start=behind.lines + 1 if behind else 1):
            if not line.endswith(b"\n"):
                return
            if number in without:
                continue
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError as damage:
                if b"\0" in line and file.tell() > path.stat().st_size - _UNSAFE:
                    return
                raise unexpected(path, number, damage) from None
            yield record


def draft_beside(path: Path, ending: str) -> Path:
    """``path`` with this ending, for a draft; a long name is cut, so that a file system that allows it allows the draft."""
    return path.with_name(os.fsdecode(os.fsencode(path.name)[:_NAME]) + ending)


def write_atomically(path: Path, chunks: Iterable[bytes], *, sync: bool = True, private: bool = False) -> None:
    """Replace ``path`` completely or not at all; ``private``: only its owner may read it. Raises ``StorageFailed``."""
    draft = draft_beside(path, f".{os.getpid()}.{get_ident()}.tmp")
    try:
        with trying_to("write", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                if private:
                    draft.chmod(0o600)
                file.writelines(chunks)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


class TailPosition(NamedTuple):
    """The position after ``lines`` lines, at the byte ``offset``; ``tail`` digests the last 4,096 bytes before it."""

    offset: int = 0
    lines: int = 0
    tail: str = ""

    def as_json(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def from_json(cls, found: Any) -> TailPosition:
        """Parse a position; anything invalid yields the start of the file."""
        try:
            place = cls(int(found["offset"]), int(found["lines"]), str(found["tail"]))
        except (KeyError, OverflowError, TypeError, ValueError):
            return cls()
        return place if 0 <= place.offset <= _MOST and place.lines >= 0 else cls()


START = TailPosition()


class TailReader:
    """Reads the complete lines of the file at ``path`` after ``place``.

    ``restarted`` says that the file was replaced, so that reading began at its start. An incomplete last line is left for
    the next reader. Raises ``BadCrawlDir`` for a damaged line, and for a file that cannot be opened; ``StorageFailed`` when the
    disk fails.
    """

    def __init__(self, path: Path, place: TailPosition = START) -> None:
        self._path = path
        self._offset, self._lines = place.offset, place.lines
        self._tail = _bytes_before(path, place.offset)
        self.restarted = place.offset > 0 and _digest(self._tail) != place.tail
        if self.restarted:
            self._offset = self._lines = 0
            self._tail = b""

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self._raw(lambda line: parse_line(line, self._path, self._lines + 1))

    def raw(self) -> Iterator[bytes]:
        """The lines as they are."""
        return self._raw(bytes)

    def _raw(self, read: Callable[[bytes], Any]) -> Iterator[Any]:
        if not self._path.exists():
            return
        with open_to_read(self._path) as file, trying_to("read", self._path):
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                record = read(line)
                self._offset += len(line)
                self._lines += 1
                self._tail = line[-_TAIL:] if len(line) >= _TAIL else (self._tail + line)[-_TAIL:]
                yield record

    @property
    def place(self) -> TailPosition:
        """The position after the last line that was yielded."""
        return TailPosition(self._offset, self._lines, _digest(self._tail))

    @property
    def here(self) -> str:
        """File and line of the last record, for messages."""
        return f"{self._path}, line {self._lines}"

    @property
    def share(self) -> float:
        """The share of the file that has been read, 0 to 1."""
        size = self._path.stat().st_size if self._path.exists() else 0
        return self._offset / size if size else 1.0


def _digest(tail: bytes) -> str:
    return md5(tail, usedforsecurity=False).hexdigest() if tail else ""


def _bytes_before(path: Path, offset: int) -> bytes:
    """The bytes before ``offset`` that are digested; empty if the file is shorter."""
    length = min(offset, _TAIL)
    try:
        with open_to_read(path) as file, trying_to("read", path):
            file.seek(offset - length)
            tail = file.read(length)
    except FileNotFoundError:
        return b""
    return tail if len(tail) == length else b""
