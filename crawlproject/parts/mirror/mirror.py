"""What of a crawl folder is sent to its mirror, and what of it is there already.

    crawl.json                    as in the folder; so are the other files, of FILES
    history/000001.jsonl          the lines of history.jsonl, in parts; so are items/, links/ and warc/records/
    pages/16/07/1607...           the page files
    warc/reefs-00000.warc.gz      archives, once they are full, or the crawl has ended

Stores of objects cannot append, so logs are sent in parts. The last part is sent anew as it grows, until it is FULL. Pages go
before the items and links of that time, and these before the lines of the history, which commit them: so the copy is at all
times a crawl folder of some moments before, which a crawl can go on from. What is there is noted in ``mirror.json`` of the crawl
folder. At the start parts are compared with the logs, as a killed crawl may have cut off their ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import md5
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadInput
from crawlproject.storage.append_log import write_atomically
from crawlproject.storage.crawl_files import MANIFEST, MARKER
from crawlproject.storage.page_files import PAGES
from crawlproject.storage.remote import Remote
from crawlproject.urls.hosts import page_path

STATE = "mirror.json"
FULL = 4 * 2**20  # bytes: a part that has them gets no further lines
HISTORY = "history.jsonl"
LOGS = ("links.jsonl", "items.jsonl", "warc/records.jsonl", HISTORY)
FILES = (  # none of them has a secret
    "agents.json",
    "answers.jsonl",
    "changes.jsonl",
    "judgments.jsonl",
    "probes.jsonl",
    "refused.json",
    "report.html",
    "report.json",
    "robots.jsonl",
    "rules.jsonl",
    "sitemaps.jsonl",
    "sketches.jsonl",
    "topics.jsonl",
)

_LINES = 500  # of the history, whose pages are sent together
_READ = 2 * FULL


@dataclass(slots=True)
class _LogPart:
    """The lines of a log up to byte ``end``, with their MD5."""

    end: int
    digest: str


@dataclass(slots=True)
class _State:
    address: str
    pages: int = 0  # bytes of the history whose pages are sent
    logs: dict[str, list[_LogPart]] = field(default_factory=dict)
    files: dict[str, list[int]] = field(default_factory=dict)  # path -> size and time of change


class Mirror:
    """The copy of the crawl in ``folder`` at ``remote``. One at a time. All may raise ``BadInput`` and ``StorageFailed``.

    ``files`` and ``bytes`` count what was sent.
    """

    def __init__(self, folder: Path, remote: Remote) -> None:
        self.folder, self.remote = folder, remote
        self.files = self.bytes = 0
        self._state = _read(folder / STATE, remote.address)
        self._is_compared = False

    def claim(self, manifest: Mapping[str, Any]) -> None:
        """Write ``crawl.json``, unless that of another crawl is there: ``BadInput``."""
        there = self.remote.get(MANIFEST)
        if there is not None and _identity(there) != (manifest["started"], manifest["topic"]["name"]):
            raise BadInput(self.remote.address, "holds another crawl, or something else; choose another address")
        self.remote.put(MANIFEST, orjson.dumps(manifest))

    def update(self, *, over: bool = False) -> None:
        """Send what has come since. ``over``: the crawl has ended, so that archives and files are sent that still grew."""
        if not self._is_compared:
            self._compare()
        if MARKER in self._state.files and not (self.folder / MARKER).exists():
            self.remote.remove(MARKER)
            del self._state.files[MARKER]
        size = _whole_lines(self.folder / HISTORY)
        self._send_pages(size)
        for name in LOGS:
            self._send_log(name, size if name == HISTORY else None)
        archives = sorted(path.relative_to(self.folder).as_posix() for path in self.folder.glob("warc/*.warc.gz"))
        self._send_files([MANIFEST, *(archives if over else archives[:-1])])
        if over:
            self._send_files([*FILES, MARKER])

    def _send_pages(self, size: int) -> None:
        """The pages of the history up to byte ``size``; a version that was sent before is sent again beside a new one."""
        found = _lines(self.folder / HISTORY, self._state.pages, size)
        while lines := [*islice(found, _LINES)]:
            visits = [orjson.loads(line) for line in lines]
            paths = dict.fromkeys(path for visit in visits if visit["md5"] for path in self._page_files(visit))
            self.bytes += self.remote.send_all([(path, path.relative_to(self.folder).as_posix()) for path in paths])
            self.files += len(paths)
            self._state.pages += sum(map(len, lines))
            self._save()

    def _page_files(self, visit: Mapping[str, Any]) -> Iterable[Path]:
        path = self.folder / PAGES / page_path(visit["md5"])
        if visit.get("version", 1) == 1:
            return [path]
        return [path, *(each for each in path.parent.glob(f"{path.name}.*") if each.suffix[1:].isdigit())]

    def _send_log(self, name: str, end: int | None) -> None:
        path = self.folder / name
        end = _whole_lines(path) if end is None else end
        parts = self._state.logs.setdefault(name, [])
        while True:
            start, number = parts[-1].end if parts else 0, len(parts) + 1
            if not (data := _piece(path, start, end)):
                return
            if parts and _size(parts, -1) < FULL:
                before = _piece(path, _start(parts, -1), start)
                data, start, number = before + data, _start(parts, -1), len(parts)
            self.remote.put(_key(name, number), data)
            self._count(len(data))
            parts[number - 1 :] = [_LogPart(start + len(data), md5(data, usedforsecurity=False).hexdigest())]
            self._save()

    def _send_files(self, names: Iterable[str]) -> None:
        for name in names:
            try:
                stat = (self.folder / name).stat()
                if (mark := [stat.st_size, stat.st_mtime_ns]) == self._state.files.get(name):
                    continue
                self._count(self.remote.send(self.folder / name, name))
            except FileNotFoundError:
                continue
            self._state.files[name] = mark
            self._save()

    def _compare(self) -> None:
        """Forget the parts from the first one on that is not as in the folder; what is too much of them is removed."""
        for name, parts in self._state.logs.items():
            right = 0
            while right < len(parts) and _digest(self.folder / name, _start(parts, right), parts[right].end) == (
                parts[right].digest
            ):
                right += 1
            for number in range(right, len(parts)):
                self.remote.remove(_key(name, number + 1))
            if name == HISTORY and right < len(parts):
                self._state.pages = min(self._state.pages, _start(parts, right))
            del parts[right:]
        self._save()
        self._is_compared = True

    def _count(self, size: int) -> None:
        self.files += 1
        self.bytes += size

    def _save(self) -> None:
        write_atomically(self.folder / STATE, [orjson.dumps(asdict(self._state))], sync=False)


def _read(path: Path, address: str) -> _State:
    """What was noted; nothing, if it is damaged or of another address: then all is sent again."""
    try:
        found = orjson.loads(path.read_bytes())
        logs = {name: [_LogPart(**part) for part in parts] for name, parts in found.pop("logs").items()}
        state = _State(logs=logs, **found)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return _State(address)
    return state if state.address == address else _State(address)


def _identity(manifest: bytes) -> tuple[Any, Any]:
    try:
        found = orjson.loads(manifest)
        return found["started"], found["topic"]["name"]
    except (ValueError, TypeError, KeyError):
        return None, None


def _key(log: str, number: int) -> str:
    return f"{log.removesuffix('.jsonl')}/{number:06}.jsonl"


def _start(parts: list[_LogPart], index: int) -> int:
    index %= len(parts)
    return parts[index - 1].end if index else 0


def _size(parts: list[_LogPart], index: int) -> int:
    return parts[index].end - _start(parts, index)


def _whole_lines(path: Path) -> int:
    """The bytes up to the last line end; the crawl may be writing what follows."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, 2)
            while end:
                start = max(0, end - 2**16)
                file.seek(start)
                if (found := file.read(end - start).rfind(b"\n")) >= 0:
                    return start + found + 1
                end = start
    except FileNotFoundError:
        pass
    return 0


def _piece(path: Path, start: int, end: int) -> bytes:
    """Lines from ``start`` on, whole ones, at most ``_READ`` bytes unless the first is longer; none: it is at its ``end``."""
    if start >= end:
        return b""
    with path.open("rb") as file:
        file.seek(start)
        data = file.read(min(_READ, end - start))
        return data[: data.rfind(b"\n") + 1] or data + file.readline()


def _lines(path: Path, start: int, end: int) -> Iterator[bytes]:
    if start < end:
        with path.open("rb") as file:
            file.seek(start)
            while start < end:
                line = file.readline()
                start += len(line)
                yield line


def _digest(path: Path, start: int, end: int) -> str:
    """The MD5 of these bytes; empty when they are not there."""
    digest = md5(usedforsecurity=False)
    try:
        with path.open("rb") as file:
            file.seek(start)
            while start < end:
                if not (data := file.read(min(2**20, end - start))):
                    return ""
                digest.update(data)
                start += len(data)
    except FileNotFoundError:
        return ""
    return digest.hexdigest()
