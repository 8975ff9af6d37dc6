"""The crawl folder at a remote address: segments, each committed by its index, which is written last.

    crawl.json, finished.json     as in the folder; likewise the other files of FILES
    history/000001.jsonl.gz       the lines that segment 1 adds to history.jsonl; likewise for the other logs
    pages/000001.gz               the bodies of its pages, each a gzip member
    warc/reefs-00000/000001.warc.gz     what it adds to an archive, whole records
    segments/000001.json          the index of the segment: the end of each log, and the place of each body

Object stores cannot append, and show an object only when it is complete. A segment never changes. Data that no index names does
not exist, and an index only counts if all indexes before it are there. So a reader always sees the crawl folder as it was some
moments before: a page is there whole, with its item and its links, or not at all.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from hashlib import md5
from pathlib import Path
from typing import NamedTuple

import orjson

from crawlproject.errors import StorageFailed
from crawlproject.storage.append_log import ITEMS
from crawlproject.storage.crawl_files import PROBES, SITEMAPS
from crawlproject.storage.logs import CHANGES, ROBOTS
from crawlproject.storage.read import HISTORY, LINKS
from crawlproject.storage.remote import Remote

SEGMENTS = "segments"  # the folder of the indexes
RECORDS = "warc/records.jsonl"
LOGS = (HISTORY, LINKS, ITEMS, CHANGES, ROBOTS, SITEMAPS, PROBES, RECORDS)
SEEN = ("agents.json", "judgments.jsonl", "refused.json", "rules.jsonl", "topics.jsonl")  # files that readers need
FILES = (*SEEN, "answers.jsonl", "report.html", "report.json", "sketches.jsonl")  # none of them contains a secret

_ARCHIVE = ".warc.gz"
_VERSION = 1
_TAIL = 4096  # bytes
_MOST = 2**53  # of bytes and versions


@dataclass(frozen=True, slots=True)
class LogSlice:
    """Bytes ``start`` to ``end`` of a log in the crawl folder; ``tail`` is the MD5 of the last bytes before ``end``."""

    start: int
    end: int
    tail: str


class StoredBody(NamedTuple):
    """The place of a page's body in the ``pages`` of its segment; ``name`` is that of the page file."""

    name: str
    version: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class SegmentIndex:
    """Commits a segment: its bodies, and all logs that exist, including those to which it adds nothing."""

    logs: dict[str, LogSlice]
    pages: list[StoredBody]

    def encoded(self) -> bytes:
        logs = {name: asdict(piece) for name, piece in self.logs.items()}
        return orjson.dumps({"version": _VERSION, "logs": logs, "pages": [list(body) for body in self.pages]})

    @classmethod
    def decoded(cls, data: bytes, place: str) -> SegmentIndex:
        """Raises ``StorageFailed`` if ``data`` is not an index."""
        try:
            found = orjson.loads(data)
            if found["version"] != _VERSION:
                raise ValueError(f"version {found['version']}")
            logs = {_known(name): LogSlice(**piece) for name, piece in found["logs"].items()}
            pages = [StoredBody(_named(body[0]), *body[1:]) for body in found["pages"]]
            numbers = [number for piece in logs.values() for number in (piece.start, piece.end)]
            numbers += [number for body in pages for number in body[1:]]
            if not all(isinstance(number, int) and 0 <= number < _MOST for number in numbers):
                raise ValueError("expected whole numbers from 0 up")
            return cls(logs, pages)
        except (ValueError, TypeError, LookupError, AttributeError) as damage:
            raise StorageFailed(f"cannot read {place}: expected the index of a segment ({damage!r})") from None

    def is_of(self, folder: Path) -> bool:
        """Whether the logs in ``folder`` hold all that was committed up to here, and nothing else."""
        return all(tail_of(folder / name, piece.end) == piece.tail for name, piece in self.logs.items())

    def keys(self, number: int) -> list[str]:
        """The keys of the data of this segment."""
        keys = [data_key(name, number) for name, piece in self.logs.items() if piece.end > piece.start]
        return [*keys, pages_key(number)] if self.pages else keys


def _known(log: str) -> str:
    """Check the name of a log, which becomes a path in the folder of the reader."""
    if log not in LOGS and not re.fullmatch(r"warc/[^/.][^/]*\.warc\.gz", log):
        raise ValueError(f"the log {log}")
    return log


def _named(page: str) -> str:
    if not re.fullmatch("[0-9a-f]{32}", page):
        raise ValueError(f"the page {page}")
    return page


def index_key(number: int) -> str:
    return f"{SEGMENTS}/{number:06}.json"


def pages_key(number: int) -> str:
    return f"pages/{number:06}.gz"


def data_key(log: str, number: int) -> str:
    """The key of what a segment adds to a log, compressed; archives already are."""
    if is_archive(log):
        return f"{log.removesuffix(_ARCHIVE)}/{number:06}{_ARCHIVE}"
    return f"{log.removesuffix('.jsonl')}/{number:06}.jsonl.gz"


def is_archive(log: str) -> bool:
    return log.endswith(_ARCHIVE)


def committed(remote: Remote) -> tuple[int, list[int]]:
    """The number of segments that count, and the numbers of indexes that do not, since one before them is missing."""
    names = [name for name in remote.names(SEGMENTS) if name.endswith(".json") and name[:-5].isdigit()]
    numbers = sorted(int(name[:-5]) for name in names)
    count = next((place for place, number in enumerate(numbers) if number != place + 1), len(numbers))
    return count, numbers[count:]


def tail_of(path: Path, end: int) -> str:
    """The MD5 of the last bytes of a file before ``end``; empty where it is shorter, and for an ``end`` of 0."""
    if not end:
        return ""
    try:
        with path.open("rb") as file:
            file.seek(max(0, end - _TAIL))
            tail = file.read(min(end, _TAIL))
    except FileNotFoundError:
        return ""
    return md5(tail, usedforsecurity=False).hexdigest() if len(tail) == min(end, _TAIL) else ""
