"""The sums that the workers of a crawl exchange about what their adaptive orderings have learned.

The regressions and the means of groups are sums over examples, so one difference contains all that is new since the last
message, however many pages it comes from. A worker that adds it has learned from the examples without having seen them. Rows
are not exchanged: a waiting URL has a row at the worker that found it first, and this worker learns from the fetch,
whichever worker made it. Of the rows, workers exchange only the best values, in all and by host, so that they agree on one
floor and on the hosts to explore.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.adaptive.active_set import NONE, ActiveSet
from crawlproject.orderings.adaptive.link_features import LinkFeatures
from crawlproject.orderings.adaptive.link_table import Rows
from crawlproject.orderings.adaptive.predictors import Ridge
from crawlproject.orderings.adaptive.terms import TermStatistics

Vector = npt.NDArray[np.float64]

SAMPLE = 256  # pages whose terms are all sent; later the own pages of each worker are a sufficient sample
HOSTS = 256  # best hosts that are sent to others


@dataclass(slots=True)
class Difference:
    """What was learned from some pages.

    ``groups`` has, for each kind of group that is sent, name -> summed outcomes and members; ``good`` has the worth and term
    counts of pages that are among the best so far. ``terms`` counts the pages with each term, among ``documents`` pages with
    ``length`` terms in all. ``gram`` and ``moments`` are those of the regressions; ``outcomes`` sums the outcomes of
    ``members`` pages.
    """

    gram: Vector
    moments: Vector
    outcomes: Vector
    members: int = 0
    pages: int = 0
    groups: tuple[dict[Hashable, Vector], ...] = field(default_factory=lambda: ({}, {}, {}))
    good: list[tuple[float, Mapping[str, int]]] = field(default_factory=list)
    terms: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    length: int = 0

    @classmethod
    def none_yet(cls, outputs: int, features: int) -> Difference:
        """An empty difference."""
        return cls(np.zeros((outputs, features, features)), np.zeros((outputs, features)), np.zeros(2))

    def learn(self, names: Iterable[tuple[int, Hashable]], outcome: Vector, evidence: Vector | None = None) -> None:
        """Add the outcome of a URL; ``names`` are its groups by kind, ``evidence`` is that about its row, if it had one."""
        self.outcomes += outcome
        self.members += 1
        member = np.append(outcome, 1.0)
        for kind, name in names:
            known = self.groups[kind].get(name)
            self.groups[kind][name] = member if known is None else known + member
        if evidence is not None:
            self.gram += evidence[:, :, None] * evidence[:, None, :]
            self.moments += outcome[:, None] * evidence

    def read(self, counts: Mapping[str, int], length: int, worth: float, *, told: bool, good: bool) -> None:
        """Add a page with these term counts; ``told``: all its terms are sent; ``good``: it is one of the best so far."""
        self.pages += 1
        if told:
            self.terms.update(counts.keys())
            self.documents += 1
            self.length += length
        if good:
            self.good.append((worth, counts))

    def message(self) -> list[Any]:
        """The difference as JSON values."""
        return [
            *map(_packed, (self.gram, self.moments, self.outcomes)),
            self.members,
            self.pages,
            [[list(found), _packed(list(found.values()))] for found in self.groups],
            [[worth, *_counts(counts)] for worth, counts in self.good],
            [self.documents, self.length, *_counts(self.terms)],
        ]


class Told(NamedTuple):
    """A difference that was received: for each kind of group, names and an array (names, 3); for terms, their counts."""

    gram: Vector
    moments: Vector
    outcomes: Vector
    members: int
    pages: int
    groups: list[tuple[Sequence[Hashable], Vector]]
    good: list[tuple[float, Sequence[str], Vector]]
    documents: int
    length: int
    terms: Sequence[str]
    counts: Vector

    @classmethod
    def checked(cls, message: Sequence[Any], outputs: int, features: int) -> Told:
        """Read a message. Raises ``ValueError`` or ``TypeError`` if it is malformed."""
        gram, moments, outcomes, members, pages, groups, good, (documents, length, terms, counts) = message
        (hosts, host_sums), (folders, folder_sums), (places, place_sums) = groups
        names: tuple[Sequence[Hashable], ...] = (_texts(hosts), _texts(folders), [tuple(_texts(p)) for p in places])
        sums = host_sums, folder_sums, place_sums
        return cls(
            _unpacked(gram, outputs, features, features),
            _unpacked(moments, outputs, features),
            _unpacked(outcomes, 2),
            int(members),
            int(pages),
            [(of_kind, _unpacked(packed, len(of_kind), 3)) for of_kind, packed in zip(names, sums, strict=True)],
            [(float(worth), *_counted(found, times)) for worth, found, times in good],
            int(documents),
            int(length),
            *_counted(terms, counts),
        )


@dataclass(frozen=True, slots=True)
class Tops:
    """The best rows of a worker: the ``values`` of the best of all, and the best value of each of the best ``hosts``."""

    values: Vector
    hosts: Mapping[str, float]

    def message(self) -> list[Any]:
        """The tops as JSON values."""
        return [_packed(self.values), dict(self.hosts)]

    @classmethod
    def checked(cls, message: Sequence[Any]) -> Tops:
        """Read such values. Raises ``ValueError`` or ``TypeError`` if they are malformed."""
        values, hosts = message
        found = _unpacked(values, -1)
        if not np.isfinite(found).all():
            raise ValueError("values that are not finite")
        return cls(found, {str(host): float(best) for host, best in hosts.items() if math.isfinite(best)})


NO_TOPS = Tops(NONE, {})


class SharedSums:
    """What a worker has yet to send to the others (``news``, ``own``), and the best rows that they have sent (``tops``)."""

    def __init__(self, evidence: LinkFeatures, terms: TermStatistics, ridge: Ridge, active: ActiveSet) -> None:
        self._evidence = evidence
        self._terms = terms
        self._ridge = ridge
        self._active = active
        self.news = Difference.none_yet(*evidence.prior.shape)
        self.own: Tops | None = None  # to be sent
        self.tops: dict[str, Tops] = {}
        self.outcome: tuple[str, Vector] | None = None  # URL and outcome of the page observed last

    def message(self) -> Any:
        """What is new, as JSON values; from then on it counts as sent. None if nothing is new."""
        news, own = self.news, self.own
        if not news.pages and not news.members and own is None:
            return None
        self.news, self.own = Difference.none_yet(*self._evidence.prior.shape), None
        return [news.message(), own.message() if own else None]

    def add(self, worker: str, message: Any) -> int:
        """Add the message of a worker; return its number of pages. Raises ``ValueError`` or ``TypeError`` if malformed."""
        news, tops = message
        found = Told.checked(news, *self._evidence.prior.shape)
        if tops is not None:
            self.tops[worker] = Tops.checked(tops)
        self._active.observe(found.pages)
        self._terms.add(found.documents, found.length, found.terms, found.counts)
        self._evidence.add(found.groups, found.outcomes, found.members)
        self._ridge.add(found.gram, found.moments)
        for worth, terms, counts in found.good:
            self._evidence.feedback.observe(worth, self._terms.numbers(terms), counts.astype(np.int64))
        return found.pages

    def outcome_of(self, url: str) -> list[float] | None:
        """Worth and prospect of the page at ``url``, if it was observed last; else None."""
        if self.outcome is None or self.outcome[0] != url:
            return None
        return [float(value) for value in self.outcome[1]]

    def compare(self, rows: Rows, values: Vector) -> tuple[Vector, Vector]:
        """The best values elsewhere, in all and by host, for ``ActiveSet.choose``. Queues the tops of ``rows`` to send."""
        best, hosts = self._active.tops(rows, values)
        first = np.argsort(-hosts)[: min(HOSTS, int(np.count_nonzero(hosts > -np.inf)))]
        names = self._evidence.host_names(first.tolist())
        self.own = Tops(best, dict(zip(names, hosts[first].tolist(), strict=True)))
        elsewhere: dict[str, float] = {}
        for tops in self.tops.values():
            for host, value in tops.hosts.items():
                if value > elsewhere.get(host, -math.inf):
                    elsewhere[host] = value
        by_number, unknown = np.full(self._evidence.room_for_hosts(), -math.inf), []
        for host, value in elsewhere.items():
            if (number := self._evidence.host_number(host)) < 0:
                unknown.append(value)
            else:
                by_number[number] = value
        return np.concatenate([NONE, *(tops.values for tops in self.tops.values())]), np.append(by_number, unknown)


def _counts(counts: Mapping[str, int]) -> tuple[list[str], str]:
    return list(counts), _packed(list(counts.values()))


def _counted(terms: Any, counts: Any) -> tuple[list[str], Vector]:
    names = _texts(terms)
    found = _unpacked(counts, len(names))
    if (found < 1).any():
        raise ValueError("counts below 1")
    return names, found


def _texts(values: Any) -> list[str]:
    if not isinstance(values, list) or not set(map(type, values)) <= {str}:
        raise TypeError("expected a list of texts")
    return values


def _packed(numbers: npt.ArrayLike) -> str:
    return b64encode(np.asarray(numbers, "<f4").tobytes()).decode()


def _unpacked(text: str, *shape: int) -> Vector:
    found = np.frombuffer(b64decode(text, validate=True), "<f4").astype(np.float64).reshape(shape)
    if not np.isfinite(found).all():
        raise ValueError("numbers that are not finite")
    return found
