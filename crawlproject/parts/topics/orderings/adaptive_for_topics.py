"""``adaptive`` for several topics at a time: one table of links and one active set, and the worth of links for each topic.

A page is turned into numbers, and its links into rows, once. Each topic has a model of what it has learned (``TopicModel``), so a
further topic costs only its predictions. Terms, rows and groups are those of the crawl.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.adaptive.adaptive import REVISE_EVERY, Adaptive
from crawlproject.orderings.adaptive.link_features import LinkFeatures, kinds_of
from crawlproject.orderings.adaptive.link_table import LinkTable, Mask, Rows, TopicParents
from crawlproject.orderings.adaptive.predictors import FAR_BEHIND, Ridge, behind_of
from crawlproject.orderings.adaptive.terms import CONTRAST, Bm25Worth, TermStatistics
from crawlproject.orderings.base import OrderingContext
from crawlproject.pages.text.counting import Numbers, counted
from crawlproject.pages.text.terms import counts_of_some
from crawlproject.parts.topics.orderings.fair_share import FairShare
from crawlproject.records import JUDGED, CrawlUrl, Page
from crawlproject.urls.hosts import folder_of, host_of

Vector = npt.NDArray[np.float64]


class AdaptiveForTopics(Adaptive):
    """``Adaptive``, where the value of a link is the sum of its values to the topics, weighted by ``share``.

    ``context`` is that of the whole crawl; the topics join with their own. ``parameters`` are those of ``Adaptive``. Workers send
    each other their pages instead of sums, since topics join at different times.
    """

    sums = False

    def __init__(self, context: OrderingContext, share: FairShare, parameters: Mapping[str, Any]) -> None:
        super().__init__(context, **parameters)
        self.share = share
        self._models: list[TopicModel] = []  # in the order of ``share``
        self._keywords: dict[str, None] = {}  # of all topics that ever joined
        self._promises: tuple[Vector, Sequence[float]] | None = None  # by the latest evidence about a row

    # ------------------------------------------------------------ topics

    def join(self, context: OrderingContext, weight: float = 1.0, place: int | None = None) -> None:
        """Add a topic: all that waits gets new scores. Raises ``ValueError`` as ``FairShare.join``."""
        self.share.join(context.topic.name, weight)
        kinds = kinds_of(self.without)
        model = TopicModel(
            context,
            self._table,
            self._terms,
            self._evidence,
            prospect=self.prospect,
            strength=self.strength,
            without=kinds,
        )
        self._models.append(model)
        self._keywords |= dict.fromkeys(model.query)
        self._words.look_for(model.query)
        self._share_turns()
        for url in context.topic.seeds:
            self._ended.add(url)
        self.weigh_anew()

    def leave(self, name: str) -> None:
        """Remove a topic."""
        index = self.share.names.index(name)
        self.share.leave(name)
        self._models.pop(index).end()
        self._share_turns()
        self.weigh_anew()

    def _share_turns(self) -> None:
        """The more topics there are, the less often URLs that are far from being fetched are scored."""
        self.turns = max(1, len(self._models))

    def weigh_anew(self) -> None:
        """Score all rows again when the frontier asks next, since the weights have changed."""
        self._latest = None
        if self._pages:
            self._scored_at = -REVISE_EVERY
            self._active.near = -np.inf
            self._learn_all()

    def learn_earlier(self, name: str, page: Page) -> None:
        """Let a topic that joined learn from a page that was fetched before."""
        rows = [row for row in map(self._table.row, {link.url: None for link in page.links}) if row is not None]
        self._models[self.share.names.index(name)].learn_earlier(page, np.array(rows, np.int64))

    # ------------------------------------------------------------ events of the crawl

    def observe(self, page: Page) -> None:
        models, share = self._models, self.share
        row = self._table.row(page.url)
        promised = self._evidence_of(row) if row is not None else None
        expected = self._promised(row) if row is not None else None
        self._pages += 1
        text = self._terms.numbers(page.terms)
        numbers, counts = self._terms.observe(text)
        of_keywords = counts_of_some(page.counts, self._keywords)
        worths = np.array([model.worth(page, of_keywords) for model in models])
        self._active.observe()
        for model, worth in zip(models, worths.tolist(), strict=True):
            model.observe(worth, numbers, counts)
        if self._pages < REVISE_EVERY:  # at first, learn from every page at once
            self._learn_all()
        if len(models) > 1:
            share.fetched(np.array(expected) if expected is not None else worths)
        rows, fresh = self._note_links(page, text, float(share.values(worths)))
        for model, worth in zip(models, worths.tolist(), strict=True):
            model.meet(rows, fresh, worth)
        prospects = np.broadcast_to(self._promise(page, rows, fresh), worths.shape)
        # The shared evidence learns first: that keeps the groups alive, though its own estimates are not used.
        whole = np.array([worths.sum(), prospects.sum()])
        if row is None:
            self._evidence.learn_host(host_of(page.url), whole)
        else:
            self._evidence.learn(self._table.groups[row], whole)
        for number, model in enumerate(models):
            outcome = np.array([worths[number], prospects[number]])
            model.learn(page.url, row, None if promised is None else promised[number], outcome)
        self.failed(page.url)

    def listed(self, page: Page) -> None:
        rows, fresh = self._note_links(page, self._terms.numbers(page.terms), 0.0)
        for model in self._models:
            model.meet(rows, fresh, 0.0)
        self._promise(page, rows, fresh)
        self.failed(page.url)

    def implied(self, page: Page) -> None:
        page = self._with_new_links(page)
        of_keywords = counts_of_some(page.counts, self._keywords)
        worths = [model.worth(page, of_keywords) for model in self._models]
        rows, fresh = self._note_links(
            page, self._terms.numbers(page.terms), float(self.share.values(np.array(worths)))
        )
        for model, worth in zip(self._models, worths, strict=True):
            model.meet(rows, fresh, worth)
        self._promise(page, rows, fresh)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        """What each topic adds, by its name; exploration; and by how much the score was out of date."""
        row = self._table.row(url.url)
        if row is None:
            return {}
        of_topics = self._promised(row)
        weighed = (weight * value for weight, value in zip(self.share.weights.tolist(), of_topics, strict=True))
        parts = dict(zip(self.share.names, weighed, strict=True))
        parts["seed"] = float(self._evidence.from_seeds(np.array([row]))[0])
        parts["exploration"] = self._active.raised_by(row)
        parts["learned since"] = url.score - sum(parts.values())
        return dict(sorted(((name, part) for name, part in parts.items() if part), key=lambda item: -item[1]))

    # ------------------------------------------------------------ rows become scores

    def _evidence_of(self, row: int) -> Vector:
        """The evidence about one row for each topic: (topics, 2, kinds)."""
        asked = row, self._pages
        if self._latest is None or self._latest[0] != asked:
            self._latest = asked, np.array([model.evidence(row) for model in self._models])
        return self._latest[1]

    def _promised(self, row: int) -> Sequence[float]:
        """The value of one row to each topic, cached: ``explain`` and ``observe`` ask for it one after the other."""
        evidence = self._evidence_of(row)
        if self._promises is None or self._promises[0] is not evidence:
            found = [model.value(seen) for model, seen in zip(self._models, evidence, strict=True)]
            self._promises = evidence, found
        return self._promises[1]

    def _values(self, rows: Rows) -> tuple[Vector, Vector]:
        """The predicted worth of each row to each topic, (topics, rows), and its value to all."""
        found = [model.values(rows) for model in self._models]
        if not found:
            return np.zeros((0, len(rows))), np.zeros(len(rows))
        values = self.share.values(np.array([value for _, value in found]))
        return np.array([worth for worth, _ in found]), values + self._evidence.from_seeds(rows)

    def _learn_all(self) -> None:
        idfs = self._terms.idfs()
        for model in self._models:
            model.refresh(idfs)


class TopicModel:
    """The worth of pages to one topic, the evidence about links, and its regressions, as in ``Adaptive``."""

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
        self._parents = TopicParents(table)
        self._evidence = LinkFeatures(table, terms, keywords, without, self._parents)
        self._evidence.share(groups)
        self._ridge = Ridge(self._evidence.prior, strength)

    # ------------------------------------------------------------ pages

    def worth(self, page: Page, counts: Mapping[str, int]) -> float:
        """The worth of a page whose keywords have these ``counts``.

        When a person judges a page as relevant, that holds for the topic to which it is closest.
        """
        relevance = page.topics.get(self.name, 0.0)
        if JUDGED in page.signs:
            closest = relevance >= max(page.topics.values(), default=0.0)
            if closest or not page.signs[JUDGED]:
                return page.signs[JUDGED]
        return relevance**CONTRAST if self._judge.by_meaning else self._worth(counts, len(page.terms))

    def observe(self, worth: float, numbers: Numbers, counts: Rows) -> None:
        """Learn from a fetched page: its worth, its distinct terms, and how often it has each."""
        self._evidence.feedback.observe(worth, numbers, counts)

    def meet(self, rows: Rows, fresh: Mask, worth: float) -> None:
        """Note that a page of this worth links to ``rows``, and is the first to link to those that are ``fresh``."""
        self._parents.meet(rows, fresh, worth)

    def learn(self, url: str, row: int | None, promised: Vector | None, outcome: Vector) -> None:
        """Learn from the outcome of a URL, (worth, prospect), and the evidence about its row, if it had one."""
        if row is None or promised is None:
            self._evidence.learn_host(host_of(url), outcome)
        else:
            self._evidence.learn(self._table.groups[row], outcome)
            self._ridge.learn(promised, outcome)

    def learn_earlier(self, page: Page, rows: Rows) -> None:
        """Learn from a page that was fetched before this topic joined; ``rows`` are those of its links that still wait."""
        worth = self.worth(page, page.counts)
        self._evidence.feedback.observe(worth, *counted(self._terms.numbers(page.terms)))
        self._parents.meet(rows, np.zeros(len(rows), bool), worth)
        prospect = 0.0
        if len(rows):
            prospect = float(np.clip(self.values(rows)[0], 0.0, 1.0).mean())
        names = {0: host_of(page.url), 1: folder_of(page.url)} | ({3: page.parent} if page.parent else {})
        self._evidence.learn_elsewhere(names, np.array([worth, prospect]))

    def refresh(self, idfs: Vector) -> None:
        """Apply all that was learned; ``idfs`` are those of the terms."""
        self._evidence.refresh(idfs)
        self._ridge.solve()

    # ------------------------------------------------------------ links

    def evidence(self, row: int) -> Vector:
        """The evidence about one row, (2, kinds)."""
        return self._evidence.of(np.array([row]))[:, 0]

    def value(self, evidence: Vector) -> float:
        """The value that this evidence about a row promises."""
        worth, behind = np.einsum("of,of->o", evidence, self._ridge.weights).tolist()
        # The formula of ``behind_of``, which takes ten times as long for one number.
        return float(worth + self._prospect * min(max(behind, 0.0), FAR_BEHIND))

    def values(self, rows: Rows) -> tuple[Vector, Vector]:
        """The predicted worth of each row, and its value."""
        worth, behind = np.einsum("orf,of->or", self._evidence.of(rows), self._ridge.weights)
        return worth, worth + self._prospect * behind_of(behind)

    def end(self) -> None:
        """End the model of a topic that has left."""
        self._evidence.end_share()
