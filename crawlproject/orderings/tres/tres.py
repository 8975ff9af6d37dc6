"""TRES (Kontogiannis and others 2021, arXiv 2112.07620): double Q-learning of links drawn from the leaves of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest

import numpy as np

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning import SeededDraw, WaitingUrls
from crawlproject.orderings.tres.features import FEATURES, HOST, FeatureReader, Host, LinkPath, Rows
from crawlproject.orderings.tres.learner import FOLLOW_EVERY, TRAIN_EVERY, DoubleQLearner, Transition
from crawlproject.orderings.tres.tree_frontier import TreeFrontier
from crawlproject.records import CrawlUrl, Link, Page

SHOWN = 32  # representatives that come before all other links


class Waiting:
    """A waiting link: its features, its host, the path to its page, and the latest estimate of its value."""

    __slots__ = ("features", "host", "path", "url", "value")

    def __init__(self, url: str, features: Rows, host: Host, path: LinkPath, value: float) -> None:
        self.url = url
        self.features = features
        self.host = host
        self.path = path
        self.value = value


class Tres(BaseOrdering):
    """``Q(page, link)``: the reward of a link and of the links that follow, multiplied by ``discount`` at each step.

    A page with a relevance above ``threshold`` has reward 1, any other 0; seeds count as relevant. Q is a network over
    ``FEATURES``, trained by double Q-learning. A tree groups links by their features, so that links in a leaf have similar
    rewards. At each step a representative link is drawn from each leaf, and the representative with the highest Q is
    fetched. During the first ``warmup`` pages, before Q is trained, the choice among representatives is random.

    Here the ``SHOWN`` best representatives score ``Q + 2 / (1 - discount)``, which is above the Q of any link, and are drawn
    anew after each page. If politeness or host rotation permits none of them, the link with the highest Q is fetched; this Q
    is from the time when the link was found or last drawn, or when the crawl last doubled in size. Of several links to a URL
    the one with the highest Q counts (in the warm-up, the highest sum of features); the source draws each link separately.
    Other differences from the source: the judge of the crawl replaces its classifier (a recurrent network), keywords are not
    expanded by word vectors, and the ordering sets no site budgets. All constants are those of the authors' code.

    Raises ``BadSetting`` for a ``discount`` outside [0, 1).
    """

    learns = True

    def __init__(
        self, context: OrderingContext, *, discount: float = 0.99, threshold: float = 0.05, warmup: int = 500
    ) -> None:
        super().__init__(context)
        if not 0 <= discount < 1:
            raise BadSetting("setting ORDERING_DISCOUNT", f"expected a number from 0 to below 1, not {discount}")
        self.discount = discount
        self.threshold = threshold
        self.warmup = warmup
        self._bound = 1 / (1 - discount)  # no Q is larger
        self._draw = SeededDraw(context.random)
        self._learner = DoubleQLearner(context.random, len(FEATURES), discount)
        self._reader = FeatureReader(context)
        self._tree: TreeFrontier[Waiting] = TreeFrontier()
        self._waiting: WaitingUrls[Waiting] = WaitingUrls()
        self._steps = 0  # fetched pages other than seeds
        self._next_rescoring = warmup
        self._page: Page | None = None  # the latest page; the next attribute holds its links
        self._found: dict[str, Waiting] = {}
        self._shown: dict[str, float] = {}  # representatives and their scores
        self._moved: dict[str, None] = {}  # links whose score is out of date

    # ------------------------------------------------------------ the contract

    def score(self, page: Page, link: Link) -> float:
        if page is not self._page:
            self._read(page, LinkPath())
        found, known = self._found.get(link.url), self._waiting.get(link.url)
        if found is not None and not self._waiting.has_ended(link.url) and (known is None or found.value > known.value):
            self._waiting.put(link.url, found)
            self._tree.add(found, found.features.tolist())
        return self._score(link.url)

    def observe(self, page: Page) -> None:
        taken = self._waiting.end(page.url)
        relevant = page.relevance > self.threshold
        host = self._reader.host(page.url)
        if taken is None and page.parent is None:
            host.share = 1.0
            self._learn(self._reader.of_seed(page), relevant=True, following=self._read(page, LinkPath().on(True)))
            return
        self._steps += 1
        host.learn(relevant)
        following = self._read(page, (LinkPath() if taken is None else taken.path).on(relevant))
        if taken is not None:
            self._learn(taken.features, relevant, following)
        if self._steps % FOLLOW_EVERY == 0:
            self._learner.follow()
        if self._is_warm and self._steps % TRAIN_EVERY == 0:
            self._learner.train(self.context.random)
        if self._steps >= self._next_rescoring:
            self._next_rescoring = 2 * self._steps
            waiting = [waiting for _, waiting in self._waiting.items()]
            self._rescore(waiting)
            self._moved.update((one.url, None) for one in waiting)

    def listed(self, page: Page) -> None:
        """Read the links of a sitemap, which is not a step of a path."""
        self._read(page, LinkPath())

    def revise(self) -> Iterable[tuple[str, float]]:
        drawn = self._tree.representatives(self.context.random, self._waits)
        before, self._shown = self._shown, {}
        moved, self._moved = {**before, **self._moved}, {}
        if drawn and self._is_warm:
            self._rescore(drawn)
            best = nlargest(SHOWN, drawn, key=lambda waiting: waiting.value)
            self._shown = {waiting.url: self._q(waiting) + 2 * self._bound for waiting in best}
        elif drawn:
            leaves = self.context.random.sample(drawn, min(SHOWN, len(drawn)))
            self._shown = {w.url: self.context.random.random() + 2 * self._bound for w in leaves}
        revised = {url: self._score(url) for url in moved if self._waiting.get(url) is not None}
        return [(url, score) for url, score in {**revised, **self._shown}.items() if before.get(url) != score]

    def redirected(self, url: str, target: str) -> None:
        waiting = self._waiting.end(url)
        if waiting is not None and not self._waiting.has_ended(target) and self._waiting.get(target) is None:
            moved = Waiting(target, waiting.features, waiting.host, waiting.path, waiting.value)
            self._waiting.put(target, moved)
            self._tree.add(moved, moved.features.tolist())

    def failed(self, url: str) -> None:
        self._waiting.end(url)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        drawn = self._shown.get(url.url)
        if drawn is None or drawn != url.score:
            return {}
        return {"representative": 2 * self._bound, "q" if self._is_warm else "chance": drawn - 2 * self._bound}

    # ------------------------------------------------------------ inside

    @property
    def _is_warm(self) -> bool:
        return self._steps >= self.warmup

    def _waits(self, waiting: Waiting) -> bool:
        return self._waiting.get(waiting.url) is waiting

    def _q(self, waiting: Waiting) -> float:
        return min(max(waiting.value, -self._bound), self._bound)

    def _score(self, url: str) -> float:
        if (shown := self._shown.get(url)) is not None:
            return shown
        waiting = self._waiting.get(url)
        return self._q(waiting) if waiting is not None and self._is_warm else self._draw(url)

    def _read(self, page: Page, path: LinkPath) -> Rows:
        """Make ``page`` the current page and return the features of its links; ``path`` leads up to the page, inclusive."""
        self._page = page
        hosts = [self._reader.host(link.url) for link in page.links]
        rows = self._reader.of_links(page, hosts, path)
        values = (self._learner.online(rows) if self._is_warm else rows.sum(axis=1)).tolist()
        self._found = {
            link.url: Waiting(link.url, row.copy(), host, path, value)
            for link, row, host, value in zip(page.links, rows, hosts, values, strict=True)
        }
        return rows

    def _learn(self, features: Rows, relevant: bool, following: Rows) -> None:
        if len(following):
            self._learner.remember(Transition(features, float(relevant), following))
        self._tree.learn(features, float(relevant))

    def _rescore(self, waiting: Sequence[Waiting]) -> None:
        """Update the host features of these links, and their values by the current Q."""
        for one in waiting:
            one.features[HOST : HOST + 2] = one.host.features
        if waiting:
            values = self._learner.online(np.array([one.features for one in waiting])).tolist()
            for one, value in zip(waiting, values, strict=True):
                one.value = value
