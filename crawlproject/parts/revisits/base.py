"""The contract of every revisit policy (paper 004 section 5).

A policy knows pages by rows, which are numbered from 0 in the order of their first visits. The crawl, or the simulation,
reports the outcome of each visit and asks when the page is due again. From time to time it states the budget, and the policy
shares out the visits anew. All times are seconds since the epoch, all rates visits per second. A policy keeps each page as a
row of numbers in a ``Table``: a few bytes instead of an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
IMPACT = "impact"  # sign of a visit that found another text: its ``Outcome.impact``
FIRST = 1024  # rows that are allocated at once


class Outcome(NamedTuple):
    """What a visit of a page showed.

    ``first``: the page was not known before. ``changed``: its text differs from that of the visit before, or it is gone;
    ``novelty`` (0 to 1) is the share of its text that is new, by the Jaccard distance of sketches. ``modified`` is the time of
    the last change as the server states it (0: not stated, or not believed). ``new_links`` counts its links to pages that were
    not known. ``gone``: the page does not exist any more. ``weight`` is what the page is worth to a reader, 0 or more (the crawl
    passes its relevance to the topic); ``impact`` is how much a change repaired the ranking of queries (``QueryRanking``; None:
    not known); ``host`` and ``template`` number the groups of pages that may change together. ``hint``: the visit was due
    because a feed or sitemap named the page, not by the plan of the policy.
    """

    row: int
    at: float
    first: bool = False
    changed: bool = False
    novelty: float = 0.0
    modified: float = 0.0
    new_links: int = 0
    gone: bool = False
    weight: float = 1.0
    host: int = 0
    template: int = 0
    hint: bool = False
    impact: float | None = None


class RevisitPolicy(Protocol):
    """Shares out a budget of visits over the pages of a collection. Not thread-safe.

    ``weighs_new``: whether ``plan`` weighs known pages against new ones.
    """

    name: str
    weighs_new: ClassVar[bool]

    @property
    def bytes_per_page(self) -> int:
        """Memory for each page; groups of pages take more."""
        ...

    def observe(self, outcome: Outcome) -> Iterable[int]:
        """Learn from a visit. Returns the rows that are due earlier because of it: ask for their ``next_visit`` again. Most
        policies return none."""
        ...

    def plan(self, now: float, rate: float, new_value: float | None = None) -> float:
        """Share out ``rate`` visits per second from ``now`` on. Returns the rate that is used for visits of known pages.

        This is ``rate`` itself, unless the policy weighs known pages against new ones: ``new_value`` is then the expected worth
        of fetching a new page, in units of ``Outcome.weight`` (None: no new page waits). O(pages).
        """
        ...

    def next_visit(self, row: int) -> float:
        """When the page is due, given its last visit and the last plan; ``inf``: never. O(1).

        Ask again when the page is due: visits of other pages may have put it off since. ``inf`` for a row that was never
        visited.
        """
        ...

    def next_visits(self) -> npt.NDArray[np.float64]:
        """``next_visit`` of all rows at once, since a plan moves them all. O(pages)."""
        ...

    def planned_rate(self) -> float:
        """Visits per second that the last plan makes of all pages, as far as the policy can estimate it."""
        ...

    def explain(self, row: int) -> Mapping[str, float]:
        """The evidence behind the next visit of a page: its estimated changes a day, the probability that its copy is fresh,
        and the like."""
        ...


class Table:
    """Named columns of one length. ``Table(last=("f8", 0))`` has a column ``last`` of doubles, 0 in new rows.

    ``table["last"]`` is a view of the rows in use: valid until the next ``grow``.
    """

    def __init__(self, **columns: tuple[str, float]) -> None:
        self.rows = 0
        self._fill = {name: fill for name, (_, fill) in columns.items()}
        self._data: dict[str, npt.NDArray[Any]] = {
            name: np.full(FIRST, fill, dtype=kind) for name, (kind, fill) in columns.items()
        }

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._data[name][: self.rows]

    def grow(self, rows: int) -> None:
        """Make room for ``rows`` rows in all; it never shrinks."""
        if rows <= self.rows:
            return
        self.rows = rows
        for name, column in self._data.items():
            if rows > len(column):
                larger = np.full(max(rows, len(column) * 3 // 2), self._fill[name], dtype=column.dtype)
                larger[: len(column)] = column
                self._data[name] = larger

    def repeat(self, rows: int) -> None:
        """Grow to ``rows`` rows by repeating the values of the present ones. For measurements."""
        present = self.rows
        self.grow(rows)
        for column in self._data.values():
            column[present:rows] = np.resize(column[:present], rows - present)

    @property
    def bytes_per_row(self) -> int:
        return sum(column.itemsize for column in self._data.values())
