"""The numbers that identify hosts on disk, the counts of their waiting URLs, and how the k rule counts each host."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from crawlproject.frontier.disk.digest_numbers import DigestNumbers
from crawlproject.frontier.host_queue import queue_of
from crawlproject.records import ACTIVE, FIRST

NOT_COUNTED, COUNTED, ASLEEP = range(3)
"""How the k rule counts a host: not at all, as one that waits, or as one of which all that waits is in the calendar."""

_ORIGINS = 100_000  # how many schemes with authority are cached with the number of their host


class HostCounts:
    """Counts of URLs by the number of their host: those that wait, and of these the ``held`` ones in the calendar.

    A host is counted while it has a URL that may be taken in a class up to ``ACTIVE``, or, unless it is demoted, while all its
    waiting URLs are held. ``part`` is how each host was counted at its last ``turn``. The counts take 9 bytes a host. Without
    ``by_class``, all classes count alike.
    """

    def __init__(self, *, by_class: bool = True) -> None:
        self._by_class = by_class
        self.waiting: Any = array("I")
        self.held: Any = array("I")
        self.part = bytearray()
        self._early = _FewHosts()  # URLs up to ``FIRST`` that may be taken
        self._late = _FewHosts()  # URLs above ``ACTIVE`` that may be taken
        self._ahead: Counter[Any] = Counter()  # URLs that have left the calendar before their time

    def grow(self, host: int) -> None:
        """Make room for the host."""
        more = host + 1 - len(self.waiting)
        self.waiting.frombytes(bytes(4 * more))
        self.held.frombytes(bytes(4 * more))
        self.part += bytes(more)

    def awake(self, host: Any) -> int:
        """How many URLs of the host wait outside the calendar."""
        waiting: int = self.waiting[host] - self.held[host] if host < len(self.waiting) else 0
        return waiting

    def count_class(self, host: Any, precedence: int, change: int) -> None:
        """Change the number of the host's URLs of this class that may be taken."""
        if precedence > ACTIVE and self._by_class:
            self._late.count(host, change)
        elif precedence <= FIRST and self._by_class:
            self._early.count(host, change)

    def count_ahead(self, host: Any, change: int) -> None:
        """Change the number of the host's URLs that left the calendar early, and whose time has not come."""
        self._ahead[host] += change
        if not self._ahead[host]:
            del self._ahead[host]

    def turn(self, host: int, is_demoted: bool) -> tuple[int, int]:
        """How the host was counted at the last call, and how it is counted now."""
        if host >= len(self.waiting):
            return NOT_COUNTED, NOT_COUNTED
        old = self.part[host]
        ahead = self._ahead[host] if self._ahead else 0
        takeable = self.waiting[host] - self.held[host] - ahead
        if takeable:
            if is_demoted:
                takeable = self._early[host]
            elif self._late.known:
                takeable -= self._late[host]
            new = COUNTED if takeable else NOT_COUNTED
        elif is_demoted or not self.waiting[host]:
            new = NOT_COUNTED
        else:
            new = COUNTED if ahead else ASLEEP
        self.part[host] = new
        return old, new

    def is_counted(self, host: int) -> bool:
        """Whether the host was counted as one that waits at its last ``turn``."""
        return host < len(self.part) and self.part[host] == COUNTED

    def load(self, waiting: np.ndarray, held: np.ndarray, early: np.ndarray, late: np.ndarray) -> None:
        """Set the counts at the opening, when no host is demoted. ``early`` and ``late`` count URLs that may be taken."""
        self.waiting = array("I", waiting.astype(np.uint32).tobytes())
        self.held = array("I", held.astype(np.uint32).tobytes())
        if self._by_class:
            self._early.load(early)
            self._late.load(late)
        else:
            late = np.zeros(len(late), late.dtype)
        parts = np.where(waiting - held - late > 0, COUNTED, NOT_COUNTED)
        parts[(held > 0) & (held == waiting)] = ASLEEP
        self.part = bytearray(parts.astype(np.uint8).tobytes())

    def number(self, part: int) -> int:
        """How many hosts are counted in this way. O(hosts), at one byte each."""
        return self.part.count(part)


class _FewHosts:
    """Counts that are 0 for most hosts, and often for all. 4 bytes a host, up to the last one with a count."""

    def __init__(self) -> None:
        self._counts: Any = array("I")
        self.known = False  # whether there ever was a count other than 0

    def __getitem__(self, host: int) -> int:
        count: int = self._counts[host] if host < len(self._counts) else 0
        return count

    def count(self, host: int, change: int) -> None:
        self.known = True
        if host >= len(self._counts):
            self._counts.frombytes(bytes(4 * (host + 1 - len(self._counts))))
        self._counts[host] += change

    def load(self, counts: np.ndarray) -> None:
        self.known = bool(counts.any())
        if self.known:
            self._counts = array("I", counts.astype(np.uint32).tobytes())


class HostNumbers:
    """Numbers of hosts by name, in ``path``, and how many URLs of each host are known. ``total`` numbers are in use.

    New numbers are gathered in ``new``, by digest, until ``write``. Raises ``StorageFailed``.
    """

    def __init__(self, path: Path, digest: Callable[[str], bytes], total: int, *, readonly: bool = False) -> None:
        self.total = total
        self.new: dict[bytes, int] = {}
        self._digest = digest
        self._numbers = DigestNumbers(path, readonly=readonly)
        self.pieces = self._numbers.pieces
        self.seal = self._numbers.seal
        self.flush = self._numbers.flush
        self.close = self._numbers.close
        self._by_origin: dict[str, int] = {}
        self.known_urls = array("I")  # by host; grows with ``grow``

    def of_url(self, url: str) -> int:
        """The number of the URL's host; a new one if it has none."""
        end = url.find("/", 8)
        origin = url[:end] if end > 0 else url
        number = self._by_origin.get(origin)
        if number is None:
            if len(self._by_origin) >= _ORIGINS:
                self._by_origin.clear()
            number = self._by_origin[origin] = self.of_name(queue_of(url))
        return number

    def of_name(self, host: str) -> int:
        """The number of the host; a new one if it has none."""
        digest = self._digest(host)
        number = self.new.get(digest)
        if number is None:
            number = self._numbers.get(digest)
        if number is None:
            number, self.total = self.total, self.total + 1
            self.new[digest] = number
        return number

    def known(self, host: int) -> int:
        """How many URLs of a host are known."""
        return self.known_urls[host] if host < len(self.known_urls) else 0

    def grow(self, host: int) -> None:
        self.known_urls.frombytes(bytes(4 * (host + 1 - len(self.known_urls))))

    def load_known(self, counts: np.ndarray) -> None:
        """Set the numbers of known URLs by host, at the opening."""
        self.known_urls = array("I", counts.astype(np.uint32).tobytes())

    def learn(self, numbers: Mapping[bytes, int]) -> None:
        """Take over numbers from the journal."""
        self.new.update(numbers)
        self.total = max(self.total, *(number + 1 for number in numbers.values()), 0)

    def write(self) -> None:
        self._numbers.update(self.new)
        self.new.clear()
