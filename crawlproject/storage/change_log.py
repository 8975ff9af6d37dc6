"""``changes.jsonl``: what has become of the pages of a collection, a line a change, in the order in which it was seen.

New pages are not in it: the history has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from crawlproject.errors import BadCrawlDir
from crawlproject.records import GONE, MOVED
from crawlproject.storage.append_log import AppendLog, read_lines
from crawlproject.storage.tail import START, TailReader

NAME = "changes.jsonl"
RETIRED = "retired"  # by the crawl itself, which keeps only so many pages (``CRAWL_KEEP_PAGES``)
AWAY = (GONE, MOVED, RETIRED)  # states of pages that are no part of the collection any more


@dataclass(frozen=True, slots=True)
class PageChange:
    """One change of one page.

    ``change`` is that of ``Visit``, or ``RETIRED``. ``at`` is when it was seen, in seconds since the epoch; the change itself
    came after ``since``, the visit before. ``version`` counts the texts of the page; ``novelty``, 0 to 1, is the share of this
    one that is new. ``added`` and ``removed`` are passages of its text and of the text before. ``target`` is where a page moved
    to.
    """

    url: str
    change: str
    at: float
    since: float
    number: int
    version: int
    title: str = ""
    relevance: float = 0.0
    novelty: float = 0.0
    target: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


_FIELDS = frozenset(field.name for field in fields(PageChange))


class PageChangeLog:
    """Appends changes. Raises ``StorageFailed``.

    A line is written before the line of the history that commits it. A crawl that is killed in between visits the page again,
    and its change has two lines: readers take the last one of a page and a version.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._log: AppendLog | None = None

    def append(self, change: PageChange) -> None:
        if self._log is None:
            self._log = AppendLog(self._path)
        self._log.append(change)

    def close(self) -> None:
        if self._log is not None:
            self._log.sync()
            self._log.close()


def read_changes(folder: Path) -> Iterator[PageChange]:
    """Stream the changes. Unknown fields are ignored. Raises ``BadCrawlDir`` for a damaged line."""
    path = folder / NAME
    for number, line in enumerate(read_lines(path), start=1):
        yield _change_of(line, f"{path}, line {number}")


class LatestChanges:
    """The latest ``most`` changes of a log that grows, each once."""

    def __init__(self, folder: Path, most: int) -> None:
        self._path = folder / NAME
        self._most = most
        self._place = START
        self._found: dict[tuple[str, int, bool], PageChange] = {}  # the latest last

    def read(self) -> list[PageChange]:
        """Those that are in the log now, the latest first. Raises ``BadCrawlDir`` for a damaged line."""
        lines = TailReader(self._path, self._place)
        if lines.restarted:
            self._found.clear()
        for line in lines:
            change = _change_of(line, lines.here)
            key = change.url, change.number, change.change == RETIRED
            self._found.pop(key, None)  # a crawl that is killed may write one twice
            self._found[key] = change
            if len(self._found) > self._most:
                del self._found[next(iter(self._found))]
        self._place = lines.place
        return list(reversed(self._found.values()))


def _change_of(line: Mapping[str, Any], place: str) -> PageChange:
    try:
        known = {name: value for name, value in line.items() if name in _FIELDS}
        known |= {name: tuple(known.get(name, ())) for name in ("added", "removed")}
        return PageChange(**known)
    except (AttributeError, TypeError) as damage:
        raise BadCrawlDir(place, f"expected the fields of a change: {damage}") from None
