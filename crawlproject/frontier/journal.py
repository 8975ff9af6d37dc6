"""A frontier that survives ``kill -9``: every change is written to a journal before the operation returns."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, StorageFailed, trying_to
from crawlproject.frontier.changes import Blocked, Change, Rests, from_json, to_json
from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.memory_store import MemoryStore
from crawlproject.storage.append_log import AppendLog, json_of, read_lines, write_atomically

NAME = "journal.jsonl"
_VERSION = {"format": "frontier journal", "version": 2}
_WITHOUT_CLASSES = {**_VERSION, "version": 1}
_WHOLE = "whole"  # ends the summary at the head of the file
_CHANGES_A_LINE = 1000


class ChangeLog:
    """The file: a version line, a summary of the past, the line ``"whole"``, then one line per operation.

    A line is a JSON list of changes (see ``changes.to_json``) and one atomic unit: a torn last line has not happened.
    Written lines survive a killed process. Only the summary is sure to survive a power failure.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.summary_size = 0  # bytes
        self.tail_size = 0  # bytes
        self._log: AppendLog | None = None
        self._has_classes = True  # whether the file stores the classes of URLs; known after ``changes``

    def changes(self) -> Iterator[tuple[int, Any]]:
        """The JSON lists of changes with their line numbers. Raises ``BadCrawlDir`` if the file is damaged or incomplete."""
        lines = enumerate(read_lines(self.path), start=1)
        if not self.path.exists():
            return
        first = next(lines, None)
        self._has_classes = first != (1, _WITHOUT_CLASSES)
        if self._has_classes and first != (1, _VERSION):
            raise self._damage(1, f"expected {_VERSION}")
        whole = False
        for number, line in lines:
            if line == _WHOLE:
                whole = True
            elif isinstance(line, list):
                yield number, line
            else:
                raise self._damage(number, "expected a list of changes")
        if not whole:
            raise BadCrawlDir(str(self.path), "the file was cut short; restore it, or remove it to start afresh")

    def replay(self, store: MemoryStore, now: float = math.inf, behind: float = 0.0) -> None:
        """Apply the written changes to an empty store. Raises ``BadCrawlDir`` when one does not fit.

        The clock was set back by ``behind`` seconds since, or perhaps by more. So every rest and block is shortened by that much,
        and limited to the longest possible one from ``now`` on.
        """
        latest = {Rests: now + store.politeness.longest, Blocked: now + store.politeness.longest_block}
        for number, line in self.changes():
            try:
                for part in line:
                    change = from_json(part)
                    if isinstance(change, Rests | Blocked) and change.until + behind > now:
                        change = change._replace(until=min(change.until - behind, latest[type(change)]))
                    store.apply(change)
            except (AttributeError, KeyError, TypeError, ValueError) as cause:
                wish = f"an impossible change ({type(cause).__name__}: {cause})"
                raise self._damage(number, wish) from cause
        if not self._has_classes:
            store.read_classes_in_scores()

    def begin(self, history: Iterable[Change]) -> None:
        """Replace the file atomically by one with this summary. Raises ``StorageFailed``."""
        write_atomically(self.path, _summary(history))
        _sync_folder(self.path.parent)
        self.close()
        self._log = AppendLog(self.path)
        self.summary_size = self.path.stat().st_size
        self.tail_size = 0

    def append(self, changes: list[Change]) -> None:
        """Write one line. Raises ``StorageFailed``; the file is then as before."""
        if self._log is None:
            raise StorageFailed(f"cannot write to {self.path}: it is closed")
        line = json_of(list(map(to_json, changes)), orjson.OPT_APPEND_NEWLINE)
        self._log.append_lines(line)
        self.tail_size += len(line)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def _damage(self, number: int, wish: str) -> BadCrawlDir:
        return BadCrawlDir(f"{self.path}, line {number}", f"{wish}; restore the file, or remove it to start afresh")


class JournaledFrontier(FrontierCore):
    """A ``Frontier``: the given one, which must be empty, with a journal in ``folder``.

    Opening replays the journal. URLs that were leased wait again, and their hosts rest from the time of opening, as ``clock``
    gives it (seconds since the epoch). ``behind``: seconds by which the clock was set back since the last run. Opening then
    sums up the past in a new file. So does ``close``, and every step after which the lines since the last summary exceed both
    ``slack`` bytes and twice the summary. So the time to open depends on the size of the frontier, not on the length of the
    crawl. Raises ``BadCrawlDir`` for a damaged journal.

    Every operation that changes something may raise ``StorageFailed``.
    """

    def __init__(
        self,
        inner: MemoryFrontier,
        folder: Path,
        *,
        clock: Callable[[], float],
        slack: int = 16 * 2**20,
        behind: float = 0.0,
    ) -> None:
        super().__init__(inner.store, inner.max_urls, newcomers_stay=inner.newcomers_stay)
        self._history = inner.store.history
        self._slack = slack
        self._journal = ChangeLog(folder / NAME)
        self._unwritten: list[Change] = []
        now = clock()
        self._journal.replay(inner.store, now, behind)
        inner.recover(now)
        self._journal.begin(self._history())
        inner.store.follow(self._unwritten.append, self._write)

    def close(self) -> None:
        """Sum up the past. If the disk refuses, the journal stays as it is, and ``StorageFailed`` is raised."""
        try:
            self._sum_up()
        finally:
            self._journal.close()

    def _write(self) -> None:
        """Write the changes of a step as one line."""
        if not self._unwritten:
            return
        self._journal.append(self._unwritten)
        self._unwritten.clear()
        if self._journal.tail_size > max(self._slack, 2 * self._journal.summary_size):
            self._sum_up()

    def _sum_up(self) -> None:
        self._journal.begin(self._history())
        self._unwritten.clear()


def _summary(history: Iterable[Change]) -> Iterator[bytes]:
    yield orjson.dumps(_VERSION) + b"\n"
    changes = map(to_json, history)
    while some := list(islice(changes, _CHANGES_A_LINE)):
        yield json_of(some, orjson.OPT_APPEND_NEWLINE)
    yield orjson.dumps(_WHOLE) + b"\n"


def _sync_folder(folder: Path) -> None:
    """Force a rename in the folder onto the disk. Raises ``StorageFailed``."""
    with trying_to("write to", folder):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
