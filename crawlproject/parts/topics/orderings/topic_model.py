"""What one of several topics has learned of the links of a crawl. Terms, rows and groups are those of the crawl."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.adaptive.link_features import LinkFeatures
from crawlproject.orderings.adaptive.link_table import LinkTable, Mask, Rows, TopicColumns
from crawlproject.orderings.adaptive.predictors import FAR_BEHIND, Ridge, behind_of
from crawlproject.orderings.adaptive.terms import CONTRAST, Bm25Worth, TermStatistics
from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.learning import Numbers
from crawlproject.pages.text.terms import counted
from crawlproject.records import JUDGED, Page
from crawlproject.urls.hosts import folder_of, host_of

Vector = npt.NDArray[np.float64]


class TopicModel:
    """The worth of pages to one topic, the evidence about links, and its regressions, as ``Adaptive`` has them."""

    def __init__(
        self,
        context: OrderingContext,
        table: LinkTable,
        terms: TermStatistics,
        groups: LinkFeatures,
        *,
        prospect: float,
        strength: float,
        without: tuple[str, ...],
    ) -> None:
        self.name = context.topic.name
        self._judge = context.judge
        self._table = table
        self._terms = terms
        self._prospect = prospect
        self.query = query = tuple(context.judge.query)
        keywords = terms.numbers(query)
        self._worth = Bm25Worth(terms, dict(zip(query, keywords.tolist(), strict=True)))
        self._columns = TopicColumns(table)
        self._evidence = LinkFeatures(self._columns, terms, keywords, without)
        self._evidence.share(groups)
        self._ridge = Ridge(self._evidence.prior, strength)

    # ------------------------------------------------------------ pages

    def worth(self, page: Page, counts: Mapping[str, int]) -> float:
        """What a page is worth, whose keywords have these ``counts``.

        A person who says that a page is relevant means the topic that it is closest to.
        """
        relevance = page.topics.get(self.name, 0.0)
        if JUDGED in page.signs:
            closest = relevance >= max(page.topics.values(), default=0.0)
            if closest or not page.signs[JUDGED]:
                return page.signs[JUDGED]
        return relevance**CONTRAST if self._judge.by_meaning else self._worth(counts, len(page.terms))

    def observe(self, worth: float, numbers: Numbers, counts: Rows) -> None:
        """A page was fetched: its distinct terms, and how often it has each."""
        self._evidence.feedback.observe(worth, numbers, counts)

    def meet(self, rows: Rows, fresh: Mask, worth: float) -> None:
        """A page of this worth links to ``rows``; it is the first to link to those that are ``fresh``."""
        self._columns.meet(rows, fresh, worth)

    def learn(self, url: str, row: int | None, promised: Vector | None, outcome: Vector) -> None:
        """The outcome of a URL, (worth, prospect), and the evidence that there was about its row if it had one."""
        if row is None or promised is None:
            self._evidence.learn_host(host_of(url), outcome)
        else:
            self._evidence.learn(self._table.groups[row], outcome)
            self._ridge.learn(promised, outcome)

    def learn_earlier(self, page: Page, rows: Rows) -> None:
        """Learn from a page that was fetched before this topic joined; ``rows`` are those of its links that still wait."""
        worth = self.worth(page, page.counts)
        self._evidence.feedback.observe(worth, *counted(self._terms.numbers(page.terms)))
        self._columns.meet(rows, np.zeros(len(rows), bool), worth)
        prospect = 0.0
        if len(rows):
            prospect = float(np.clip(self.values(rows)[0], 0.0, 1.0).mean())
        names = {0: host_of(page.url), 1: folder_of(page.url)} | ({3: page.parent} if page.parent else {})
        self._evidence.learn_elsewhere(names, np.array([worth, prospect]))

    def refresh(self, idfs: Vector) -> None:
        """Let all that was learned count from now on; ``idfs`` are those of the terms."""
        self._evidence.refresh(idfs)
        self._ridge.solve()

    # ------------------------------------------------------------ links

    def evidence(self, row: int) -> Vector:
        """The evidence about one row, (2, kinds)."""
        return self._evidence.of(np.array([row]))[:, 0]

    def value(self, evidence: Vector) -> float:
        """The value that this evidence about a row promises."""
        worth, behind = np.einsum("of,of->o", evidence, self._ridge.weights).tolist()
        # As ``behind_of``, which takes ten times as long for one number.
        return float(worth + self._prospect * min(max(behind, 0.0), FAR_BEHIND))

    def values(self, rows: Rows) -> tuple[Vector, Vector]:
        """The predicted worth of each row, and its value."""
        worth, behind = np.einsum("orf,of->or", self._evidence.of(rows), self._ridge.weights)
        return worth, worth + self._prospect * behind_of(behind)

    def end(self) -> None:
        """The topic has left."""
        self._evidence.end_share()
