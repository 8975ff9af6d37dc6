"""Reads the new lines of a growing file such as ``items.jsonl``.

A crawl appends to the file, a resumed crawl may replace lines at its end, and merging the folders of workers rewrites it.
So a position includes a digest of the bytes before it. When these have changed, reading restarts at the beginning, and the
reader sees some lines again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple

from crawlproject.storage.append_log import parse_line

ITEMS = "items.jsonl"
_TAIL = 4096  # bytes before a position that are digested


class TailPosition(NamedTuple):
    """The position after ``lines`` lines, at the byte ``offset``; ``tail`` digests the last 4,096 bytes before it."""

    offset: int = 0
    lines: int = 0
    tail: str = ""

    def as_json(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def from_json(cls, found: Any) -> TailPosition:
        """Parse a position; anything invalid gives the start of the file."""
        try:
            return cls(int(found["offset"]), int(found["lines"]), str(found["tail"]))
        except (KeyError, TypeError, ValueError):
            return cls()


START = TailPosition()


class TailReader:
    """Reads the complete lines of the file at ``path`` behind ``place``.

    ``restarted`` says that the file was replaced, so that reading began at its start. An incomplete last line is left for
    the next time. Raises ``BadCrawlDir`` for a damaged line.
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
        with self._path.open("rb") as file:
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
        """The position behind the last line that was yielded."""
        return TailPosition(self._offset, self._lines, _digest(self._tail))

    @property
    def here(self) -> str:
        """File and line of the last record, for messages."""
        return f"{self._path}, line {self._lines}"

    @property
    def share(self) -> float:
        """The share of the file that was read, 0 to 1."""
        size = self._path.stat().st_size if self._path.exists() else 0
        return self._offset / size if size else 1.0


def _digest(tail: bytes) -> str:
    return md5(tail, usedforsecurity=False).hexdigest() if tail else ""


def _bytes_before(path: Path, offset: int) -> bytes:
    """The digest before ``offset``; empty when the file is shorter."""
    length = min(offset, _TAIL)
    try:
        with path.open("rb") as file:
            file.seek(offset - length)
            tail = file.read(length)
    except FileNotFoundError:
        return b""
    return tail if len(tail) == length else b""
