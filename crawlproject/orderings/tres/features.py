"""The features of a link in TRES: the path to its page, keywords in URL and anchor, and the relevance of its host so far."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.base import OrderingContext
from crawlproject.pages.text.terms import Terms
from crawlproject.records import Page
from crawlproject.urls.hosts import host_of

FEATURES = (
    "relevant page",  # 1 if the page that holds the link is relevant
    "nearness",  # 1 / number of links from the last relevant page of the path to the target
    "relevant share",  # share of relevant pages on the path
    "keyword in URL",
    "keyword in anchor",
    "phrase in anchor",
    "host",  # share of relevant pages among its fetched pages; 0.5 while there are none
    "new host",  # 1 until a page of the host is fetched
    "context",  # the judge's score of the words of the link
)
HOST = FEATURES.index("host")
UNKNOWN = 0.5
SOME = 1e-5  # stands for shares below a tenth, other than 0

Rows = npt.NDArray[np.float32]


class LinkPath(NamedTuple):
    """The path to a link: its numbers of relevant and other pages, and of links since the last relevant page."""

    relevant: int = 0
    other: int = 0
    distance: int = 0

    def on(self, relevant: bool) -> LinkPath:
        """The path extended by one page."""
        if relevant:
            return LinkPath(self.relevant + 1, self.other, 1)
        return LinkPath(self.relevant, self.other + 1, self.distance + 1)

    @property
    def features(self) -> tuple[float, float, float]:
        """The first three of ``FEATURES`` for links on the last page of the path; all 0 for a path without a page."""
        pages = self.relevant + self.other
        if not pages:
            return 0.0, 0.0, 0.0
        return float(self.relevant > 0 and self.distance == 1), tenths(1 / self.distance), tenths(self.relevant / pages)


class Host:
    """How many pages of a host were fetched, how many of these were relevant, and the ``share`` of relevant pages."""

    __slots__ = ("fetched", "relevant", "share")

    def __init__(self) -> None:
        self.fetched = self.relevant = 0
        self.share = UNKNOWN

    def learn(self, relevant: bool) -> None:
        self.fetched += 1
        self.relevant += relevant
        self.share = self.relevant / self.fetched

    @property
    def features(self) -> tuple[float, float]:
        return tenths(self.share), float(not self.fetched)


class FeatureReader:
    """Computes the ``FEATURES`` of the links of a page, and keeps the ``Host`` objects."""

    def __init__(self, context: OrderingContext) -> None:
        self._judge = context.judge
        keywords = context.topic.keywords
        words = dict.fromkeys(" ".join(keywords).lower().split())
        self._words = tuple(word for word in words if context.judge.analyzer.terms(word))
        phrases = (tuple(context.judge.analyzer.terms(keyword)) for keyword in keywords)
        self._phrases = [phrase for phrase in dict.fromkeys(phrases) if len(phrase) > 1]
        terms = dict.fromkeys([*context.judge.query, *(term for phrase in self._phrases for term in phrase)])
        self._numbers = {term: number for number, term in enumerate(terms)}
        self._hosts: dict[str, Host] = {}

    def host(self, url: str) -> Host:
        name = host_of(url).removeprefix("www.")
        return self._hosts.setdefault(name, Host())

    def of_seed(self, page: Page) -> Rows:
        """The features of a seed: those of a link without a page, with the title as its anchor."""
        terms = self._judge.analyzer.terms(page.title)
        whole = np.array([[0, len(terms)]])
        found = [*LinkPath().features, self._in_url(page.url), *self._in_anchors(terms, whole)[0]]
        return np.array([*found, 1.0, 0.0, self._judge.similarity(page.title)], np.float32)

    def of_links(self, page: Page, hosts: Sequence[Host], path: LinkPath) -> Rows:
        """A row for each link of ``page``; ``hosts`` are those of the links, and ``path`` leads up to the page, inclusive."""
        links = page.links
        rows = np.zeros((len(links), len(FEATURES)), np.float32)
        if links:
            spans = np.array([link.anchor_span for link in links]).clip(0, len(page.terms))
            rows[:, :3] = path.features
            rows[:, 3] = [self._in_url(link.url) for link in links]
            rows[:, 4:6] = self._in_anchors(page.terms, spans)
            rows[:, HOST : HOST + 2] = [host.features for host in hosts]
            rows[:, 8] = [link.context_score for link in links]
        return rows

    def _in_url(self, url: str) -> bool:
        """Whether ``url`` contains a word of the keywords as a substring."""
        return any(map(url.lower().__contains__, self._words))

    def _in_anchors(self, terms: Sequence[str], spans: npt.NDArray[np.int64]) -> Rows:
        """Whether each anchor contains a keyword term, and a whole keyword of several terms: shape (anchors, 2)."""
        numbers = self._numbered(terms)
        found = np.zeros((len(spans), 2), np.float32)
        if numbers.max(initial=-1) < 0:
            return found
        starts, ends = spans.T
        found[:, 0] = _any_between(numbers >= 0, starts, ends)
        for phrase in self._phrases:
            wanted = [self._numbers[term] for term in phrase]
            begins = np.ones(len(numbers) + 1 - len(wanted), bool) if len(wanted) <= len(numbers) else np.zeros(0, bool)
            for place, number in enumerate(wanted):
                begins &= numbers[place : place + len(begins)] == number
            if begins.any():
                found[:, 1] = np.maximum(found[:, 1], _any_between(begins, starts, ends - len(wanted) + 1))
        return found

    def _numbered(self, terms: Sequence[str]) -> npt.NDArray[np.int64]:
        """The number of each term, -1 for a term that no keyword contains."""
        if not isinstance(terms, Terms):
            return np.fromiter(map(self._numbers.get, terms, repeat(-1)), np.int64, len(terms))
        found = np.full(len(terms), -1)
        for term, number in self._numbers.items():
            if (known := terms.vocabulary.numbers.get(term)) is not None:
                found[terms.numbers == known] = number
        return found


def tenths(share: float) -> float:
    """A share rounded down to tenths, so that a tree has few places to split it; ``SOME`` for less than a tenth."""
    return max(int(share * 10 + 1e-9) / 10, SOME) if share else 0.0


def _any_between(
    marks: npt.NDArray[np.bool_], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Whether there is a mark in each range from a start (inclusive) to an end (exclusive)."""
    before = np.concatenate([[0], marks.cumsum()])
    last = len(marks)
    return before[ends.clip(0, last)] > before[starts.clip(0, last)]
