"""Append-only files of JSON lines that survive ``kill -9``.

Each line is one write, so a killed process leaves complete lines and at most one incomplete line, which opening removes.
Of several logs that belong together, the one written last decides: opening cuts off what the others hold beyond it
(``trim``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, StorageFailed

_BLOCK = 1 << 16


class AppendLog:
    """One file of JSON lines, opened for appending; an incomplete last line is removed first.

    ``private``: only its owner may read it. Raises ``StorageFailed`` when the file cannot be opened or a write fails; the
    failed line is then removed.
    """

    def __init__(self, path: Path, *, private: bool = False) -> None:
        self.path = path
        self._private = private
        self._file = -1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600 if private else 0o644)
            self._size = self._end_of_last_line(os.fstat(self._file).st_size)
            os.ftruncate(self._file, self._size)
        except OSError as error:
            self.close()
            raise StorageFailed(f"cannot open {path} for writing: {error}") from error

    def append(self, *records: Any) -> None:
        """Write records (dicts or dataclasses), one line each, in one write."""
        if records:
            self.append_lines(b"".join([orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records]))

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
            lines += os.pread(self._file, min(_BLOCK, self._size - start), start).count(b"\n")
        return lines

    def replace_all(self, steps: Iterable[Sequence[Any]]) -> None:
        """Replace the file, whole or not at all, by one with these records. Raises ``StorageFailed``."""
        lines = (orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for records in steps for record in records)
        write_atomically(self.path, lines, private=self._private)
        self.close()
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
            self._size = os.fstat(self._file).st_size
        except OSError as error:
            raise StorageFailed(f"cannot open {self.path} for writing: {error}") from error

    def trim(self, keep: Callable[[Any], bool]) -> int:
        """Remove the last lines for which ``keep(record)`` is false; return their number.

        Raises ``BadCrawlDir`` for a line that is damaged or that ``keep`` cannot read.
        """
        removed = 0
        while self._size:
            start = self._end_of_last_line(self._size - 1)
            line = os.pread(self._file, self._size - start, start)
            record = parse_line(line, self.path)
            try:
                if keep(record):
                    break
            except (KeyError, TypeError) as damage:
                raise unexpected(self.path, None, damage) from damage
            self._size = start
            removed += 1
        os.ftruncate(self._file, self._size)
        return removed

    def sync(self) -> None:
        """Sync the file to the disk, against power failures. Raises ``StorageFailed``."""
        try:
            os.fsync(self._file)
        except OSError as error:
            raise StorageFailed(f"cannot write to {self.path}: {error}") from error

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _end_of_last_line(self, size: int) -> int:
        """The offset just after the last newline before ``size``."""
        while size:
            start = max(0, size - _BLOCK)
            newline = os.pread(self._file, size - start, start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            size = start
        return 0


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


def read_lines(path: Path) -> Iterator[Any]:
    """Stream the records of a file of JSON lines, without an incomplete last line. A missing file has no records."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n"):
                yield parse_line(line, path, number)


def write_atomically(path: Path, chunks: Iterable[bytes], *, sync: bool = True, private: bool = False) -> None:
    """Replace ``path`` completely or not at all; ``private``: only its owner may read it. Raises ``StorageFailed``."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            if private:
                draft.chmod(0o600)
            file.writelines(chunks)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StorageFailed(f"cannot write {path}: {error}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
