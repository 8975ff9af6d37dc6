"""A bandit over the places of links on pages (Gauquier and others 2025, SB-CLASSIFIER): which places lead to the topic?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from itertools import pairwise
from math import log, sqrt
from zlib import crc32

import numpy as np

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning import SeededDraw, WaitingUrls
from crawlproject.records import CrawlUrl, Link, Page

EPSILON = 1e-6
SHOWN = 32  # links of an arm that are scored with its index; the others are hidden until one of these is gone
TOLERANCE = 0.02  # relative change of an index at which its links are revised
ARMS_A_PAGE = 32  # arms whose index is checked after a page
TIE = 1e-3  # share of a score that comes from the draw within an arm
DIMENSIONS = 1 << 12  # dimensions of the vector of a tag path
MAX_CLUSTERS = 1024  # clusters of tag paths, at most
MAX_PATHS = 100_000  # paths whose cluster is cached


class Arm:
    """A cluster of places, the rewards of its links, and its waiting links.

    The ``SHOWN`` links with the highest draws are scored with the ``index`` of the arm; the others are hidden.
    """

    __slots__ = ("_hidden", "_shown", "fetches", "index", "rewards", "shown")

    def __init__(self) -> None:
        self.fetches = 0
        self.rewards = 0.0
        self.index = 0.0  # the index used in the scores so far
        self.shown: dict[str, float] = {}  # url -> draw
        self._shown: list[tuple[float, str]] = []  # heap, lowest draw first; may contain links that are gone
        self._hidden: list[tuple[float, str]] = []  # heap, negative draws: highest first

    @property
    def mean(self) -> float:
        return self.rewards / self.fetches if self.fetches else 0.0

    def add(self, url: str, draw: float) -> str | None:
        """Add a waiting link; return the link that is hidden in exchange (it may be the new one), if any."""
        self._show(url, draw)
        if len(self.shown) <= SHOWN:
            return None
        while self._shown[0][1] not in self.shown:
            heappop(self._shown)
        lowest, surplus = heappop(self._shown)
        del self.shown[surplus]
        heappush(self._hidden, (-lowest, surplus))
        return surplus

    def remove(self, url: str, waiting: WaitingUrls[int]) -> str | None:
        """Remove a link; return the hidden link that takes its place, if any."""
        if self.shown.pop(url, None) is None:
            return None
        while self._hidden:
            draw, substitute = heappop(self._hidden)
            if waiting.get(substitute) is not None and substitute not in self.shown:
                self._show(substitute, -draw)
                return substitute
        return None

    def _show(self, url: str, draw: float) -> None:
        self.shown[url] = draw
        heappush(self._shown, (draw, url))
        if len(self._shown) > 4 * SHOWN:  # mostly links that are gone
            self._shown = sorted((draw, url) for url, draw in self.shown.items())


class TagPathBandit(BaseOrdering):
    """Upper confidence bounds over clusters of tag paths; within a cluster, links are drawn at random.

    The index of an arm is ``mean reward + exploration * sqrt(ln t / (n + 1e-6))``, with ``n`` fetches from the arm of ``t``
    in all. Arms without a waiting link are skipped. A link joins the arm with the nearest centroid if their cosine is at
    least ``similarity``, else a new arm. Defaults: exploration 2.828 (2 sqrt 2) and similarity 0.75, as in the source.

    In the source, the reward is the number of files of a given type. Here it is the relevance of the fetched page relative
    to the mean page so far, and 0 for a failed fetch. The source crawls one site. Here all hosts share the arms: sites made
    with the same tools have the same tag paths, so a new host need not be explored from scratch.

    The index of an arm changes with every page, so only the ``SHOWN`` links with the highest draws are scored with the index
    and revised. The other links score below all of these, and are fetched only when no other host may be visited.
    """

    learns = True
    reads_tag_paths = True

    def __init__(self, context: OrderingContext, *, similarity: float = 0.75, exploration: float = 2.828) -> None:
        super().__init__(context)
        self.similarity = similarity
        self.exploration = exploration
        self._draw = SeededDraw(context.random)
        self._clusters = TagPathClusters(similarity)
        self._arms: list[Arm] = []
        self._waiting: WaitingUrls[int] = WaitingUrls()  # url -> number of its arm
        self._fetches = 0
        self._rewards = 0.0
        self._moved: dict[str, None] = {}  # links whose score is out of date
        self._turn = 0

    # ------------------------------------------------------------ the contract

    def score(self, page: Page, link: Link) -> float:
        if self._waiting.has_ended(link.url):
            return 0.0
        if self._waiting.get(link.url) is None:
            self._wait(link.url, self._arm_at(link.tag_path))
        return self._score(link.url)

    def observe(self, page: Page) -> None:
        self._reward(page.url, page.relevance)

    def revise(self) -> Iterable[tuple[str, float]]:
        for _ in range(min(ARMS_A_PAGE, len(self._arms))):
            self._turn = (self._turn + 1) % len(self._arms)
            self._follow(self._arms[self._turn], TOLERANCE)
        moved = [url for url in self._moved if self._waiting.get(url) is not None]
        self._moved.clear()
        return [(url, self._score(url)) for url in moved]

    def redirected(self, url: str, target: str) -> None:
        number = self._end(url)
        if number is not None and not self._waiting.has_ended(target) and self._waiting.get(target) is None:
            self._wait(target, number)

    def failed(self, url: str) -> None:
        self._reward(url, 0.0)

    def refused(self, url: str) -> None:
        self._end(url)  # it cost no fetch, so it is not a failure of its arm

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        number = self._waiting.get(url.url)
        if number is None or url.url not in self._arms[number].shown:
            return {}
        parts = {"reward": self._worth(self._arms[number]), "chance": TIE * self._draw(url.url)}
        parts["exploration"] = url.score - sum(parts.values())
        return dict(sorted(parts.items(), key=lambda part: -part[1]))

    # ------------------------------------------------------------ links

    def _arm_at(self, path: str) -> int:
        number = self._clusters.cluster_of(path)
        if number == len(self._arms):
            self._arms.append(Arm())
        return number

    def _wait(self, url: str, number: int) -> None:
        arm = self._arms[number]
        if not arm.shown:
            self._follow(arm)
        forgotten = self._waiting.put(url, number)
        if forgotten:
            self._leave(*forgotten)
        surplus = arm.add(url, self._draw(url))
        if surplus is not None:
            self._moved[surplus] = None

    def _end(self, url: str) -> int | None:
        number = self._waiting.end(url)
        if number is not None:
            self._leave(url, number)
        return number

    def _leave(self, url: str, number: int) -> None:
        substitute = self._arms[number].remove(url, self._waiting)
        if substitute is not None:
            self._moved[substitute] = None

    def _score(self, url: str) -> float:
        number = self._waiting.get(url)
        assert number is not None, "only called for waiting links"
        arm = self._arms[number]
        return TIE * self._draw(url) + (arm.index if url in arm.shown else -1.0)

    # ------------------------------------------------------------ arms

    def _reward(self, url: str, reward: float) -> None:
        number = self._end(url)
        if number is None:
            return
        arm = self._arms[number]
        arm.fetches += 1
        arm.rewards += reward
        self._fetches += 1
        self._rewards += reward
        self._follow(arm)

    def _worth(self, arm: Arm) -> float:
        """The arm's mean reward in units of the mean of all arms."""
        return arm.mean * self._fetches / self._rewards if self._rewards else 0.0

    def _follow(self, arm: Arm, tolerance: float = 0.0) -> None:
        """Queue new scores for the links of an arm if its index has changed by more than the share ``tolerance``."""
        bonus = sqrt(log(max(self._fetches, 2)) / (arm.fetches + EPSILON))
        index = self._worth(arm) + self.exploration * bonus
        if abs(index - arm.index) > tolerance * abs(arm.index):
            arm.index = index
            self._moved.update(dict.fromkeys(arm.shown))


class TagPathClusters:
    """Assigns tag paths to clusters, one by one.

    The vector of a path holds the frequencies of its 2-grams (pairs of neighbouring labels, with marks for begin and end),
    each hashed to one of ``DIMENSIONS``. A path joins the cluster with the nearest centroid if their cosine is at least
    ``similarity``; otherwise it founds a cluster. Once there are ``MAX_CLUSTERS``, every path joins the nearest. A path
    keeps its cluster while it is among ``MAX_PATHS`` cached paths.
    """

    def __init__(self, similarity: float) -> None:
        self.similarity = similarity
        self._sums = np.zeros((16, DIMENSIONS), dtype=np.float32)  # one row per cluster: the sum of its vectors
        self._norms = np.zeros(16)
        self._known: dict[str, int] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def cluster_of(self, path: str) -> int:
        """The number of the path's cluster; clusters are numbered from 0 in the order of their founding."""
        number = self._known.get(path)
        if number is None:
            number = self._join(*_vector(path))
            if len(self._known) >= MAX_PATHS:
                self._known.clear()
            self._known[path] = number
        return number

    def _join(self, places: np.ndarray, counts: np.ndarray) -> int:
        norm = sqrt(float(counts @ counts))
        number = self._size
        if self._size:
            cosines = (self._sums[: self._size, places] @ counts) / (self._norms[: self._size] * norm)
            nearest = int(cosines.argmax())
            if cosines[nearest] >= self.similarity or self._size == MAX_CLUSTERS:
                number = nearest
        if number == self._size:
            self._found()
        row = self._sums[number]
        row[places] += counts / norm
        self._norms[number] = sqrt(float(row @ row))
        return number

    def _found(self) -> None:
        if self._size == len(self._sums):
            self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
            self._norms = np.concatenate([self._norms, np.zeros_like(self._norms)])
        self._size += 1


def _vector(path: str) -> tuple[np.ndarray, np.ndarray]:
    """The dimensions of the 2-grams of a path, and how often each occurs."""
    labels = ["^", *path.split(), "$"]
    counts = Counter(crc32(" ".join(pair).encode("utf-8", "surrogatepass")) % DIMENSIONS for pair in pairwise(labels))
    return np.array(list(counts), dtype=np.int64), np.array(list(counts.values()), dtype=np.float32)
