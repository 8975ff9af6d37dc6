"""The last changes of a frontier on disk, in frames, and the little that is known without them."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson

from crawlproject.appendlog import write_atomically
from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.disk.rows import Row

_FORMAT = {"format": "disk frontier", "version": 1}
_HEAD = struct.Struct("<IIIII")  # checksum of the rest; numbers of rows, URLs, hosts; bytes of all after the head
_NUMBERED = struct.Struct("<QdQII")
_KNOWN = struct.Struct("<16sQ")


@dataclass
class Frame:
    """One atomic step. ``rows`` by number, new ``urls`` and ``hosts`` by digest, ``urls_end`` bytes of ``urls.jsonl``.

    ``notes`` are what has no row, each a list: ``["pick", host]``, ``["unpick", host]``, ``["rest", host, until]``,
    ``["ask", host, seconds]``, ``["later", number, not_before]``, ``["evicted", total]``.
    """

    rows: dict[int, Row]
    urls: dict[bytes, int]
    hosts: dict[bytes, int]
    urls_end: int
    notes: list[list[Any]]


@dataclass
class Summary:
    """What has no row, when the journal of generation ``generation`` began: the notes up to there, summed up."""

    generation: int = 0
    urls: int = 0  # numbers given to URLs
    urls_end: int = 0  # bytes of ``urls.jsonl``
    hosts: int = 0  # numbers given to hosts
    evicted: int = 0
    picks: list[int] = field(default_factory=list)  # hosts, oldest first
    rests: list[tuple[int, float]] = field(default_factory=list)
    asks: list[tuple[int, float]] = field(default_factory=list)
    later: list[tuple[int, float]] = field(default_factory=list)


class Journal:
    """The files ``journal.N`` and ``state.json`` in ``folder``.

    Frames are appended to the journal of the last generation. ``turn`` begins a new one; the old one is kept until all
    that it tells of is forced onto the disk, which a thread does meanwhile. Raises ``StorageFailed``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.size = 0  # bytes in the journal of the last generation
        self._file = -1
        self._thread: threading.Thread | None = None
        self._failure: StorageFailed | None = None
        self._turning: Summary | None = None
        self.summary = self._read_summary()
        self._generation = self.summary.generation

    def frames(self) -> Iterator[Frame]:
        """All frames since the summary. A torn frame at the very end has not happened; raises ``BadCrawlDir`` for others."""
        generations = sorted(
            int(path.suffix[1:]) for path in self.folder.glob("journal.*") if path.suffix[1:].isdigit()
        )
        for generation in generations:
            if generation >= self.summary.generation:
                yield from self._frames_of(generation, last=generation == generations[-1])
                self._generation = generation

    def begin(self, summary: Summary) -> None:
        """Start a new generation after everything has been read and applied; nothing older is needed."""
        summary.generation = self._generation + 1
        self._open(summary.generation)
        self._settle(summary)

    def append(self, frame: Frame) -> None:
        """Write one frame in one go. When the disk refuses, the journal is as before."""
        if self._turning:
            self._finish_turn()
        packed = [_NUMBERED.pack(number, *row) for number, row in frame.rows.items()]
        packed += [_KNOWN.pack(*known) for known in frame.urls.items()]
        packed += [_KNOWN.pack(*known) for known in frame.hosts.items()]
        packed.append(orjson.dumps([frame.urls_end, frame.notes]))
        body = b"".join(packed)
        data = _HEAD.pack(crc32(body), len(frame.rows), len(frame.urls), len(frame.hosts), len(body)) + body
        try:
            if os.pwrite(self._file, data, self.size) != len(data):
                raise OSError("the disk took only a part of it (is it full?)")
        except OSError as error:
            os.ftruncate(self._file, self.size)
            raise StorageFailed(f"cannot write to {self._path(self._generation)}: {error}") from error
        self.size += len(data)

    def turn(self, summary: Summary, force: Callable[[], None]) -> None:
        """Begin a new generation with this summary; ``force`` puts what came before onto the disk, in a thread."""
        if self._turning:
            return
        summary.generation = self._generation + 1
        self._open(summary.generation)
        self._turning = summary
        self._failure = None

        def work() -> None:
            try:
                force()
            except StorageFailed as failure:
                self._failure = failure

        self._thread = threading.Thread(target=work, name="frontier-sync", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._thread:
            self._thread.join()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    # ------------------------------------------------------------ inside

    def _finish_turn(self) -> None:
        if self._thread and self._thread.is_alive():
            return
        summary, self._turning, self._thread = self._turning, None, None
        if self._failure:
            raise self._failure
        assert summary is not None
        self._settle(summary)

    def _settle(self, summary: Summary) -> None:
        """From now on the summary tells where to begin. The older journals go."""
        write_atomically(self.folder / "state.json", [orjson.dumps({**_FORMAT, **asdict(summary)}) + b"\n"], sync=True)
        self.summary = summary
        for path in self.folder.glob("journal.*"):
            if path.suffix[1:].isdigit() and int(path.suffix[1:]) < summary.generation:
                path.unlink(missing_ok=True)

    def _open(self, generation: int) -> None:
        path = self._path(generation)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StorageFailed(f"cannot open {path}: {error}") from error
        if self._file >= 0:
            os.close(self._file)
        self._file, self.size, self._generation = file, 0, generation

    def _frames_of(self, generation: int, *, last: bool) -> Iterator[Frame]:
        path = self._path(generation)
        with path.open("rb") as file:
            at = 0
            while head := file.read(_HEAD.size):
                body = b""
                if len(head) == _HEAD.size:
                    checksum, *numbers, size = _HEAD.unpack(head)
                    body = file.read(size)
                if len(head) < _HEAD.size or len(body) < size or crc32(body) != checksum:
                    if last and not file.read(1):
                        os.truncate(path, at)
                        return
                    raise BadCrawlDir(f"{path}, byte {at}", "a frame is damaged; restore the folder, or remove it")
                at += len(head) + size
                yield _frame(body, *numbers)

    def _read_summary(self) -> Summary:
        path = self.folder / "state.json"
        if not path.exists():
            return Summary()
        try:
            fields = orjson.loads(path.read_bytes())
            if {name: fields.pop(name) for name in _FORMAT} != _FORMAT:
                raise ValueError("another format or version")
            return Summary(**fields)
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError) as damage:
            raise BadCrawlDir(str(path), f"expected the state of a frontier ({damage}); restore the folder") from None

    def _path(self, generation: int) -> Path:
        return self.folder / f"journal.{generation}"


def _frame(body: bytes, rows: int, urls: int, hosts: int) -> Frame:
    a = rows * _NUMBERED.size
    b = a + urls * _KNOWN.size
    c = b + hosts * _KNOWN.size
    changed = {number: Row(*row) for number, *row in _NUMBERED.iter_unpack(body[:a])}
    urls_end, notes = orjson.loads(body[c:])
    return Frame(changed, dict(_KNOWN.iter_unpack(body[a:b])), dict(_KNOWN.iter_unpack(body[b:c])), urls_end, notes)
