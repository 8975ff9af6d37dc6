"""Writes a crawl folder to a remote address, one segment at a time (``segments.py``).

A segment holds the next lines of the history, up to ``FULL`` bytes of their pages, and what belongs to these lines: bodies,
items, links, changes. Archives, and logs that belong to no page, such as that of robots.txt, are sent as far as they have grown.
The index is sent last, so a writer that is killed has sent a whole segment or none, and sends it again when it is restarted. The
last index shows what was sent; the folder has no record of it. A killed crawl may have lost the ends of its logs: then the
segments that hold more than the folder are removed, the last first.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadInput
from crawlproject.parts.mirror.segments import (
    FILES,
    LOGS,
    RECORDS,
    SEEN,
    LogSlice,
    SegmentIndex,
    StoredBody,
    committed,
    data_key,
    index_key,
    is_archive,
    pages_key,
    tail_of,
)
from crawlproject.records import Visit
from crawlproject.storage.append_log import ITEMS
from crawlproject.storage.crawl_files import MANIFEST, MARKER
from crawlproject.storage.logs import CHANGES
from crawlproject.storage.page_files import PAGES, stored_body
from crawlproject.storage.read import HISTORY, LINKS, visit_from
from crawlproject.storage.remote import Remote

FULL = 16 * 2**20  # bytes of pages, or of a log: a segment ends when it has as many

_LINES = 10_000  # of the history, likewise: they may all be errors
_AHEAD = 2**20  # bytes of a log that are searched beyond the last line that belongs to a segment
_AT_ONCE = 8  # requests
_LEVEL = 1  # of gzip

Key = Callable[[dict[str, Any]], object]
Packed = dict[tuple[str, int], bytes]  # name and version of a page -> its body, a gzip member


class Mirror:
    """The copy at ``remote`` of the crawl in ``folder``. It has one writer at a time. All methods may raise ``BadInput`` and
    ``StorageFailed``. ``files`` and ``bytes`` count what was sent.
    """

    def __init__(self, folder: Path, remote: Remote) -> None:
        self.folder, self.remote = folder, remote
        self.files = self.bytes = 0
        self._number = -1  # of the last segment; -1: not known yet
        self._ends: dict[str, int] = {}  # log -> its end in the last segment
        self._marks = {MARKER: (0, 0)}  # file that may have been sent -> size and time of change when it was sent

    def claim(self, manifest: Mapping[str, Any]) -> None:
        """Write ``crawl.json``. Raises ``BadInput`` if another crawl has one there."""
        there = self.remote.get(MANIFEST)
        if there is not None and _identity(there) != (manifest["started"], manifest["topic"]["name"]):
            raise BadInput(
                self.remote.address,
                "holds another crawl, or the worker of another folder; choose another address, or CRAWL_WORKER",
            )
        self.remote.put(MANIFEST, orjson.dumps(manifest))

    def update(self, *, over: bool = False) -> None:
        """Send what is new. ``over``: the crawl has ended, so the files that were still growing are sent, too."""
        if self._number < 0:
            self._go_on()
        if MARKER in self._marks and not (self.folder / MARKER).exists():
            self.remote.remove(MARKER)
            del self._marks[MARKER]
        end = _size(self.folder / HISTORY)
        while self._send_segment(over=over) and (over or self._ends[HISTORY] < end):
            pass  # what is written meanwhile waits for the next round
        self._send_files([*SEEN, MANIFEST])
        if over:
            self._send_files([*FILES, MARKER])

    def _go_on(self) -> None:
        """Find the last segment that agrees with the folder, and remove those after it."""
        number, strays = committed(self.remote)
        index = SegmentIndex({}, [])
        taken_back = strays[::-1]
        while number and not (index := self._index(number)).is_of(self.folder):
            taken_back.append(number)
            number -= 1
            index = SegmentIndex({}, [])
        for each in taken_back:
            keys = self._index(each).keys(each)
            self.remote.remove(index_key(each))
            for key in keys:
                self.remote.remove(key)
        self._ends = {name: piece.end for name, piece in index.logs.items()}
        self._number = number

    def _index(self, number: int) -> SegmentIndex:
        key = index_key(number)
        return SegmentIndex.decoded(self.remote.read(key), f"{self.remote.address}/{key}")

    def _send_segment(self, *, over: bool) -> bool:
        """Send the next segment. Returns False if there is nothing to send."""
        packed, ends = self._cut(over=over)
        pieces = {
            name: LogSlice(self._ends.get(name, 0), end, tail_of(self.folder / name, end)) for name, end in ends.items()
        }
        if all(piece.start == piece.end for piece in pieces.values()):
            return False
        number = self._number + 1
        index = SegmentIndex(pieces, _bodies_of(packed))
        with ThreadPoolExecutor(_AT_ONCE, "upload") as pool:
            sent = [
                pool.submit(self._send_piece, number, name, piece)
                for name, piece in pieces.items()
                if piece.end > piece.start
            ]
            if packed:
                sent.append(pool.submit(self._put, pages_key(number), b"".join(packed.values())))
            for each in sent:
                each.result()
        self._put(index_key(number), index.encoded())
        self.files += len(sent) + 1
        self._number, self._ends = number, {name: piece.end for name, piece in pieces.items()}
        return True

    def _cut(self, *, over: bool) -> tuple[Packed, dict[str, int]]:
        """The bodies of the next segment, and its end in each log."""
        visits, packed, end = self._visits()
        ends = {HISTORY: end}
        links: Counter[str] = Counter()
        for visit in visits:
            links[visit.url] += visit.links
        times = {(visit.url, visit.at) for visit in visits}
        belong: dict[str, Key] = {
            LINKS: lambda line: _taken(links, line["source"]),
            ITEMS: lambda line: (line["url"], line["at"]) in times,
            CHANGES: lambda line: (line["url"], line["at"]) in times,
        }
        for name in set(LOGS) - {HISTORY, RECORDS}:
            path, start = self.folder / name, self._ends.get(name, 0)
            if name in belong and (visits or not over):
                ends[name] = _end_of_those(path, start, belong[name])
            else:
                ends[name] = start + sum(map(len, _piece(path, start)))
        return packed, ends | self._archived()

    def _visits(self) -> tuple[list[Visit], Packed, int]:
        """The visits of the next segment, their bodies, and its end in the history.

        A version that was replaced and not kept is skipped. The segment then ends after a later one, so that the page has a body.
        """
        path, end = self.folder / HISTORY, self._ends.get(HISTORY, 0)
        visits: list[Visit] = []
        packed: Packed = {}
        replaced = set[str]()
        size = 0
        for line in _lines(path, end):
            visit = visit_from(orjson.loads(line), str(path))
            visits.append(visit)
            end += len(line)
            size += visit.size
            if visit.md5:
                try:
                    body = stored_body(self.folder / PAGES, visit)
                except FileNotFoundError:
                    replaced.add(visit.md5)
                else:
                    replaced.discard(visit.md5)
                    packed[visit.md5, visit.version] = gzip.compress(body, _LEVEL, mtime=0)
            if (size >= FULL and not replaced) or len(visits) == _LINES:
                break
        return visits, packed, end

    def _archived(self) -> dict[str, int]:
        """The ends of the archives in the next segment, and of the log that commits their exchanges."""
        ends = {RECORDS: 0} | {name: end for name, end in self._ends.items() if name == RECORDS or is_archive(name)}
        size = 0
        for line in _lines(self.folder / RECORDS, ends[RECORDS]):
            entry = orjson.loads(line)
            name = f"warc/{entry['file']}"
            size += entry["end"] - ends.get(name, 0)
            ends[name] = entry["end"]
            ends[RECORDS] += len(line)
            if size >= FULL:
                break
        return ends

    def _send_piece(self, number: int, name: str, piece: LogSlice) -> None:
        with (self.folder / name).open("rb") as file:
            file.seek(piece.start)
            data = file.read(piece.end - piece.start)
        self._put(data_key(name, number), data if is_archive(name) else gzip.compress(data, _LEVEL, mtime=0))

    def _put(self, key: str, data: bytes) -> None:
        self.remote.put(key, data)
        self.bytes += len(data)

    def _send_files(self, names: Iterable[str]) -> None:
        for name in names:
            with suppress(FileNotFoundError):
                stat = (self.folder / name).stat()
                mark = stat.st_size, stat.st_mtime_ns
                if self._marks.get(name) != mark:
                    self.bytes += self.remote.send(self.folder / name, name)
                    self.files += 1
                    self._marks[name] = mark


def _bodies_of(packed: Packed) -> list[StoredBody]:
    """The place of each body when they are joined in this order."""
    ends = accumulate(map(len, packed.values()), initial=0)
    return [StoredBody(*key, start, len(body)) for (key, body), start in zip(packed.items(), ends, strict=False)]


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _taken(left: Counter[str], name: str) -> bool:
    """Take one of this name; whether there was one left."""
    left[name] -= 1
    return left[name] >= 0


def _identity(manifest: bytes) -> tuple[Any, Any]:
    try:
        found = orjson.loads(manifest)
        return found["started"], found["topic"]["name"]
    except (ValueError, TypeError, KeyError):
        return None, None


def _lines(path: Path, start: int) -> Iterator[bytes]:
    """The complete lines from byte ``start`` on."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        file.seek(start)
        for line in file:
            if line.endswith(b"\n"):
                yield line


def _piece(path: Path, start: int) -> Iterator[bytes]:
    """The next lines, up to ``FULL`` bytes."""
    size = 0
    for line in _lines(path, start):
        yield line
        size += len(line)
        if size >= FULL:
            return


def _end_of_those(path: Path, start: int, belongs: Key) -> int:
    """The end of the last line that belongs; lines before it may belong to no visit, as a killed crawl leaves them."""
    end = start
    for line in _lines(path, start):
        start += len(line)
        with suppress(orjson.JSONDecodeError, KeyError, TypeError):
            if belongs(orjson.loads(line)):
                end = start
        if start - end > _AHEAD:
            break
    return end
