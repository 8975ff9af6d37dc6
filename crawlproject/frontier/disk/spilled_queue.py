"""An external priority queue of waiting URLs: sorted runs on disk, the newest entries in memory."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush, heapreplace

import numpy as np

from crawlproject.frontier.disk.spill_file import ENTRY, Entry, PlainEntryHeap, SpillFile

try:
    from crawlproject.frontier.disk.packed_heap import PackedHeap as EntryHeap
except Exception:  # not built, or in a zip file
    EntryHeap = PlainEntryHeap  # type: ignore[assignment, misc]

_DTYPE = np.dtype([("rank", "<f8"), ("number", "<i8")])
_FAN = 8  # this many runs of about one size are merged into one
_READ = 1 << 16  # bytes read at once when many entries leave
_LARGEST_MERGE = 1 << 18  # entries: longer runs stay as they are, so that no merge causes a delay


class _Run:
    """Sorted entries on disk, read from the front ``chunk`` bytes at a time."""

    __slots__ = ("at", "buffer", "chunk", "file", "length", "offset", "position", "serial")

    def __init__(self, file: SpillFile, entries: bytes, chunk: int) -> None:
        self.serial = file.count()
        self.file = file
        self.offset = file.write(entries)
        self.length = len(entries)
        self.chunk = chunk
        self.position = min(chunk, self.length)  # where the next chunk begins
        self.buffer = entries[: self.position]
        self.at = 0

    def next(self) -> Entry | None:
        """Remove and return the first entry. If there is none, free the block and return None."""
        if self.at == len(self.buffer):
            if self.position == self.length:
                self.file.free(self.offset, self.length)
                return None
            size = min(self.chunk, self.length - self.position)
            self.buffer = self.file.read(self.offset + self.position, size)
            self.position += size
            self.at = 0
        entry: Entry = ENTRY.unpack_from(self.buffer, self.at)
        self.at += ENTRY.size
        return entry

    def until(self, rank: float) -> np.ndarray:
        """Remove and return the entries up to this rank. The block is freed only by the next call of ``next``."""
        parts: list[np.ndarray] = []
        while True:
            entries = np.frombuffer(self.buffer, _DTYPE)[self.at // ENTRY.size :]
            inside = int(np.searchsorted(entries["rank"], rank, "right"))
            parts.append(entries[:inside])
            self.at += inside * ENTRY.size
            if inside < len(entries) or self.position == self.length:
                return np.concatenate(parts)
            size = min(_READ, self.length - self.position)
            self.buffer = self.file.read(self.offset + self.position, size)
            self.position += size
            self.at = 0

    def rest(self) -> np.ndarray:
        """Return all entries that have not left, and free the block."""
        size = self.length - self.position
        data = self.buffer[self.at :] + self.file.read(self.offset + self.position, size)
        self.file.free(self.offset, self.length)
        return np.frombuffer(data, _DTYPE)


class SpilledQueue:
    """A min-heap of entries with lazy deletion, like ``LazyHeap``, with at most ``limit`` new entries in memory.

    Beyond that, the new entries become a sorted run on disk, and ``first`` merges the runs. An entry is dead when
    ``alive(entry)`` is False; ``alive_many`` tests arrays of ranks and numbers. Eight runs of similar size are merged into one,
    without their dead entries. When the dead outnumber the living, runs are merged just to remove the dead. So each entry is
    written O(log n) times, and a step never touches more than 2^18 entries.
    """

    __slots__ = (
        "_alive",
        "_alive_many",
        "_chunk",
        "_dead",
        "_file",
        "_fresh",
        "_heads",
        "_in_runs",
        "_limit",
        "_tiers",
    )

    def __init__(
        self,
        file: SpillFile,
        alive: Callable[[Entry], bool],
        alive_many: Callable[[np.ndarray, np.ndarray], np.ndarray],
        *,
        limit: int,
        chunk: int,
    ) -> None:
        self._file = file
        self._alive = alive
        self._alive_many = alive_many
        self._limit = limit
        self._chunk = chunk * ENTRY.size
        self._fresh = EntryHeap()
        self._heads: list[tuple[float, int, int, _Run]] = []  # the first entry of each run
        self._tiers: dict[int, list[_Run]] = {}
        self._in_runs = 0  # entries, including dead ones
        self._dead = 0  # entries reported as dead

    def push(self, entry: Entry) -> None:
        if self._fresh.push(entry) > self._limit:
            self._spill()

    def first(self) -> Entry | None:
        """The least living entry; it stays inside."""
        while True:
            entry, heads = self._fresh.first(), self._heads
            if heads and (entry is None or heads[0] < entry):
                entry = heads[0][:2]
                if self._alive(entry):
                    return entry
                self._step()
            elif entry is not None:
                if self._alive(entry):
                    return entry
                self._fresh.pop()
            else:
                self._dead = 0
                return None
            self._dead -= 1

    def pop(self) -> Entry | None:
        """Remove the least living entry with its duplicates: a URL whose score changed and changed back is there twice."""
        entry = self.first()
        if entry is not None:
            self.drop(entry)
        return entry

    def drop(self, entry: Entry) -> None:
        """Remove an entry that ``first`` returned."""
        fresh, heads = self._fresh, self._heads
        rank, number = entry
        while fresh.first() == entry:
            fresh.pop()
        while heads and heads[0][1] == number and heads[0][0] == rank:
            self._step()

    def pop_until(self, rank: float) -> tuple[np.ndarray, np.ndarray]:
        """Remove all entries up to this rank. Return ranks and numbers of the living, unordered; a number may occur twice."""
        fresh = self._fresh.entries()
        taken = [np.array([entry for entry in fresh if entry[0] <= rank], _DTYPE)]
        self._fresh = EntryHeap(entry for entry in fresh if entry[0] > rank)
        while self._heads and self._heads[0][0] <= rank:
            more = self._heads[0][3].until(rank)
            taken += [np.array([self._heads[0][:2]], _DTYPE), more]
            self._in_runs -= len(more)
            self._step()
        entries = np.concatenate(taken)
        keep = self._alive_many(entries["rank"], entries["number"])
        self._dead = max(0, self._dead - int(np.count_nonzero(~keep)))
        return entries["rank"][keep], entries["number"][keep]

    def died(self) -> None:
        """Report that an entry inside is no longer alive."""
        self._dead += 1
        if self._dead > 4 * self._limit and 2 * self._dead > self._size():
            self._sweep()

    def load(self, ranks: np.ndarray, numbers: np.ndarray) -> None:
        """Add many entries at once, as one run."""
        if len(ranks):
            self._add_run(ranks, numbers)

    def all_in_memory(self) -> list[Entry] | None:
        """The living entries, in no order; None if some are on disk."""
        return None if self._heads else [entry for entry in self._fresh.entries() if self._alive(entry)]

    # ------------------------------------------------------------ inside

    def _step(self) -> None:
        """Remove the first of the run heads."""
        run = self._heads[0][3]
        self._in_runs -= 1
        entry = run.next()
        if entry is None:
            heappop(self._heads)
            self._tiers[_tier(run.length)].remove(run)
        else:
            heapreplace(self._heads, (*entry, run.serial, run))

    def _size(self) -> int:
        """The number of entries, including dead ones."""
        return len(self._fresh) + self._in_runs

    def _spill(self) -> None:
        self._add_sorted(self._fresh.packed())
        self._fresh = EntryHeap()  # only now: the disk may have refused
        for tier in sorted(self._tiers):
            runs = self._tiers.get(tier, [])
            if len(runs) >= _FAN and sum(run.length for run in runs) <= _LARGEST_MERGE * ENTRY.size:
                self._merge(runs)

    def _sweep(self) -> None:
        """Remove dead entries: all of them if the queue is short, those of the oldest runs if it is long."""
        before = self._size()
        self._fresh = EntryHeap(filter(self._alive, self._fresh.entries()))
        some: list[_Run] = []
        entries = 0
        for run in sorted((head[3] for head in self._heads), key=lambda run: run.serial):
            entries += (run.length - run.position) // ENTRY.size
            if some and entries > _LARGEST_MERGE:
                break
            some.append(run)
        self._merge(some)
        swept = before - self._size()
        self._dead = max(0, self._dead - swept) if 8 * swept > before else 0  # so few: some were counted twice

    def _merge(self, runs: list[_Run]) -> None:
        """Merge several runs into one, without dead entries."""
        if not runs:
            return
        going = {run.serial for run in runs}
        heads = [head for head in self._heads if head[2] in going]
        self._heads = [head for head in self._heads if head[2] not in going]
        heapify(self._heads)
        first = np.array([head[:2] for head in heads], _DTYPE)
        entries = np.concatenate([first, *(head[3].rest() for head in heads)])
        for run in list(runs):
            self._tiers[_tier(run.length)].remove(run)
        keep = self._alive_many(entries["rank"], entries["number"])
        self._in_runs -= len(entries)
        if keep.any():
            self._add_run(entries["rank"][keep], entries["number"][keep])

    def _add_run(self, ranks: np.ndarray, numbers: np.ndarray) -> None:
        order = np.argsort(ranks)  # takes a third of the time of a stable sort
        entries = np.empty(len(order), _DTYPE)
        entries["rank"] = ranks[order]
        if (entries["rank"][1:] == entries["rank"][:-1]).any():
            order = np.lexsort((numbers, ranks))
        entries["number"] = numbers[order]
        self._add_sorted(entries.tobytes())

    def _add_sorted(self, entries: bytes) -> None:
        run = _Run(self._file, entries, self._chunk)
        self._in_runs += run.length // ENTRY.size
        self._tiers.setdefault(_tier(run.length), []).append(run)
        first = run.next()
        assert first is not None
        heappush(self._heads, (*first, run.serial, run))


def _tier(length: int) -> int:
    return (length - 1).bit_length() // 3
