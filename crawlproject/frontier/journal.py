"""A frontier that survives ``kill -9``: every change is written to a journal before the operation returns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.base import HostStats
from crawlproject.frontier.changes import Change, from_json, to_json
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.records import CrawlUrl
from crawlproject.storage.append_log import AppendLog, read_lines, write_atomically

NAME = "journal.jsonl"
_VERSION = {"format": "frontier journal", "version": 1}
_WHOLE = "whole"  # ends the summary at the head of the file
_CHANGES_A_LINE = 1000


class ChangeLog:
    """The file: a version line, a summary of the past, the line ``"whole"``, then one line per operation.

    A line is a JSON list of changes (see ``changes.to_json``) and one atomic unit: a torn last line has not happened.
    Written lines are safe when the process is killed; against power failure only the summary is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.summary_size = 0  # bytes
        self.tail_size = 0  # bytes
        self._log: AppendLog | None = None

    def changes(self) -> Iterator[tuple[int, Any]]:
        """The JSON lists of changes with their line numbers. Raises ``BadCrawlDir`` for a file that is not whole."""
        lines = enumerate(read_lines(self.path), start=1)
        if not self.path.exists():
            return
        if next(lines, None) != (1, _VERSION):
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

    def replay(self, frontier: MemoryFrontier) -> None:
        """Let everything that was written happen to an empty frontier. Raises ``BadCrawlDir`` when it cannot have been."""
        for number, line in self.changes():
            try:
                for change in line:
                    frontier.replay(from_json(change))
            except (AttributeError, KeyError, TypeError, ValueError) as cause:
                wish = f"a change that cannot have happened ({type(cause).__name__}: {cause})"
                raise self._damage(number, wish) from cause

    def begin(self, history: Iterable[Change]) -> None:
        """Replace the file, whole or not at all, by one with this summary. Raises ``StorageFailed``."""
        write_atomically(self.path, _summary(history))
        _sync_folder(self.path.parent)
        self.close()
        self._log = AppendLog(self.path)
        self.summary_size = self.path.stat().st_size
        self.tail_size = 0

    def append(self, changes: list[Change]) -> None:
        """Write one line. Raises ``StorageFailed``; then the file is as before."""
        if self._log is None:
            raise StorageFailed(f"cannot write to {self.path}: it is closed")
        line = _line(changes)
        self._log.append_lines(line)
        self.tail_size += len(line)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def _damage(self, number: int, wish: str) -> BadCrawlDir:
        return BadCrawlDir(f"{self.path}, line {number}", f"{wish}; restore the file, or remove it to start afresh")


class JournaledFrontier:
    """A ``Frontier``: the given one, empty at first, and a journal of it in ``folder``.

    Opening replays the journal. URLs that were leased wait again, their hosts rest from the opening on, which is what
    ``clock`` (seconds since the epoch) is asked for. The past is then summed up in a new file, as it is on ``close``
    and whenever the lines since the last summary are over ``slack`` bytes and twice the summary: so opening takes as
    long as the frontier is large, not as the crawl was long. Raises ``BadCrawlDir`` for a damaged journal.

    Every operation that changes something may raise ``StorageFailed``. It has happened in memory then, and is
    written with the next one that the disk takes.
    """

    def __init__(
        self, inner: MemoryFrontier, folder: Path, *, clock: Callable[[], float], slack: int = 16 * 2**20
    ) -> None:
        self._inner = inner
        self._slack = slack
        self._journal = ChangeLog(folder / NAME)
        self._unwritten: list[Change] = []
        self._in_batch = False
        self._journal.replay(inner)
        inner.recover(clock())
        self._journal.begin(inner.history())
        inner.follow(self._unwritten.append)

    # ------------------------------------------------------------ what changes something

    def put(self, url: CrawlUrl) -> bool:
        new = self._inner.put(url)
        self._write()
        return new

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        new = self._inner.put_many(urls)
        self._write()
        return new

    def take(self, now: float) -> CrawlUrl | None:
        url = self._inner.take(now)
        self._write()
        return url

    def spare_dormant(self) -> None:
        """As ``SparingFrontier`` says."""
        self._inner.spare_dormant()

    def done(self, url: str, now: float, seconds: float) -> None:
        self._inner.done(url, now, seconds)
        self._write()

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        self._inner.release(url, now, seconds, not_before=not_before, picked=picked)
        self._write()

    def postpone(self, url: str, not_before: float) -> None:
        self._inner.postpone(url, not_before)
        self._write()

    def drop(self, url: str, *, picked: bool = False) -> None:
        self._inner.drop(url, picked=picked)
        self._write()

    def rescore(self, url: str, score: float) -> bool:
        waits = self._inner.rescore(url, score)
        self._write()
        return waits

    def withdraw(self, url: str) -> bool:
        waited = self._inner.withdraw(url)
        self._write()
        return waited

    def crawl_delay(self, host: str, seconds: float) -> None:
        self._inner.crawl_delay(host, seconds)
        self._write()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """What happens inside becomes one line. When the block raises, what happened until then does."""
        self._in_batch = True
        try:
            yield
        finally:
            self._in_batch = False
            self._write()

    def close(self) -> None:
        """Sum up the past. When the disk refuses that, the journal stays as it is, and ``StorageFailed`` is raised."""
        try:
            self._sum_up()
        finally:
            self._journal.close()

    # ------------------------------------------------------------ what does not

    def next_due(self, now: float) -> float | None:
        return self._inner.next_due(now)

    def __len__(self) -> int:
        return len(self._inner)

    def __contains__(self, url: str) -> bool:
        return url in self._inner

    def leased(self, url: str) -> CrawlUrl | None:
        return self._inner.leased(url)

    def leases(self) -> int:
        return self._inner.leases()

    def waiting(self) -> Iterator[CrawlUrl]:
        return self._inner.waiting()

    def best(self) -> float | None:
        return self._inner.best()

    def hosts(self) -> int:
        return self._inner.hosts()

    def evicted(self) -> int:
        return self._inner.evicted()

    def resting(self) -> int:
        return self._inner.resting()

    def busiest(self, n: int) -> list[HostStats]:
        return self._inner.busiest(n)

    # ------------------------------------------------------------ inside

    def _write(self) -> None:
        if self._in_batch or not self._unwritten:
            return
        self._journal.append(self._unwritten)
        self._unwritten.clear()
        if self._journal.tail_size > max(self._slack, 2 * self._journal.summary_size):
            self._sum_up()

    def _sum_up(self) -> None:
        self._journal.begin(self._inner.history())
        self._unwritten.clear()


def _summary(history: Iterable[Change]) -> Iterator[bytes]:
    yield orjson.dumps(_VERSION) + b"\n"
    changes = iter(history)
    while some := list(islice(changes, _CHANGES_A_LINE)):
        yield _line(some)
    yield orjson.dumps(_WHOLE) + b"\n"


def _line(changes: list[Change]) -> bytes:
    parts = [to_json(change) for change in changes]
    try:
        return orjson.dumps(parts, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # half a surrogate pair in an anchor: JSON can only carry text
        return orjson.dumps(_as_text(parts), option=orjson.OPT_APPEND_NEWLINE)


def _as_text(value: Any) -> Any:
    """The same value with ``?`` for what is no character."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return [_as_text(part) for part in value] if isinstance(value, list) else value


def _sync_folder(folder: Path) -> None:
    """Force a rename in the folder onto the disk. Raises ``StorageFailed``."""
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise StorageFailed(f"cannot write to {folder}: {error}") from error
