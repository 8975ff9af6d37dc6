"""Reinforcement learning of links (paper 000 section 5.2; Rennie and McCallum, ICML 1999, for the crawler of CORA).

The value of a followed link, in an archive or in the crawl, is the discounted reward of following it. A naive Bayes
classifier predicts this value for other links from their text: the anchor, the text of the aggregation node, and the words
around the anchor.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext, PageArchive
from crawlproject.orderings.learning import TermIds, WaitingUrls
from crawlproject.orderings.link_graph import LinkGraph
from crawlproject.pages.text.counting import Numbers
from crawlproject.records import Link, Page

EXAMPLES = 5_000  # latest links with a known value; older ones are dropped
WORTH_TELLING = 0.05  # a smaller relative change does not revise a waiting URL
MAX_PAGES = 3_000  # read from an archive, the nearest to the seeds first
MAX_LINKS = 2  # examples taken from the links to one page
STEPS = 6  # links to look ahead on a path
STILL = 1e-3  # a smaller change of value is not propagated

Values = npt.NDArray[np.float64]
Pieces = tuple[int, int, int, int, int, int]  # start and end of the anchor, the context and the words around


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Evidence for a waiting URL: the terms of the linking page, and the positions of the words of the link in it."""

    page: Numbers
    pieces: Pieces
    score: float


class Reinforcement(BaseOrdering):
    """``(1 - discount) * Q``, where Q is the immediate and future reward of a link, predicted from its words.

    A page with a relevance above ``threshold`` has reward 1. ``Q = reward + discount * Q of the best link that follows`` is
    known for links that were followed. Their words and values train a naive Bayes classifier over ``bins`` bins of values;
    the value that it expects is the Q of any other link. The words are the anchor, the text under the aggregation node and
    ``window`` terms on each side of the anchor.

    The classifier learns from the web of ``ORDERING_ARCHIVE``, and from the crawl: after ``train_every`` pages, and again
    whenever the crawl has grown by a tenth and by at least ``train_every`` pages. Then waiting links get new scores. Before
    the first training, the value of a link is the mean of its page's relevance and its own context score.

    Raises ``BadSetting`` for a ``discount`` outside [0, 1) and for fewer than two ``bins``.
    """

    learns = True
    needs_extra = "learn"

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
        self._texts: dict[str, Numbers] = {}  # of the links that were followed, by target URL
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
        """Learn from all examples, once they have at least two different values."""
        taken = [(self._texts[url], value) for url, value in self._returns.items() if url in self._texts]
        examples = [*self._known, *taken]
        if len({value for _, value in examples}) > 1:
            texts, values = zip(*examples, strict=True)
            self._model = ValueClassifier(texts, values, bins=self.bins, terms=len(self._numbers.numbers))

    def _rescored(self) -> Iterable[tuple[str, float]]:
        """New scores of waiting links, page by page."""
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


class ValueClassifier:
    """The expected value of a text: ``sum over bins b of P(b | text) * mean value of b``.

    ``texts`` are arrays of term numbers below ``terms``; ``values`` are the known values of these texts. Values are cut
    into at most ``bins`` bins (2 or more) of about equally many texts; equal values share a bin. Naive Bayes over term
    counts, with one count added to each term and bin, gives ``P(b | text)``.

    The contribution of a term does not depend on its position, so many overlapping pieces of one text can be scored with
    cumulative sums of rows of ``term_logs`` (shape: ``terms`` + 1, bins). Its last row is 0, for terms that appeared after
    the training.
    """

    def __init__(self, texts: Sequence[Numbers], values: Sequence[float], *, bins: int, terms: int) -> None:
        from scipy.sparse import csr_array
        from sklearn.naive_bayes import MultinomialNB

        known = np.asarray(values, np.float64)
        labels = _bins(known, bins)
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        columns = np.concatenate([*texts, np.zeros(0, np.int32)])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        counts = csr_array((np.ones(len(columns)), columns, starts), shape=(len(texts), terms))
        counts.sum_duplicates()
        model = MultinomialNB(alpha=1.0).fit(counts, labels)
        self.terms = terms
        self.term_logs: Values = np.vstack([model.feature_log_prob_.T, np.zeros(len(model.classes_))])
        self.prior_logs: Values = model.class_log_prior_
        self.means: Values = np.array([known[labels == label].mean() for label in model.classes_])

    def running_sums(self, text: Numbers) -> Values:
        """The summed logs of the terms before each position: shape (len(text) + 1, bins)."""
        rows = self.term_logs[np.minimum(text, self.terms)]
        return np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])

    def expected(self, logs: Values) -> Values:
        """The expected value of each text; ``logs`` are the sums of the logs of its terms, of shape (texts, bins)."""
        logs = logs + self.prior_logs
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        values: Values = shares @ self.means / shares.sum(axis=1)
        return values


def _bins(values: Values, bins: int) -> npt.NDArray[np.int64]:
    """The bin of each value, by the share of the values that are below it; equal values count half."""
    _, which, equals = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(equals) - equals / 2) / len(values)
    labels: npt.NDArray[np.int64] = (bins * middle).astype(np.int64)[which]
    return labels


def pieces_of(link: Link, terms: int, window: int) -> Pieces:
    """The three pieces of a page of ``terms`` terms that describe a link, with ``window`` terms on each side of the anchor.

    They overlap: a word of the anchor may count three times, and words near the anchor count more than distant ones.
    """
    start, end = link.anchor_span
    return (start, end, *link.context_span, max(0, start - window), min(terms, end + window))


def text_of(page: Numbers, pieces: Pieces) -> Numbers:
    """The words of a link as one text; ``page`` holds the terms of its page."""
    return np.concatenate([page[pieces[0] : pieces[1]], page[pieces[2] : pieces[3]], page[pieces[4] : pieces[5]]])


def expected_values(model: ValueClassifier, page: Numbers, pieces: Sequence[Pieces]) -> Values:
    """The values that ``model`` expects of the links of one page, in time linear in terms plus links."""
    sums = model.running_sums(page)
    places: npt.NDArray[np.int64] = np.array(pieces, np.int64).reshape(-1, 6)
    at = sums[places]  # shape (links, 6, bins)
    return model.expected((at[:, 1::2] - at[:, 0::2]).sum(axis=1))


def known_paths(
    archive: PageArchive, seeds: Iterable[str], threshold: float, discount: float
) -> Iterator[tuple[Page, Link, float]]:
    """Page, link, and the discounted reward of the link, for links between the first ``MAX_PAGES`` pages.

    Pages are visited breadth-first from the seeds, then from the other pages of the archive. A page with a relevance above
    ``threshold`` has reward 1. At most ``MAX_LINKS`` links to each page are yielded.
    """
    pages = list(_breadth_first(archive, seeds))
    graph: LinkGraph[str] = LinkGraph()
    for page in pages:
        graph.id_of(page.url)
    for page in pages:
        graph.add_page(page.url, (link.url for link in page.links if graph.find(link.url) is not None))
    rewards = np.array([float(page.relevance > threshold) for page in pages])
    values = graph_values(rewards, *graph.edges(), discount, STEPS)
    left = np.full(len(pages), MAX_LINKS)
    for page in pages:
        for link in page.links:
            number = graph.find(link.url)
            if number is not None and left[number]:
                left[number] -= 1
                yield page, link, float(values[number])


def _breadth_first(archive: PageArchive, seeds: Iterable[str]) -> Iterator[Page]:
    seen: set[str] = set()
    read: set[str] = set()
    queue: deque[str] = deque()
    for start in chain(seeds, archive.urls()):
        queue.append(start)
        while queue:
            url = queue.popleft()
            page = archive.page(url) if url not in seen else None
            seen.add(url)
            if page is None or page.url in read:
                continue
            read.add(page.url)
            yield page
            if len(read) >= MAX_PAGES:
                return
            queue.extend(link.url for link in page.links)


@dataclass(slots=True)
class _Step:
    parent: str | None
    reward: float
    next: float = 0.0  # the best value of a step after this one


class DiscountedRewards:
    """Steps of a crawl and their values so far: ``Q = reward + discount * best Q of the steps that followed``.

    A step is the fetch of a URL; the fetches of the URLs found on its page follow it. Values grow as better steps follow.
    Only the latest ``limit`` steps are kept.
    """

    def __init__(self, discount: float, limit: int) -> None:
        self._discount = discount
        self._limit = limit
        self._steps: dict[str, _Step] = {}

    def add(self, url: str, parent: str | None, reward: float) -> str | None:
        """Add a step at the end of its path; return the step that was dropped for it, if any."""
        forgotten = None
        if url not in self._steps and len(self._steps) >= self._limit:
            forgotten = next(iter(self._steps))
            del self._steps[forgotten]
        self._steps[url] = _Step(parent, reward)
        value = reward
        while parent is not None and (step := self._steps.get(parent)) is not None and value > step.next + STILL:
            step.next = value
            value = step.reward + self._discount * step.next
            parent = step.parent
        return forgotten

    def items(self) -> Iterator[tuple[str, float]]:
        """Each step and its value, the oldest first."""
        return ((url, step.reward + self._discount * step.next) for url, step in self._steps.items())


def graph_values(
    rewards: npt.NDArray[np.float64],
    sources: npt.NDArray[np.int32],
    targets: npt.NDArray[np.int32],
    discount: float,
    steps: int,
) -> npt.NDArray[np.float64]:
    """The value of going to each node, looking up to ``steps`` more links ahead.

    ``rewards`` has one entry per node; links go from ``sources[i]`` to ``targets[i]``. This is value iteration: a path that
    returns to a node gets its reward again.
    """
    values = rewards.copy()
    for _ in range(steps):
        best = np.zeros(len(rewards))
        np.maximum.at(best, sources, values[targets])
        values = rewards + discount * best
    return values
