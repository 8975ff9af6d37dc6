"""The first pass over the rows when a frontier on disk is opened: URL counts by host, and the URLs of crowded hosts.

It must handle 10^8 rows and 10^7 hosts: the rows are read piece by piece, and no work is done per piece and host.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from crawlproject.errors import BadCrawlDir
from crawlproject.frontier.disk.files import DiskFiles
from crawlproject.frontier.disk.spill_file import SpillFile
from crawlproject.frontier.disk.url_records import REMEDY
from crawlproject.frontier.disk.url_table import (
    LATER,
    LEASED,
    SHARED,
    UNKNOWN,
    WAITING,
    classes_of,
    have_a_meaning,
    in_states,
    with_state,
)
from crawlproject.records import ACTIVE, FIRST

_KNOWN = frozenset(range(LATER + 1)) - UNKNOWN
_TOGETHER = 1 << 20  # URLs of crowded hosts that are sorted together

Numbers = np.ndarray
"""Numbers of URLs."""

_CROWDED = np.dtype([("host", "<u4"), ("precedence", "<u4"), ("rank", "<f8"), ("number", "<i8")])


class HostTallies(NamedTuple):
    """Counts of URLs by the number of their host: waiting URLs; of these the held ones, and those that may be taken in a class
    up to ``FIRST`` and above ``ACTIVE``; and all known URLs. ``leased``: the host of each URL that was being fetched.
    """

    waiting: np.ndarray
    held: np.ndarray
    early: np.ndarray
    late: np.ndarray
    known: np.ndarray
    leased: list[int]


def tally_hosts(files: DiskFiles, now: float) -> HostTallies:
    """Count the URLs. Those that were leased wait again. Raises ``BadCrawlDir`` for an impossible row."""
    waiting, held, early, late, known = (np.zeros(files.hosts.total, np.uint32) for _ in range(5))
    leased: list[int] = []
    for first, rows in files.rows.chunks(files.urls_known):
        _refuse_damage(files, first, rows)
        hosts = rows["host"].astype(np.int64)  # numpy counts with this type in a fifth of the time
        was_leased = in_states(rows, {LEASED})
        for number in np.flatnonzero(was_leased).tolist():
            files.held_until[first + number] = 0.0
        leased += hosts[was_leased].tolist()
        waits = was_leased | in_states(rows, WAITING)
        rows["standing"][waits] = with_state(rows["standing"][waits], SHARED)
        _count(known, hosts[in_states(rows, _KNOWN)])
        _count(waiting, hosts[waits])
        places = np.flatnonzero(waits)
        is_held = files.held_until.many(places + first) > now
        _count(held, hosts[places[is_held]])
        places = places[~is_held]
        classes = classes_of(rows)[places]
        _count(early, hosts[places[classes <= FIRST]])
        _count(late, hosts[places[classes > ACTIVE]])
    return HostTallies(waiting, held, early, late, known, leased)


def _count(counts: np.ndarray, hosts: np.ndarray) -> None:
    if len(hosts):
        np.add.at(counts, hosts, np.uint32(1))


def _refuse_damage(files: DiskFiles, first: int, rows: np.ndarray) -> None:
    wrong = ~have_a_meaning(rows) | np.isnan(rows["score"])
    wrong |= in_states(rows, _KNOWN) & (rows["host"] >= files.hosts.total)
    if wrong.any():
        number = first + int(np.argmax(wrong))
        at = f"{files.folder / 'rows'}, byte {number * rows.itemsize}"
        raise BadCrawlDir(at, f"expected score, record, host and state of a URL; {REMEDY}")


class CrowdedHosts:
    """The URLs of the hosts that have more than ``crowd`` of them, gathered by host.

    They may not fit into memory: each chunk of them is written to ``file`` in parts, each part for a range of hosts.
    """

    def __init__(self, file: SpillFile, urls: np.ndarray, crowd: int) -> None:
        self._file = file
        hosts = np.flatnonzero(urls > crowd)
        before = np.cumsum(urls[hosts], dtype=np.int64) - urls[hosts]
        self._part_of = np.zeros(len(urls), np.uint16)  # by host; 0: the host is not crowded
        self._part_of[hosts] = 1 + before // _TOGETHER
        self._blocks: dict[int, list[tuple[int, int]]] = {}

    def take(self, numbers: Numbers, rows: np.ndarray) -> np.ndarray:
        """Take the URLs of crowded hosts. Return True for each of the others."""
        parts = self._part_of[rows["host"]]
        order = np.argsort(parts, kind="stable")
        entries = np.empty(len(order), _CROWDED)
        entries["host"], entries["precedence"] = rows["host"][order], classes_of(rows)[order]
        entries["rank"], entries["number"] = -rows["score"][order], numbers[order]
        found, starts = np.unique(parts[order], return_index=True)
        for part, (start, end) in zip(found.tolist(), pairwise([*starts.tolist(), len(order)]), strict=True):
            if part:
                data = entries[start:end].tobytes()
                self._blocks.setdefault(part, []).append((self._file.write(data), len(data)))
        return parts == 0

    def __iter__(self) -> Iterator[tuple[int, np.ndarray, np.ndarray, Numbers]]:
        """Each crowded host once, with the classes, ranks and numbers of its URLs."""
        while self._blocks:
            _, blocks = self._blocks.popitem()
            entries = np.frombuffer(b"".join(self._file.read(*block) for block in blocks), _CROWDED)
            for block in blocks:
                self._file.free(*block)
            entries = entries[np.argsort(entries["host"], kind="stable")]
            hosts, starts = np.unique(entries["host"], return_index=True)
            for host, (start, end) in zip(hosts.tolist(), pairwise([*starts.tolist(), len(entries)]), strict=True):
                inside = entries[start:end]
                yield host, inside["precedence"], inside["rank"], inside["number"]
