"""The working set of the adaptive ordering: a table of waiting URLs, and a set of URLs.

The table has one row per URL and is stored by column, so that all rows can be scored at once. A row is added with the first
link to a URL, updated with every further link, and removed with the fetch. Rows that are not worth their place are removed
too: their URLs continue to wait in the frontier with their last score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from crawlproject.pages.text.counting import Numbers
from crawlproject.records import Span

try:
    from crawlproject.orderings.adaptive import evidence
except Exception:  # not built, or in a zip file
    evidence = None  # type: ignore[assignment]

Rows = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# Columns of ``LinkTable.terms``.
ANCHOR = slice(0, 8)  # the first terms of the anchor
AROUND = slice(8, 32)  # terms of the aggregation node, near the anchor
WORDS = slice(32, 40)  # the last words of the URL
WIDTH = 40
WORDS_KEPT = WORDS.stop - WORDS.start
COLUMNS = (ANCHOR.start, AROUND.start, WORDS.start, WORDS.stop)
_SHARDS = 64  # tables of a set; each grows separately, so that no page waits until all have grown


class Groups(NamedTuple):
    """The groups that a waiting URL belongs to, by number.

    ``folder`` is the URL up to the last slash. ``place`` is the position of the link: its tag path on the linking host.
    ``family`` is the linking page.
    """

    host: int
    folder: int
    place: int
    family: int


class LinkTable:
    """The table of waiting URLs.

    ``terms`` (rows, ``WIDTH``) holds term numbers, 0 where there is none; ``groups`` (rows, 4) holds group numbers. ``best``
    and ``total`` are the highest and the summed worth of the pages that link to the URL, ``links`` is their number. ``told``
    is the score of the URL in the frontier, -inf before it has one; ``value`` is the value computed last. ``seeded`` is
    the share, 0 to 1, that a link from a seed to another host has in its recommendation.
    """

    def __init__(self, rows: int = 4096) -> None:
        self._rows: dict[str, int] = {}
        self.row = self._rows.get  # the row of a URL; None if it has none
        self._free: list[int] = []
        self._urls: list[str] = []
        self._waits = np.zeros(rows, dtype=bool)
        self.terms: Numbers = np.zeros((rows, WIDTH), dtype=np.int32)
        self.groups: Rows = np.zeros((rows, len(Groups._fields)), dtype=np.int64)
        self.best: Vector = np.zeros(rows)
        self.total: Vector = np.zeros(rows)
        self.links: Vector = np.zeros(rows)
        self.told = np.zeros(rows)
        self.value = np.zeros(rows)
        self.seeded = np.zeros(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def urls(self, rows: Rows) -> Iterator[str]:
        return map(self._urls.__getitem__, rows.tolist())

    def waiting(self) -> Rows:
        return np.flatnonzero(self._waits)

    def of_host(self, group: int) -> Rows:
        """The rows in use whose host group has this number."""
        return np.flatnonzero(self._waits & (self.groups[:, 0] == group))

    def add(self, urls: Collection[str], worth: float) -> Rows:
        """Add a row for each of ``urls``, which have none, for a link on a page of this worth; return the rows."""
        rows = np.zeros(len(urls), np.int64)
        for place, url in enumerate(urls):
            rows[place] = row = self._free.pop() if self._free else self._new_row()
            self._rows[url] = row
            self._urls[row] = url
        self._waits[rows] = True
        self.told[rows] = -np.inf
        self.best[rows] = self.total[rows] = worth
        self.links[rows] = 1
        self.seeded[rows] = 0.0
        return rows

    def describe(self, rows: Rows, text: Numbers, anchors: list[Span], contexts: list[Span], words: Numbers) -> None:
        """Set the terms of rows whose links are on one page with the terms ``text``.

        ``anchors`` and ``contexts`` are spans of the text, one for each row; ``words`` has the shape (rows, ``WORDS_KEPT``).
        """
        self.terms[rows, WORDS] = words
        if evidence is not None:
            evidence.describe(self.terms, COLUMNS, rows, text, anchors, contexts)
            return
        own, around = (np.array(spans, np.int64).reshape(-1, 2) for spans in (anchors, contexts))
        around[:, 0] = np.maximum(around[:, 0], own[:, 0] - (AROUND.stop - AROUND.start) // 2)
        self.terms[rows, ANCHOR] = _first_terms(text, own, ANCHOR.stop - ANCHOR.start)
        self.terms[rows, AROUND] = _first_terms(text, around, AROUND.stop - AROUND.start)

    def meet(self, row: int, worth: float) -> bool:
        """Add a linking page of this worth; return whether it is worth more than all previous ones."""
        self.links[row] += 1
        self.total[row] += worth
        if worth <= self.best[row]:
            return False
        self.best[row] = worth
        return True

    def rename(self, url: str, target: str) -> int:
        """Transfer the row of ``url`` to ``target`` and return it."""
        row = self._rows[target] = self._rows.pop(url)
        self._urls[row] = target
        return row

    def remove(self, rows: Rows) -> None:
        self._waits[rows] = False
        numbers, urls = rows.tolist(), self._urls
        for row in numbers:
            del self._rows[urls[row]]
            urls[row] = ""
        self._free += numbers

    def _new_row(self) -> int:
        row = len(self._urls)
        self._urls.append("")
        if row == len(self._waits):
            for name in ("_waits", "terms", "groups", "best", "total", "links", "told", "value", "seeded"):
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros_like(column)]))
        return row


class TopicParents:
    """The worth of the linking pages of the rows of ``table`` for another topic; ``best`` and ``total`` as in the table."""

    def __init__(self, table: LinkTable) -> None:
        self._table = table
        self._best = np.zeros(0)
        self._total = np.zeros(0)

    @property
    def best(self) -> Vector:
        self._grow()
        return self._best

    @property
    def total(self) -> Vector:
        self._grow()
        return self._total

    def meet(self, rows: Rows, fresh: Mask, worth: float) -> None:
        """Add a page of this worth that links to the distinct ``rows``; it is the first to link to the ``fresh`` ones."""
        best, total = self.best, self.total
        best[rows] = np.where(fresh, worth, np.maximum(best[rows], worth))
        total[rows] = np.where(fresh, worth, total[rows] + worth)

    def _grow(self) -> None:
        missing = len(self._table.best) - len(self._best)
        if missing:
            self._best, self._total = (
                np.concatenate([column, np.zeros(missing)]) for column in (self._best, self._total)
            )


def _first_terms(text: Numbers, spans: Rows, width: int) -> Numbers:
    """The first ``width`` terms of each span of a text, 0 where a span is shorter: (spans, width)."""
    places = spans[:, :1] + np.arange(width)
    inside = places < np.minimum(spans[:, 1:], len(text))
    return np.where(inside, np.append(text, 0)[np.where(inside, places, -1)], 0)


class UrlSet:
    """A set of URLs, stored as 64-bit hashes in open-addressing tables, about 16 bytes each.

    Among 10^8 URLs, the probability that any two are confused is 3 in 10^4.
    """

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._tables = [_empty(16) for _ in range(_SHARDS)]
        self._counts = [0] * _SHARDS
        for url in urls:
            self.add(url)

    def __len__(self) -> int:
        return sum(self._counts)

    def __contains__(self, url: str) -> bool:
        value, place = self._find(url)
        return self._tables[value % _SHARDS][place] != 0

    def add(self, url: str) -> None:
        value, place = self._find(url)
        shard = value % _SHARDS
        table = self._tables[shard]
        if table[place]:
            return
        table[place] = value
        self._counts[shard] += 1
        if 2 * self._counts[shard] > len(table):
            self._tables[shard] = larger = _empty(2 * len(table))
            last = len(larger) - 1
            for other in filter(None, table):
                place = other // _SHARDS & last
                while larger[place]:
                    place = (place + 1) & last
                larger[place] = other

    def _find(self, url: str) -> tuple[int, int]:
        """The hash of a URL (never 0), and its place in the table of its shard, or the free place for it."""
        value = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass")) or 1
        table = self._tables[value % _SHARDS]
        last = len(table) - 1
        place = value // _SHARDS & last
        while (found := table[place]) and found != value:
            place = (place + 1) & last
        return value, place


def _empty(places: int) -> memoryview:
    return memoryview(bytearray(8 * places)).cast("Q")
