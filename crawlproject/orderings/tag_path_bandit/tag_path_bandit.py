"""A bandit over places of links (Gauquier and others 2025, SB-CLASSIFIER): which places of pages lead to the topic?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from math import log, sqrt

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning.seeded_random import SeededDraw
from crawlproject.orderings.learning.waiting_urls import WaitingUrls
from crawlproject.orderings.tag_path_bandit.tag_path_clusters import TagPathClusters
from crawlproject.records import CrawlUrl, Link, Page

EPSILON = 1e-6
SHOWN = 32  # links of an arm that are scored with the index of the arm; the others wait until a place is free
TOLERANCE = 0.02  # relative change of an index at which its links are revised
ARMS_A_PAGE = 32  # arms whose index is checked after a page
TIE = 1e-3  # share of a score that comes from the draw within an arm
SEEDS_FIRST = 1e9


class Arm:
    """A cluster of places, the rewards of its links, and its waiting links.

    Of these, the ``SHOWN`` with the highest draws are scored with the ``index`` of the arm; the others are hidden.
    """

    __slots__ = ("_hidden", "_shown", "fetches", "index", "rewards", "shown")

    def __init__(self) -> None:
        self.fetches = 0
        self.rewards = 0.0
        self.index = 0.0  # as the scores given so far have it
        self.shown: dict[str, float] = {}  # url -> draw
        self._shown: list[tuple[float, str]] = []  # heap, lowest draw first; may hold links that are gone
        self._hidden: list[tuple[float, str]] = []  # heap, negative draws: highest first

    @property
    def mean(self) -> float:
        """Mean reward."""
        return self.rewards / self.fetches if self.fetches else 0.0

    def add(self, url: str, draw: float) -> str | None:
        """A link waits; the link that is hidden now and was not before, or the new one itself."""
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
        """A link is gone; the hidden link that takes its place in line, if there is one."""
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
    """Upper confidence bounds over clusters of tag paths; within a cluster, every link is as good as another.

    The index of an arm is ``mean reward + exploration * sqrt(ln t / (n + 1e-6))``, with ``n`` fetches from the arm of
    ``t`` in all. Arms without a waiting link are skipped. Links join the arm with the nearest centroid if their cosine
    is at least ``similarity``. Defaults: exploration 2.828 (2 sqrt 2) and similarity 0.75, as in the source.

    In the source, the reward is the number of files of a given type. Here it is the relevance of the fetched page relative
    to the mean page so far, and 0 for a failed fetch. The source crawls one site. Here all hosts share the arms: sites made
    with the same tools have the same places, so a new host need not be explored from scratch.

    The index of an arm changes with every page, so only its ``SHOWN`` links with the highest draws are scored with the index
    and revised. The others score below all these, and are used only when no other host may be visited.
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
        self._moved: dict[str, None] = {}  # links whose score is not what it should be
        self._turn = 0

    # ------------------------------------------------------------ the contract

    def score(self, page: Page, link: Link) -> float:
        if self._waiting.has_ended(link.url):
            return 0.0
        if self._waiting.get(link.url) is None:
            self._wait(link.url, self._arm_at(link.tag_path))
        return self._score(link.url)

    def seed_score(self, url: str) -> float:
        return SEEDS_FIRST * max(1.0, self.exploration)

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
        self._end(url)  # it cost no fetch, so it does not count as a failure of its arm

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
        """Queue new scores for an arm's links if its index has changed by more than a share of itself."""
        bonus = sqrt(log(max(self._fetches, 2)) / (arm.fetches + EPSILON))
        index = self._worth(arm) + self.exploration * bonus
        if abs(index - arm.index) > tolerance * abs(arm.index):
            arm.index = index
            self._moved.update(dict.fromkeys(arm.shown))
