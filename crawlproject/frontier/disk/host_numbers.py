"""The numbers by which a frontier on disk knows hosts."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from crawlproject.frontier.disk.hash_table import HashTable
from crawlproject.frontier.host_queue import queue_of

_ORIGINS = 100_000  # schemes and authorities whose hosts' numbers are kept in memory


class HostNumbers:
    """Host names to numbers, in ``path``, and how many URLs of each host are known. ``total`` numbers are in use.

    New numbers are gathered in ``new``, by digest, until ``write``. Raises ``StorageFailed``.
    """

    def __init__(self, path: Path, digest: Callable[[str], bytes], total: int, *, readonly: bool = False) -> None:
        self.total = total
        self.new: dict[bytes, int] = {}
        self._digest = digest
        self._table = HashTable(path, readonly=readonly)
        self._by_origin: dict[str, int] = {}
        self.known_urls = array("I")  # by host; grows with ``grow``

    def of_url(self, url: str) -> int:
        """The number of the URL's host, a new one when it has none."""
        end = url.find("/", 8)
        origin = url[:end] if end > 0 else url
        number = self._by_origin.get(origin)
        if number is None:
            if len(self._by_origin) >= _ORIGINS:
                self._by_origin.clear()
            number = self._by_origin[origin] = self.of_name(queue_of(url))
        return number

    def of_name(self, host: str) -> int:
        """The number of the host, a new one when it has none."""
        digest = self._digest(host)
        number = self.new.get(digest)
        if number is None:
            number = self._table.get(digest)
        if number is None:
            number, self.total = self.total, self.total + 1
            self.new[digest] = number
        return number

    def known(self, host: int) -> int:
        """Known URLs of a host."""
        return self.known_urls[host] if host < len(self.known_urls) else 0

    def grow(self, host: int) -> None:
        self.known_urls.frombytes(bytes(4 * (host + 1 - len(self.known_urls))))

    def load_known(self, counts: np.ndarray) -> None:
        """Known URLs by host, at the opening."""
        self.known_urls = array("I", counts.astype(np.uint32).tobytes())

    def learn(self, numbers: Mapping[bytes, int]) -> None:
        """Numbers from the journal."""
        self.new.update(numbers)
        self.total = max(self.total, *(number + 1 for number in numbers.values()), 0)

    def write(self) -> None:
        self._table.update(self.new)
        self.new.clear()

    def pieces(self) -> int:
        return self._table.pieces()

    def sync(self) -> None:
        self._table.sync()

    def close(self) -> None:
        self._table.close()
