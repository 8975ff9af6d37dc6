"""A set of URLs in about 16 bytes each."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xxhash

_SHARDS = 64  # grow one at a time, so that no page waits for all


class UrlSet:
    """The 64-bit hashes of URLs, in open-addressing tables. Two of 10^8 URLs are confused with probability 3 in 10^4."""

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._tables = [memoryview(np.zeros(16, np.uint64)) for _ in range(_SHARDS)]
        self._counts = [0] * _SHARDS
        for url in urls:
            self.add(url)

    def __len__(self) -> int:
        return sum(self._counts)

    def __contains__(self, url: str) -> bool:
        value = _hash(url)
        table = self._tables[value % _SHARDS]
        return table[_place(table, value)] != 0

    def add(self, url: str) -> None:
        value = _hash(url)
        shard = value % _SHARDS
        table = self._tables[shard]
        place = _place(table, value)
        if table[place]:
            return
        table[place] = value
        self._counts[shard] += 1
        if 2 * self._counts[shard] > len(table):
            self._tables[shard] = larger = memoryview(np.zeros(2 * len(table), np.uint64))
            for other in filter(None, table):
                larger[_place(larger, other)] = other


def _place(table: memoryview, value: int) -> int:
    """Where the value is in a table, or would be."""
    last = len(table) - 1
    place = value // _SHARDS & last
    while (found := table[place]) and found != value:
        place = (place + 1) & last
    return place


def _hash(url: str) -> int:
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass")) or 1
