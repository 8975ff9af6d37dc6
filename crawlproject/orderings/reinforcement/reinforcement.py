"""Reinforcement learning of links (paper 000 section 5.2; Rennie and McCallum, ICML 1999, for the crawler of CORA)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning.term_ids import Numbers, TermIds
from crawlproject.orderings.learning.waiting_urls import WaitingUrls
from crawlproject.orderings.reinforcement.discounted_reward import DiscountedRewards
from crawlproject.orderings.reinforcement.known_paths import known_paths
from crawlproject.orderings.reinforcement.link_text import Pieces, expected_values, pieces_of, text_of
from crawlproject.orderings.reinforcement.value_classifier import ValueClassifier
from crawlproject.records import Link, Page

EXAMPLES = 5_000  # latest links whose value is known; older ones are dropped
WORTH_TELLING = 0.05  # a smaller relative change does not revise a waiting URL


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Evidence for a waiting URL: the terms of the linking page, and the position of the words of the link."""

    page: Numbers
    pieces: Pieces
    score: float


class Reinforcement(BaseOrdering):
    """``(1 - discount) * Q``, where Q is the present and future reward of a link, predicted from its words.

    A page with a relevance above ``threshold`` has reward 1. ``Q = reward + discount * Q of the best link that follows`` is
    known for links that were followed. Their words and values train a naive Bayes classifier over ``bins`` bins of values,
    whose expectation is the Q of any other link. The words are the anchor, the text under the aggregation node
    and ``window`` terms on each side of the anchor.

    It learns from the web of ``ORDERING_ARCHIVE`` and from the crawl: after ``train_every`` pages, and again each time the
    crawl has grown by a tenth and at least that many pages; then waiting links get new scores. Before the first training,
    the value of a link is the mean of its page's relevance and its own context score.

    Raises ``BadSetting`` for a ``discount`` outside [0, 1) and for fewer than two ``bins``.
    """

    learns = True

    def __init__(
        self,
        context: OrderingContext,
        *,
        discount: float = 0.5,
        threshold: float = 0.05,
        bins: int = 3,
        window: int = 10,
        train_every: int = 50,
    ) -> None:
        super().__init__(context)
        if not 0 <= discount < 1:
            raise BadSetting("setting ORDERING_DISCOUNT", f"expected a number from 0 to below 1, not {discount}")
        if bins < 2:
            raise BadSetting("setting ORDERING_BINS", f"expected at least 2 bins, not {bins}")
        self.discount = discount
        self.threshold = threshold
        self.bins = bins
        self.window = window
        self.train_every = train_every
        self._numbers = TermIds()
        self._returns = DiscountedRewards(discount, EXAMPLES)
        self._texts: dict[str, Numbers] = {}  # of the links that were taken, by where they led
        self._waiting: WaitingUrls[_Evidence] = WaitingUrls()
        self._pages = 0
        self._next_training = train_every
        self._revised: list[tuple[str, float]] = []
        self._page: tuple[Page | None, Numbers, dict[int, float]] = None, self._numbers.of(()), {}
        self._known: list[tuple[Numbers, float]] = []  # texts and values from the archive
        self._model: ValueClassifier | None = None
        if context.archive is not None:
            paths = known_paths(context.archive, context.topic.seeds, threshold, discount)
            for page, link, value in paths:
                terms = self._numbers.of(page.terms)
                self._known.append((text_of(terms, pieces_of(link, len(terms), window)), value))
            self._train()

    def observe(self, page: Page) -> None:
        taken = self._waiting.end(page.url)
        forgotten = self._returns.add(page.url, page.parent, float(page.relevance > self.threshold))
        if forgotten is not None:
            self._texts.pop(forgotten, None)
        if taken is not None:
            self._texts[page.url] = text_of(taken.page, taken.pieces)
        self._pages += 1
        if self._pages >= self._next_training:
            self._next_training = self._pages + max(self.train_every, self._pages // 10)
            self._train()
            self._revised = list(self._rescored())

    def score(self, page: Page, link: Link) -> float:
        if self._page[0] is not page:
            self._page = page, self._numbers.of(page.terms), {}
            self._page[2].update(zip(map(id, page.links), self._scores(page.links), strict=True))
        score = self._page[2].get(id(link))
        if score is None:
            [score] = self._scores([link])
        known = self._waiting.get(link.url)
        if not self._waiting.has_ended(link.url) and (known is None or score > known.score):
            terms = self._page[1]
            self._waiting.put(link.url, _Evidence(terms, pieces_of(link, len(terms), self.window), score))
        return score

    def revise(self) -> Iterable[tuple[str, float]]:
        revised, self._revised = self._revised, []
        return revised

    def redirected(self, url: str, target: str) -> None:
        self._waiting.move(url, target)

    def failed(self, url: str) -> None:
        self._waiting.end(url)

    def _scores(self, links: Iterable[Link]) -> list[float]:
        """The scores of the links of the last page."""
        page, terms, _ = self._page
        assert page is not None
        if self._model is None:
            return [(page.relevance + link.context_score) / 2 for link in links]
        return self._worth(self._model, terms, [pieces_of(link, len(terms), self.window) for link in links])

    def _worth(self, model: ValueClassifier, page: Numbers, pieces: list[Pieces]) -> list[float]:
        values = (1 - self.discount) * expected_values(model, page, pieces)
        scores: list[float] = values.clip(0.0, 1.0).tolist()
        return scores

    def _train(self) -> None:
        """Learn from all examples, once two different values are among them."""
        taken = [(self._texts[url], value) for url, value in self._returns.items() if url in self._texts]
        examples = [*self._known, *taken]
        if len({value for _, value in examples}) > 1:
            texts, values = zip(*examples, strict=True)
            self._model = ValueClassifier(texts, values, bins=self.bins, terms=len(self._numbers))

    def _rescored(self) -> Iterable[tuple[str, float]]:
        """New scores of links that wait, page by page."""
        if self._model is None:
            return
        by_page: dict[int, list[tuple[str, _Evidence]]] = defaultdict(list)
        for url, evidence in self._waiting.items():
            by_page[id(evidence.page)].append((url, evidence))
        for links in by_page.values():
            page = links[0][1].page
            scores = self._worth(self._model, page, [evidence.pieces for _, evidence in links])
            for (url, evidence), score in zip(links, scores, strict=True):
                if abs(score - evidence.score) > WORTH_TELLING * max(score, evidence.score):
                    self._waiting.put(url, _Evidence(page, evidence.pieces, score))
                    yield url, score
