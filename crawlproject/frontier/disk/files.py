"""The files of a frontier on disk, and the changes of the step under way."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from xxhash import xxh3_128_digest

from crawlproject.frontier.changes import LEAST_CLASS_SCORE, class_in_score
from crawlproject.frontier.disk.digest_numbers import DigestNumbers
from crawlproject.frontier.disk.hold_times import HoldTimes
from crawlproject.frontier.disk.host_counts import HostNumbers
from crawlproject.frontier.disk.journal import DiskJournal, HostFacts, Summary
from crawlproject.frontier.disk.url_records import EARLIER, MAPPED, RECORDS, UrlRecords, refuse_losses, sizes_of
from crawlproject.frontier.disk.url_table import CLASS_BITS, UrlRow, UrlTable
from crawlproject.records import ACTIVE, CrawlUrl

_JOURNAL_BYTES = 32 * 2**20  # the size from which a journal is summed up: a second of reading at the next opening
_JOURNAL_SHARE = 64  # or the size that is this part of the mapped files: each summary forces these onto the disk
_RELIEF = 256  # steps between two checks of the memory
_HOSTS_GAP = 4096  # more hosts than are new in the second before a power failure


class DiskFiles:
    """The rows and records of URLs, the numbers of URLs and hosts, and the journal.

    Changes are gathered (``rows.changed``, ``new``, ``note``, ...) until ``commit``, which makes them one atomic step. Opening
    applies the steps of the journal again; with ``readonly``, it only gathers them. Raises ``StorageFailed`` and ``BadCrawlDir``.
    """

    def __init__(self, folder: Path, cache: int, *, readonly: bool = False) -> None:
        self.folder = folder
        self._cache = cache or _half_of_memory()
        self._readonly = readonly
        self._journal = DiskJournal(folder)
        self._records = RECORDS if self._journal.has_blocks else EARLIER
        summary = self._journal.summary
        self._sizes_found = sizes_of(folder)
        if not readonly:
            refuse_losses(folder, self._sizes_found, {**summary.sizes, self._records: summary.urls_end})
        self.facts = HostFacts(summary)
        self._seed = summary.seed
        self._seen = DigestNumbers(folder / "seen", readonly=readonly)
        self.hosts = HostNumbers(folder / "hosts", self.digest, summary.hosts, readonly=readonly)
        self.rows = UrlTable(folder / "rows", readonly=readonly)
        self.urls = UrlRecords(folder, readonly=readonly)
        self.before_commit: Callable[[], object] = lambda: None  # writes what must be on disk before a step
        self.host_facts: Callable[[], dict[str, Any]] = dict  # what the next summary stores about hosts
        self._asked, self._digest = "", self.digest("")  # the URL that ``find`` was last called with
        self._found: int | None = None
        self._new_urls: dict[bytes, int] = {}
        self._notes: list[list[Any]] = []
        self._steps = 0
        self.urls_known = summary.urls
        self.held_until = HoldTimes(folder / "times", readonly=readonly)
        for number, until in summary.later:
            self.held_until[number] = until
        self._pieces_noted = self._pieces()
        self._journal_bytes = _journal_bytes(self._sizes_found)
        self._replay(summary.urls_end)
        self._has_old_scores = not self._journal.has_classes
        if self._has_old_scores and not readonly:
            self._read_classes_in_scores()

    # ------------------------------------------------------------ queries

    def digest(self, name: str) -> bytes:
        """The key of a URL or a host: 128 bits of XXH3, with a seed that is a secret of this frontier.

        Because of the seed, nobody can make up two URLs with one digest.
        """
        return xxh3_128_digest(name.encode("utf-8", "surrogatepass"), self._seed)

    def find(self, url: str) -> int | None:
        """The number of a URL, or None if it was never here. The last answer is cached, for callers ask several times."""
        if url != self._asked:
            self._digest = digest = xxh3_128_digest(url.encode("utf-8", "surrogatepass"), self._seed)
            number = self._new_urls.get(digest) if self._new_urls else None
            self._asked, self._found = url, self._seen.get(digest) if number is None else number
        return self._found

    def record(self, number: int, row: UrlRow) -> CrawlUrl:
        """The URL with this number and row."""
        score, precedence = row.score, row.precedence
        if self._has_old_scores and precedence == ACTIVE:
            precedence, score = class_in_score(score)
        return self.urls.load(row.offset, score, self.held_until[number], precedence)

    def records(self, states: Collection[int], known: Callable[[str], bool] | None = None) -> Iterator[CrawlUrl]:
        """All URLs in these states, except those whose keys are ``known``, in order of arrival."""
        for first, rows in self.rows.chunks(self.urls_known):
            numbers = np.arange(first, first + len(rows))
            for number in numbers[self.rows.match_many(numbers, None, states)].tolist():
                row = self.rows[number]
                if row.state in states and not (known and known(self.urls.url(row.offset))):
                    yield self.record(number, row)
        for number in sorted(self.rows.changed):  # rows that the file has no space for yet
            row = self.rows[number]
            is_new = number >= self.rows.capacity() and row.state in states
            if is_new and not (known and known(self.urls.url(row.offset))):
                yield self.record(number, row)

    # ------------------------------------------------------------ changes

    def new(self, url: str, host: int) -> int:
        """A number for a URL that is not known, or no longer known."""
        if url != self._asked:
            self.find(url)
        self._found = number = self.urls_known
        self.urls_known = number + 1
        self._new_urls[self._digest] = number
        hosts = self.hosts
        if host >= len(hosts.known_urls):
            hosts.grow(host)
        hosts.known_urls[host] += 1
        return number

    def note(self, *note: Any) -> None:
        """Record something that has no row (see ``journal.Frame``)."""
        self._notes.append([*note])

    def hold(self, number: int, until: float) -> None:
        """Do not take the URL before this time; 0: no limit."""
        if until != self.held_until[number]:
            self.held_until[number] = until
            self._notes.append(["later", number, until])

    def commit(self) -> None:
        """Make the gathered changes one atomic step. If the disk refuses, they stay gathered."""
        if not (self.rows.changed or self._notes or self.hosts.new):
            return
        self.before_commit()
        urls = self.urls
        if urls.unwritten:
            urls.write()
        if (pieces := self._pieces()) != self._pieces_noted:
            self._pieces_noted = pieces
            sizes = self._mapped_sizes()
            self._notes.append(["sizes", sizes])
            self._journal_bytes = _journal_bytes(sizes)
        rows = self.rows.pack()
        self._journal.append(rows, self._new_urls, self.hosts.new, urls.end, self._notes)
        self._notes = []
        self._apply(rows)
        if self._journal.size > self._journal_bytes and not self._journal.is_turning:
            self._seal()
            self._journal.turn(self._summary(), self._force)
        self._steps += 1
        # An unmapped page is mapped again by a page fault, which takes a few microseconds.
        if self._steps % _RELIEF == 0 and _shared_memory() > self._cache:
            self.rows.give_back()
            self._seen.give_back()
            self.held_until.give_back()

    def begin(self) -> None:
        """Sum up what the opening has applied again."""
        if self.urls.unwritten:
            self.urls.write()
        self._apply(self.rows.pack())
        self._notes = []
        self._sum_up()

    def finish(self) -> None:
        """Write the gathered changes, and force everything onto the disk."""
        self.commit()
        self._sum_up()

    def close(self) -> None:
        self._journal.close()
        self._seen.close()
        self.hosts.close()
        self.rows.close()
        self.held_until.close()
        self.urls.close()

    # ------------------------------------------------------------ inside

    def _replay(self, urls_end: int) -> None:
        for frame in self._journal.frames():
            self.rows.changed.update(frame.rows)
            self._new_urls.update(frame.urls)
            self.hosts.learn(frame.hosts)
            urls_end = frame.urls_end
            self.urls_known = max(self.urls_known, *(number + 1 for number in frame.rows), 0)
            if not self._readonly:
                self._apply(self.rows.pack())
            for kind, *values in frame.notes:
                if kind == "later":
                    number, until = values
                    self.held_until[number] = until
                elif kind == "sizes":
                    if not self._readonly:
                        refuse_losses(self.folder, self._sizes_found, values[0])
                else:
                    self.facts.replay(kind, values)
        if not self._readonly:
            refuse_losses(self.folder, self._sizes_found, {self._records: urls_end})
            self.urls.cut(urls_end, is_earlier=not self._journal.has_blocks)
            if not self._journal.closed:
                self._leave_a_gap()

    def _read_classes_in_scores(self) -> None:
        """Convert the URLs of an earlier version: give each the class that its score encodes. Repeatable after a crash."""
        for _, rows in self.rows.chunks(self.urls_known):
            for place in np.flatnonzero(rows["score"] >= LEAST_CLASS_SCORE).tolist():
                precedence, score = class_in_score(float(rows["score"][place]))
                rows["score"][place] = score
                rows["standing"][place] |= CLASS_BITS[precedence]
        self._has_old_scores = False

    def _leave_a_gap(self) -> None:
        """After a power failure the mapped files may be ahead of the journal: do not reuse numbers that they may have given."""
        self.held_until.wipe(self.urls_known)
        self.urls_known = self.rows.wipe(self.urls_known)
        self.hosts.total += _HOSTS_GAP

    def _apply(self, rows: bytes) -> None:
        """Write the step into the mapped files. What the disk refuses stays gathered."""
        if self._new_urls:
            self._seen.update(self._new_urls)
            self._new_urls.clear()
        if self.hosts.new:
            self.hosts.write()
        self.rows.apply(rows)
        self.held_until.apply()

    def _summary(self) -> Summary:
        return Summary(
            seed=self._seed,
            urls=self.urls_known,
            urls_end=self.urls.end,
            hosts=self.hosts.total,
            evicted=self.facts.evicted,
            history=self.facts.history,
            sizes=self._mapped_sizes(),
            **self.host_facts(),
        )

    def _mapped_sizes(self) -> dict[str, int]:
        sizes = sizes_of(self.folder)
        return {name: sizes[name] for name in (*MAPPED, EARLIER)}

    def _pieces(self) -> int:
        """The number of pieces of all mapped files, which grow piece by piece."""
        return self.rows.pieces() + self.held_until.pieces() + self._seen.pieces() + self.hosts.pieces()

    def _sum_up(self) -> None:
        """Force everything onto the disk, and begin a new journal."""
        self._journal.wait()
        self._seal()
        self._force()
        self._journal.begin(self._summary())

    def _seal(self) -> None:
        self._seen.seal()
        self.hosts.seal()

    def _force(self) -> None:
        """Force onto the disk what was sealed, and all other files."""
        self._seen.flush()
        self.hosts.flush()
        for file in (self.urls, self.rows, self.held_until):
            file.sync()


def is_disk_frontier(folder: Path) -> bool:
    """Whether a frontier on disk was once opened in this folder."""
    return (folder / "state.json").exists() and (folder / "rows").exists()


def remove_disk_frontier(folder: Path) -> bool:
    """Remove the files of a frontier on disk, and nothing else. Return whether there were any. Raises ``OSError``."""
    if not is_disk_frontier(folder):
        return False
    for name in (RECORDS, EARLIER, "rows", "times", "seen", "seen.map", "hosts", "hosts.map", "lines"):
        (folder / name).unlink(missing_ok=True)
    for journal in folder.glob("journal.[0-9]*"):
        journal.unlink(missing_ok=True)
    (folder / "state.json").unlink(missing_ok=True)  # last: until then the files can be recognised
    return True


def _journal_bytes(sizes: Mapping[str, int]) -> int:
    """The size from which a journal is summed up, given the file sizes: URLs change pages of large files at random."""
    return max(_JOURNAL_BYTES, sum(sizes[name] for name in MAPPED) // _JOURNAL_SHARE)


def _half_of_memory() -> int:
    """Half of the physical memory in bytes; 512 MiB if it is unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 2**29


def _shared_memory() -> int:
    """Bytes of mapped files that are in memory now; 0 if unknown."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[2]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
