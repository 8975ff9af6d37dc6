"""The last changes of a frontier on disk, in frames, and a summary of everything before that has no row."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import orjson

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.disk.mapped_file import MappedFile
from crawlproject.frontier.disk.url_records import REMEDY, refuse_cut_journal, refuse_stateless
from crawlproject.frontier.disk.url_table import NUMBERED_ROW, UrlRow
from crawlproject.storage.append_log import write_atomically

_PICKS = 100_000  # more picks than the k rule ever needs
_PIECE = 1 << 20  # bytes by which the file grows
_FORMAT = {"format": "disk frontier", "version": 4}
# In version 1 the summary had the times of held URLs. Before version 3, high scores encoded the classes of URLs. Before version
# 4, the records were not compressed.
_VERSIONS = range(1, 5)
_HEAD = struct.Struct("<IIIII")  # checksum of the rest; numbers of rows, URLs, hosts; bytes after the head
_KNOWN = struct.Struct("<16sQ")


class Frame(NamedTuple):
    """One atomic step: ``rows`` by number, new ``urls`` and ``hosts`` by digest, and ``urls_end``, the bytes of the records.

    ``notes`` are changes without a row, each a list: ``["pick", host]``, ``["unpick", host]``, ``["rest", host, until]``,
    ``["ask", host, seconds]``, ``["later", number, not_before]``, ``["evicted", total]``, ``["history", lines]``,
    ``["block", host, until, name]``, and ``["sizes", bytes]``, the sizes to which the mapped files had grown.
    """

    rows: dict[int, UrlRow]
    urls: dict[bytes, int]
    hosts: dict[bytes, int]
    urls_end: int
    notes: list[list[Any]]


@dataclass
class Summary:
    """Everything without a row when the journal of ``generation`` began: the notes up to then, summed up."""

    generation: int = 0
    seed: int = 0  # of the digests
    urls: int = 0  # numbers given to URLs
    urls_end: int = 0  # bytes of the records
    hosts: int = 0  # numbers given to hosts
    evicted: int = 0
    history: int = 0  # lines of the history
    picks: list[int] = field(default_factory=list)  # hosts, oldest first
    rests: list[tuple[int, float]] = field(default_factory=list)  # host and time of the next visit
    asks: list[tuple[int, float]] = field(default_factory=list)  # host and seconds (Crawl-delay)
    later: list[tuple[int, float]] = field(default_factory=list)  # URL and ``not_before``; of earlier versions
    blocks: list[tuple[int, float, str]] = field(default_factory=list)  # host, end of the block, name
    sizes: dict[str, int] = field(default_factory=dict)  # bytes of the mapped files; empty in earlier versions


class HostFacts:
    """The summary's data on hosts and the number of evicted URLs, updated by the notes since."""

    def __init__(self, summary: Summary) -> None:
        self.evicted = summary.evicted
        self.history = summary.history
        self.picks = list(summary.picks)
        self.rests = dict(summary.rests)
        self.asks = dict(summary.asks)
        self.blocks = {host: (until, name) for host, until, name in summary.blocks}

    def replay(self, kind: str, values: list[Any]) -> None:
        if kind == "pick":
            self.picks.append(values[0])
            if len(self.picks) > 2 * _PICKS:
                del self.picks[:_PICKS]
        elif kind == "unpick":
            latest = (place for place in range(len(self.picks) - 1, -1, -1) if self.picks[place] == values[0])
            if (place := next(latest, None)) is not None:  # near the end, as a rule
                del self.picks[place]
        elif kind == "rest":
            host, until = values
            self.rests[host] = max(until, self.rests.get(host, until))
        elif kind == "ask":
            self.asks[values[0]] = values[1]
        elif kind == "evicted":
            self.evicted = values[0]
        elif kind == "history":
            self.history = values[0]
        elif kind == "block":
            host, until, name = values
            self.blocks[host] = until, name


class DiskJournal:
    """The files ``journal.N`` and ``state.json`` in ``folder``.

    Frames are appended to the journal of the last generation. ``turn`` begins a new one. The old one is kept until a thread
    has forced all its changes and the new summary onto the disk. The file is mapped, so that appending costs no system call,
    and zeros follow the last frame. Raises ``StorageFailed``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.size = 0  # bytes in the journal of the last generation
        self.closed = True  # whether the frontier was closed properly last time; known after ``frames``
        self.has_classes = True  # whether the rows store the classes of URLs,
        self.has_blocks = True  # and whether the records are compressed
        self._file: MappedFile | None = None
        self._thread: threading.Thread | None = None
        self._failure: StorageFailed | None = None
        self.summary = self._read_summary()
        self._generation = self.summary.generation

    def frames(self) -> Iterator[Frame]:
        """All frames since the summary. A torn frame at the very end has not happened; others raise ``BadCrawlDir``."""
        if self.summary.sizes:
            refuse_cut_journal(self._path(self.summary.generation), _PIECE)
        for generation in self._generations():
            if generation >= self.summary.generation:
                yield from self._frames_of(self._path(generation))
                self._generation = generation

    def begin(self, summary: Summary) -> None:
        """Start a new generation after everything was read and applied; nothing older is needed. Not allowed while
        ``is_turning``.
        """
        summary.generation = self._generation + 1
        self._open(summary.generation)
        self._settle(summary)

    def append(
        self,
        rows: bytes,
        urls: Mapping[bytes, int],
        hosts: Mapping[bytes, int],
        urls_end: int,
        notes: Sequence[list[Any]],
    ) -> None:
        """Write one frame. ``rows`` are packed, each after its number. If the disk refuses, the journal is as before."""
        if self._thread is not None:
            self._finish_turn()
        body = b"".join((rows, _packed(urls), _packed(hosts), orjson.dumps((urls_end, notes))))
        count = len(rows) // NUMBERED_ROW.size
        self._write(_HEAD.pack(crc32(body), count, len(urls), len(hosts), len(body)) + body)

    @property
    def is_turning(self) -> bool:
        """Whether the last turn is not known to be over."""
        return self._thread is not None

    def turn(self, summary: Summary, force: Callable[[], None]) -> None:
        """Begin a new generation with this summary. A thread calls ``force`` to put everything before onto the disk. Not allowed
        while ``is_turning``.
        """
        summary.generation = self._generation + 1
        self._open(summary.generation)
        self._failure = None

        def work() -> None:
            try:
                force()
                self._settle(summary)
            except StorageFailed as failure:
                self._failure = failure
            except OSError as error:
                self._failure = StorageFailed(f"cannot write to {self.folder}: {error}")

        self._thread = threading.Thread(target=work, name="frontier-sync", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until the last turn is over, or has failed."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        self.wait()
        if self._file:
            self._file.close()
            self._file = None

    # ------------------------------------------------------------ inside

    def _write(self, data: bytes) -> None:
        file = self._file
        if file is None:
            raise StorageFailed(f"cannot write to {self._path(self._generation)}: it is closed")
        end = self.size + len(data)
        while end > len(file.maps) * _PIECE:
            file.grow()
        piece, at = divmod(self.size, _PIECE)
        if at + len(data) <= _PIECE:
            file.maps[piece][at : at + len(data)] = data
        else:
            for start in range(-at, len(data), _PIECE):
                part = data[max(start, 0) : start + _PIECE]
                file.maps[piece][at : at + len(part)] = part
                piece, at = piece + 1, 0
        self.size = end

    def _finish_turn(self) -> None:
        """Check whether the thread is done. Raises the error that it failed with."""
        if self._thread is None or self._thread.is_alive():
            return
        self._thread = None
        if self._failure:
            raise self._failure

    def _settle(self, summary: Summary) -> None:
        """Let reading begin with this summary, and remove the older journals."""
        write_atomically(self.folder / "state.json", [orjson.dumps({**_FORMAT, **vars(summary)}) + b"\n"], sync=True)
        self.summary = summary
        for generation in self._generations():
            if generation < summary.generation:
                self._path(generation).unlink(missing_ok=True)

    def _open(self, generation: int) -> None:
        path = self._path(generation)
        path.unlink(missing_ok=True)
        file = MappedFile(path, _PIECE)
        file.grow()  # an empty journal would look like one that was cut
        if self._file:
            self._file.close()
        self._file, self.size, self._generation = file, 0, generation

    def _frames_of(self, path: Path) -> Iterator[Frame]:
        data = memoryview(path.read_bytes())
        at = 0
        while at + _HEAD.size <= len(data):
            checksum, *numbers, size = _HEAD.unpack_from(data, at)
            if not size:
                break
            self.closed = False
            if at + _HEAD.size + size > len(data):
                raise BadCrawlDir(f"{path}, byte {len(data)}", f"cut inside a frame; {REMEDY}")
            body = data[at + _HEAD.size : at + _HEAD.size + size]
            if crc32(body) != checksum:
                if any(data[at + _HEAD.size + size :]):
                    raise BadCrawlDir(f"{path}, byte {at}", f"a frame is damaged; {REMEDY}")
                return
            yield _frame(bytes(body), *numbers)
            at += _HEAD.size + size

    def _read_summary(self) -> Summary:
        path = self.folder / "state.json"
        if not path.exists():
            refuse_stateless(self.folder)
            return Summary(seed=int.from_bytes(os.urandom(8), "little"))
        try:
            fields = orjson.loads(path.read_bytes())
            found = {name: fields.pop(name) for name in _FORMAT}
            version = found["version"]
            if found["format"] != _FORMAT["format"] or version not in _VERSIONS:
                raise ValueError("another format or version")
            self.has_classes, self.has_blocks = version >= 3, version >= 4
            return Summary(**fields)
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError) as damage:
            raise BadCrawlDir(str(path), f"expected the state of a frontier ({damage}); {REMEDY}") from None

    def _generations(self) -> list[int]:
        suffixes = (path.suffix[1:] for path in self.folder.glob("journal.*"))
        return sorted(int(suffix) for suffix in suffixes if suffix.isdigit())

    def _path(self, generation: int) -> Path:
        return self.folder / f"journal.{generation}"


def _packed(numbers: Mapping[bytes, int]) -> bytes:
    return b"".join([_KNOWN.pack(*pair) for pair in numbers.items()])


def _frame(body: bytes, rows: int, urls: int, hosts: int) -> Frame:
    a = rows * NUMBERED_ROW.size
    b = a + urls * _KNOWN.size
    c = b + hosts * _KNOWN.size
    changed = {number: UrlRow(*row) for number, *row in NUMBERED_ROW.iter_unpack(body[:a])}
    urls_end, notes = orjson.loads(body[c:])
    return Frame(changed, dict(_KNOWN.iter_unpack(body[a:b])), dict(_KNOWN.iter_unpack(body[b:c])), urls_end, notes)
