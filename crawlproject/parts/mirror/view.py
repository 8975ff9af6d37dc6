"""Reads a crawl, or the workers of one, at a remote address, by way of a crawl folder on this machine that fills up.

The logs are downloaded as far as their segments are not here yet; a page when it is read, with its neighbours in the segment;
archives on request. Next to the logs, ``segments/`` holds the indexes of the segments that are here, and ``bodies.sqlite`` the
place of each body.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from hashlib import md5
from pathlib import Path
from typing import NamedTuple

from crawlproject.errors import BadCrawlDir, BadInput, StorageFailed, trying_to
from crawlproject.options import WORKERS
from crawlproject.parts.mirror.segments import (
    FILES,
    LOGS,
    RECORDS,
    SEEN,
    SEGMENTS,
    SegmentIndex,
    committed,
    data_key,
    index_key,
    is_archive,
    pages_key,
    tail_of,
)
from crawlproject.storage.append_log import write_atomically
from crawlproject.storage.crawl_files import MANIFEST, FolderLock
from crawlproject.storage.page_files import PAGES, bring_pages
from crawlproject.storage.read import read_info, read_visits
from crawlproject.storage.remote import Remote
from crawlproject.urls.hosts import page_path

BODIES = "bodies.sqlite"
_FOLLOWED = {*LOGS} - {RECORDS}
_AT_ONCE = 8  # requests
_BESIDE = 2**20  # bytes of a segment that are read for one page, since the next page is often beside it
_TABLE = """
    PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS bodies (
        name TEXT, version INTEGER, worker TEXT, segment INTEGER, offset INTEGER, length INTEGER,
        PRIMARY KEY (name, version, worker)
    );
    CREATE INDEX IF NOT EXISTS places ON bodies (worker, segment, offset);
"""


class _Body(NamedTuple):
    name: str
    version: int
    worker: str
    segment: int
    offset: int
    length: int


def is_store(folder: Path) -> bool:
    """Whether a folder on this machine holds a crawl in segments."""
    first = index_key(1)
    return (folder / first).exists() or any(folder.glob(f"{WORKERS}/*/{first}"))


def open_view(address: str, cache: Path, *, archives: bool = False) -> tuple[Path, str]:
    """The folder below ``cache`` that shows the crawl at ``address`` as it is now; with its archives if ``archives`` is set.

    Also returns a text that identifies this state: as long as it is the same, so is the folder. Raises ``BadCrawlDir`` when
    there is no crawl, or another process is opening it; and as ``Remote`` does.
    """
    view = _View(address, cache / f"{_spelled(address)}-{md5(address.encode(), usedforsecurity=False).hexdigest()[:8]}")
    state = view.follow(SEEN, archives=archives)
    bring_pages(view.folder / PAGES, view.bring)
    return view.folder, state


def pull(address: str, folder: Path) -> None:
    """Copy the crawl at ``address`` into ``folder``, which is new, or comes from such a copy. Raises as ``open_view`` does."""
    if folder.exists() and not (folder.is_dir() and ((folder / BODIES).exists() or not any(folder.iterdir()))):
        raise BadInput(str(folder), "expected the name of a new or an empty folder")
    view = _View(address, folder)
    view.follow(FILES, archives=True)
    view.bring_all()
    for place in (folder, *folder.glob(f"{WORKERS}/*")):
        shutil.rmtree(place / SEGMENTS, ignore_errors=True)
    with _writing_in(folder):
        (folder / BODIES).unlink()


def _spelled(address: str) -> str:
    """The address as the beginning of a file name."""
    return "-".join("".join(sign if sign.isalnum() else " " for sign in address).split())[-80:]


class _View:
    """The crawl at ``address``, as far as it is in ``folder``."""

    def __init__(self, address: str, folder: Path) -> None:
        self.folder = folder
        self._remote = Remote(address)
        workers = {name: self._remote.below(f"{WORKERS}/{name}") for name in self._remote.names(WORKERS)}
        listed = {name: {*place.names()} for name, place in (workers or {"": self._remote}).items()}
        self._files = {name: files for name, files in listed.items() if MANIFEST in files}
        self._places = {name: workers.get(name, self._remote) for name in self._files}
        if not self._places:
            raise BadCrawlDir(address, f"expected a crawl, but it has no {MANIFEST}")

    def follow(self, files: Iterable[str], *, archives: bool) -> str:
        """Download these files and the logs of segments that are not here. Returns a text that identifies the state."""
        lock = FolderLock(self.folder)
        try:
            with _writing_in(self.folder), closing(self._bodies()) as bodies:
                return "\n".join(
                    _Copy(self, worker, remote, bodies).follow(
                        [name for name in (MANIFEST, *files) if name in self._files[worker]], archives=archives
                    )
                    for worker, remote in self._places.items()
                )
        finally:
            lock.close()

    def folder_of(self, worker: str) -> Path:
        return self.folder / WORKERS / worker if worker else self.folder

    def bring(self, name: str) -> None:
        """Write the page file of this name, with the versions that the crawl keeps; do nothing if there is no such page."""
        with _writing_in(self.folder), closing(self._bodies()) as bodies:
            versions = [
                _Body(*row) for row in bodies.execute("SELECT * FROM bodies WHERE name = ? ORDER BY version", (name,))
            ]
            if not versions:
                return
            best = self._counting(name, [body for body in versions if body.version == versions[-1].version])
            kept = best.version - int(read_info(self.folder).number("PAGE_VERSIONS", 1))
            for earlier in versions:
                if earlier.worker == best.worker and kept < earlier.version < best.version:
                    path = self._path(name)
                    _write(path.with_name(f"{path.name}.{earlier.version}"), self._read(earlier))
            self._write_with_neighbours(best, bodies)

    def bring_all(self) -> None:
        """Write the pages of each worker into its folder."""
        for worker, remote in self._places.items():
            pages = self.folder_of(worker) / PAGES
            keep = int(read_info(self.folder_of(worker)).number("PAGE_VERSIONS", 1))
            with _writing_in(pages), closing(self._bodies()) as bodies:
                rows = bodies.execute("SELECT * FROM bodies WHERE worker = ? ORDER BY segment, offset", (worker,))
                segment, data, last = 0, b"", dict[str, int]()
                for body in map(_Body._make, rows):
                    if body.segment != segment:
                        segment, data = body.segment, remote.read(pages_key(body.segment))
                    path = pages / page_path(body.name)
                    if before := last.get(body.name):
                        path.replace(path.with_name(f"{path.name}.{before}"))
                        path.with_name(f"{path.name}.{body.version - keep}").unlink(missing_ok=True)
                    last[body.name] = body.version
                    _write(path, _unpacked(data[body.offset : body.offset + body.length], body))

    def _counting(self, name: str, bodies: list[_Body]) -> _Body:
        """Of the bodies of several workers, the one whose visit counts in the history of all workers."""
        if len(bodies) == 1:
            return bodies[0]
        digests = {visit.digest for visit in read_visits(self.folder) if visit.md5 == name}
        found = (body for body in bodies if md5(self._read(body), usedforsecurity=False).hexdigest() in digests)
        return next(found, bodies[0])

    def _read(self, body: _Body) -> bytes:
        key, end = pages_key(body.segment), body.offset + body.length
        return _unpacked(self._places[body.worker].read(key, body.offset, end), body)

    def _write_with_neighbours(self, body: _Body, bodies: sqlite3.Connection) -> None:
        """Write a body, and those that are read with it, except pages with several versions or workers."""
        rows = bodies.execute(
            "SELECT * FROM bodies b WHERE worker = ? AND segment = ? AND offset > ? AND offset + length <= ? AND NOT EXISTS"
            " (SELECT 1 FROM bodies o WHERE o.name = b.name AND o.rowid <> b.rowid) ORDER BY offset",
            (body.worker, body.segment, body.offset, body.offset + _BESIDE),
        )
        found = [body, *map(_Body._make, rows)]
        end = found[-1].offset + found[-1].length
        data = self._places[body.worker].read(pages_key(body.segment), body.offset, end)
        for each in found:
            start = each.offset - body.offset
            piece = data[start : start + each.length]
            if each is body or (len(piece) == each.length and not self._path(each.name).exists()):
                _write(self._path(each.name), _unpacked(piece, each))

    def _path(self, name: str) -> Path:
        return self.folder / PAGES / page_path(name)

    def _bodies(self) -> sqlite3.Connection:
        try:
            bodies = sqlite3.connect(self.folder / BODIES, timeout=20.0)
            bodies.executescript(_TABLE)
        except sqlite3.Error as damage:
            raise StorageFailed(f"cannot open {self.folder / BODIES}: {damage}; remove the folder") from None
        return bodies


class _Copy:
    """The logs of one worker, or of a crawl with a single process, in its folder of the view."""

    def __init__(self, view: _View, worker: str, remote: Remote, bodies: sqlite3.Connection) -> None:
        self._view, self._worker, self._remote, self._bodies = view, worker, remote, bodies
        self._folder = view.folder_of(worker)

    def follow(self, files: Iterable[str], *, archives: bool) -> str:
        count, _ = committed(self._remote)
        with ThreadPoolExecutor(_AT_ONCE, "download") as pool:
            state = md5(self._worker.encode(), usedforsecurity=False)
            for name in files:
                _write(self._folder / name, data := self._remote.read(name))
                state.update(data)
            here = self._step_back(count)
            for number, data in self._in_turn(pool, range(here + 1, count + 1)):
                self._add(number, data, pool)
            if archives:
                for number in range(1, count + 1):
                    self._append(number, self._index(number), pool, archives=True)
        state.update((self._folder / index_key(count)).read_bytes() if count else b"")
        return f"{self._worker} {count} {state.hexdigest()}"

    def _step_back(self, count: int) -> int:
        """The last segment that is both here and there. Later ones are deleted here: a killed worker has removed them there, or a
        power failure has taken some of their data here.
        """
        here = 0
        while (self._folder / index_key(here + 1)).exists():
            here += 1
        keep = min(here, count)
        while keep and not self._is_whole(keep):
            keep -= 1
        for number in range(here, keep, -1):
            place = self._worker, number
            for (name,) in self._bodies.execute("SELECT name FROM bodies WHERE worker = ? AND segment = ?", place):
                self._forget(name)
            self._bodies.execute("DELETE FROM bodies WHERE worker = ? AND segment = ?", place)
            self._bodies.commit()
            (self._folder / index_key(number)).unlink()
        if keep < here:
            shutil.rmtree(self._folder / "warc", ignore_errors=True)
        logs = self._index(keep).logs if keep else {}
        for name in _FOLLOWED:
            if _size(self._folder / name) > (end := logs[name].end if name in logs else 0):
                os.truncate(self._folder / name, end)
        return keep

    def _is_whole(self, number: int) -> bool:
        """Whether the index of a segment is as it is there, and the logs are here up to its end."""
        if self._remote.read(index_key(number)) != (self._folder / index_key(number)).read_bytes():
            return False
        logs = self._index(number).logs.items()
        return all(tail_of(self._folder / name, piece.end) == piece.tail for name, piece in logs if name in _FOLLOWED)

    def _in_turn(self, pool: ThreadPoolExecutor, numbers: range) -> Iterator[tuple[int, bytes]]:
        for start in range(numbers.start, numbers.stop, 100):
            some = range(start, min(start + 100, numbers.stop))
            yield from zip(some, pool.map(lambda number: self._remote.read(index_key(number)), some), strict=True)

    def _add(self, number: int, data: bytes, pool: ThreadPoolExecutor) -> None:
        """Download a segment. Its index is written last here, too."""
        index = SegmentIndex.decoded(data, f"{self._remote.address}/{index_key(number)}")
        self._append(number, index, pool, archives=False)
        for body in index.pages:
            self._forget(body.name)
        rows = [(body.name, body.version, self._worker, number, body.offset, body.length) for body in index.pages]
        self._bodies.executemany("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._bodies.commit()
        _write(self._folder / index_key(number), data)

    def _append(self, number: int, index: SegmentIndex, pool: ThreadPoolExecutor, *, archives: bool) -> None:
        """Append what a segment adds to the logs, or to the archives and their index, unless it is here already."""
        names = [name for name in index.logs if name.startswith("warc/") == archives]
        pieces = {name: piece for name in names if (piece := index.logs[name]).end > piece.start}
        missing = {
            name: piece for name, piece in pieces.items() if _size(self._folder / name) < piece.end or not archives
        }
        found = pool.map(lambda name: self._remote.read(data_key(name, number)), missing)
        for (name, piece), packed in zip(missing.items(), found, strict=True):
            data = packed if is_archive(name) else _gunzip(packed, f"{self._remote.address}/{data_key(name, number)}")
            if len(data) != piece.end - piece.start:
                raise StorageFailed(f"{self._remote.address} has changed while it was read; try again")
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("r+b" if path.exists() else "wb") as file:
                file.seek(piece.start)
                file.write(data)

    def _forget(self, name: str) -> None:
        """Delete a page file: it may no longer hold the last version."""
        path = self._view.folder / PAGES / page_path(name)
        if path.exists():
            for each in (path, *path.parent.glob(f"{path.name}.*")):
                each.unlink()

    def _index(self, number: int) -> SegmentIndex:
        path = self._folder / index_key(number)
        return SegmentIndex.decoded(path.read_bytes(), str(path))


@contextmanager
def _writing_in(folder: Path) -> Iterator[None]:
    """Turn the errors of files and of SQLite into ``StorageFailed``."""
    try:
        with trying_to("write in", folder):
            yield
    except sqlite3.Error as failure:
        raise StorageFailed(f"cannot write in {folder}: {failure}") from failure


def _write(path: Path, data: bytes) -> None:
    write_atomically(path, [data], sync=False)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _unpacked(data: bytes, body: _Body) -> bytes:
    place = f"the body of {body.name} in {pages_key(body.segment)}"
    if len(data) != body.length or not data:
        raise StorageFailed(f"cannot read {place}: expected {body.length} bytes, not {len(data)}")
    return _gunzip(data, place)


def _gunzip(data: bytes, place: str) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as damage:
        raise StorageFailed(f"cannot read {place}: {damage}") from None
