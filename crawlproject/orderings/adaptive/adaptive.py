"""The adaptive ordering, this project's own: learns during the crawl what links are worth and what lies behind them.

page ─► worth ─► its links: rows of evidence ─► value = worth + prospect * what lies behind ─► frontier, with a floor
           └──► corrects what the evidence about this page had promised: group means, weights
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadSetting
from crawlproject.orderings.adaptive.active_set import ActiveSet
from crawlproject.orderings.adaptive.link_features import KINDS, LinkFeatures, kinds_of
from crawlproject.orderings.adaptive.link_rows import RowsOfLinks
from crawlproject.orderings.adaptive.link_table import LinkTable, Mask, Rows, UrlSet
from crawlproject.orderings.adaptive.predictors import Ridge, behind_of
from crawlproject.orderings.adaptive.shared_sums import NO_TOPS, SAMPLE, SharedSums
from crawlproject.orderings.adaptive.terms import CONTRAST, Bm25Worth, TermStatistics, UrlWords
from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.summing import SummingOrdering
from crawlproject.pages.text.counting import Numbers
from crawlproject.records import JUDGED, CrawlUrl, Link, Page
from crawlproject.urls.hosts import folder_of, host_of

Vector = npt.NDArray[np.float64]

REVISE_EVERY = 16  # pages from one rescoring of all waiting URLs to the next
BEST_LINKS = 10  # best new links of a page that make up its prospect
UNDER_WAY = 100  # observed pages whose links may not have been scored yet, at most


class Adaptive(SummingOrdering):
    """``value = worth + prospect * behind``, both predicted by regressions that learn from every fetched page.

    The *worth* of a page is BM25 of the keywords (``terms.py``) or the judgement of a person; what lies *behind* it is the
    mean predicted worth of its ten best new links. The evidence about a link (``link_features.py``): keywords and the
    vocabulary of good pages in anchor, surroundings and URL, the pages that link to it, and what was found on its host, in
    its folder, at its place and in its family. The regressions begin with prior weights that suit most webs and count as
    ``strength`` examples.

    All links enter the frontier. Only the ``active`` best URLs (0: all) are above its floor, and the best URL of each of
    some other hosts, at most ``explore`` times as many as the best URLs are on. Otherwise the k rule would give turns to
    hosts that do not deserve them. A crawl begins with few active URLs. The evidence about the best ``rows`` URLs is kept,
    and these URLs are rescored every ``REVISE_EVERY`` pages. ``without`` names kinds of evidence to leave out, separated by
    commas. Raises ``BadSetting`` for an unknown kind, and for numbers below 0 (``strength`` and ``rows``: below 1).
    """

    learns = True
    reads_tag_paths = True
    turns = 1  # rescorings until each row that is far from being active was rescored

    def __init__(
        self,
        context: OrderingContext,
        *,
        prospect: float = 1.0,
        active: int = 256,
        explore: float = 1.0,
        strength: float = 60.0,
        rows: int = 16_384,
        without: str = "",
    ) -> None:
        super().__init__(context)
        _refuse_below("prospect", prospect, 0)
        _refuse_below("active", active, 0)
        _refuse_below("explore", explore, 0)
        _refuse_below("strength", strength, 1)
        _refuse_below("rows", rows, 1)
        self.prospect = prospect
        self.active = active
        self.explore = explore
        self.strength = strength
        self.rows = rows
        self.without = without
        query = tuple(context.judge.query)
        self._terms = TermStatistics()
        keywords = self._terms.numbers(query)
        self._worth = Bm25Worth(self._terms, dict(zip(query, keywords.tolist(), strict=True)))
        self._table = LinkTable()
        self._active = ActiveSet(self._table, active, explore)
        self._evidence = LinkFeatures(self._table, self._terms, keywords, kinds_of(without))
        self._ridge = Ridge(self._evidence.prior, strength)
        self._ended = UrlSet(context.topic.seeds)  # seeds wait from the start and get no rows
        self._words = UrlWords(context.judge.analyzer, query)
        self._links = RowsOfLinks(self._table, self._evidence, self._terms, self._words, self._ended)
        self._scores: dict[str, dict[str, float]] = {}  # of the links of the latest pages, by page
        self._pages = self._scored_at = self._turn = 0
        self._latest: tuple[tuple[int, int], Vector] | None = None  # (row, pages) and the evidence about the row then
        self._shared: SharedSums | None = None  # what is exchanged with other workers, if there are any

    # ------------------------------------------------------------ scores

    def score(self, page: Page, link: Link) -> float:
        """The value computed by ``observe``; 0 for a URL that was fetched already."""
        return self._scores.get(page.url, {}).get(link.url, 0.0)

    def revise(self) -> Iterator[tuple[str, float]]:
        if self._pages - self._scored_at >= REVISE_EVERY or self._active.is_short():
            self._scored_at = self._pages
            yield from self._score_all()

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        """The contributions of each kind of evidence, of what lies behind, and of exploration; and what was learned since."""
        row = self._table.row(url.url)
        if row is None:
            return {}
        evidence = self._evidence_of(row)
        parts = dict(zip(KINDS, (evidence[0] * self._ridge.weights[0]).tolist(), strict=True))
        parts["behind"] = self.prospect * float(behind_of(float(evidence[1] @ self._ridge.weights[1])))
        parts["seed"] = float(self._evidence.from_seeds(np.array([row]))[0])
        parts["exploration"] = self._active.raised_by(row)
        parts["learned since"] = url.score - sum(parts.values())
        value = itemgetter(1)
        return dict(sorted(filter(value, parts.items()), key=value, reverse=True))

    # ------------------------------------------------------------ events of the crawl

    def observe(self, page: Page) -> None:
        row = self._table.row(page.url)
        promised = self._evidence_of(row) if row is not None else None
        self._pages += 1
        text = self._terms.numbers(page.terms)
        numbers, counts = self._terms.observe(text)
        worth = self._worth_of(page)
        self._active.observe()
        good = self._evidence.feedback.observe(worth, numbers, counts)
        if self._pages < REVISE_EVERY:  # at first, learn from every page at once
            self._learn_all()
        rows, fresh = self._note_links(page, text, worth)
        outcome = np.array([worth, float(self._promise(page, rows, fresh))])
        if self._shared:
            told = self._terms.documents <= SAMPLE
            self._shared.outcome = page.url, outcome
            self._shared.news.read(page.counts, len(page.terms), worth, told=told, good=good)
        if row is not None and promised is not None:
            self._learn(row, promised, outcome)
        elif not self._shared or not page.depth:  # else the worker that has the row learns
            self._evidence.learn_host(host_of(page.url), outcome)
            if self._shared:
                self._shared.news.learn([(0, host_of(page.url))], outcome)
        self.failed(page.url)

    def _learn(self, row: int, promised: Vector, outcome: Vector) -> None:
        """Learn the outcome of a row, about which the evidence was ``promised``."""
        groups = self._table.groups[row]
        self._evidence.learn(groups, outcome)
        self._ridge.learn(promised, outcome)
        if self._shared:
            self._shared.news.learn(self._evidence.names(groups), outcome, promised)

    def listed(self, page: Page) -> None:
        self._promise(page, *self._note_links(page, self._terms.numbers(page.terms), 0.0))
        self.failed(page.url)

    def implied(self, page: Page) -> None:
        page = self._with_new_links(page)
        self._promise(page, *self._note_links(page, self._terms.numbers(page.terms), self._worth_of(page)))

    def _note_links(self, page: Page, text: Numbers, worth: float) -> tuple[Rows, Mask]:
        self._latest = None
        return self._links.note(page, text, worth)

    def _with_new_links(self, page: Page) -> Page:
        """The page without links to URLs with rows, which real links have described already."""
        return replace(page, links=tuple(link for link in page.links if self._table.row(link.url) is None))

    def failed(self, url: str) -> None:
        self._ended.add(url)
        self._forget(url)

    def too_deep(self, url: str) -> None:
        self._forget(url)  # otherwise it would keep its place for ever

    def postponed(self, url: str) -> None:
        self._forget(url)  # it waits in the frontier without a row, or it would take a place from others

    def host_blocked(self, host: str) -> None:
        number = self._evidence.host_number(host)
        if number < 0:
            return
        rows = self._table.of_host(number)
        rows = rows[self._table.told[rows] >= self.floor]
        if len(rows):
            self._remove(rows)

    def redirected(self, url: str, target: str) -> None:
        known = target in self._ended or self._table.row(target) is not None
        if known or self._table.row(url) is None:
            self.failed(url)
            return
        self._ended.add(url)
        self._latest = None
        row = self._table.rename(url, target)
        self._evidence.move(self._table.groups[row], host_of(target), folder_of(target))

    def _forget(self, url: str) -> None:
        """End the row of ``url``, if there is one."""
        row = self._table.row(url)
        if row is not None:
            self._remove(np.array([row]))

    def _remove(self, rows: Rows) -> None:
        self._latest = None
        self._active.removed(rows)
        self._evidence.leave(self._table.groups[rows])
        self._table.remove(rows)

    def _worth_of(self, page: Page) -> float:
        if JUDGED in page.signs:
            return page.signs[JUDGED]
        if self.context.judge.by_meaning:
            return page.relevance**CONTRAST
        return self._worth(page.counts, len(page.terms))

    # ------------------------------------------------------------ other workers

    def join_others(self) -> None:
        self._shared = SharedSums(self._evidence, self._terms, self._ridge, self._active)

    def difference(self) -> Any:
        return self._shared.message() if self._shared else None

    def add(self, worker: str, difference: Any) -> None:
        if self._shared:
            self._latest = None
            self._pages += self._shared.add(worker, difference)

    def outcome(self, url: str) -> Any:
        return self._shared.outcome_of(url) if self._shared else None

    def fetched_elsewhere(self, url: str, outcome: Any) -> None:
        row = self._table.row(url)
        if row is not None and outcome is not None:
            worth, prospect = map(float, outcome)
            self._learn(row, self._evidence_of(row), np.array([worth, prospect]))
        self.failed(url)

    def kept_elsewhere(self, url: str) -> None:
        row = self._table.row(url)
        if row is not None and self._table.links[row] == 1:  # an older row is ours, from before a restart
            self.failed(url)

    def left(self, worker: str) -> None:
        if self._shared:
            self._shared.tops.pop(worker, None)

    # ------------------------------------------------------------ rows become scores

    def _evidence_of(self, row: int) -> Vector:
        """The evidence about one row, cached because ``explain`` and ``observe`` ask for it in turn."""
        asked = row, self._pages
        if self._latest is None or self._latest[0] != asked:
            self._latest = asked, self._evidence.of(np.array([row]))[:, 0]
        return self._latest[1]

    def _values(self, rows: Rows) -> tuple[Vector, Vector]:
        """The predicted worth of each row, and its value."""
        worth, behind = np.einsum("orf,of->or", self._evidence.of(rows), self._ridge.weights)
        return worth, worth + self.prospect * behind_of(behind) + self._evidence.from_seeds(rows)

    def _promise(self, page: Page, rows: Rows, fresh: Mask) -> float | Vector:
        """Score the rows of a page's links; return the mean predicted worth of the best new ones, for each topic."""
        if not len(rows):
            return 0.0
        worth, values = self._values(rows)
        self._table.value[rows] = values
        self._active.admit(rows, values)
        self._scores[page.url] = dict(zip(self._table.urls(rows), values.tolist(), strict=True))
        if len(self._scores) > UNDER_WAY:
            del self._scores[next(iter(self._scores))]
        best = np.sort(np.minimum(np.maximum(worth[..., fresh], 0.0), 1.0))[..., -BEST_LINKS:]
        return np.asarray(best.sum(axis=-1) / BEST_LINKS)

    def _learn_all(self) -> None:
        """Update term weights and regressions from all that was learned."""
        self._evidence.refresh()
        self._ridge.solve()

    def _score_all(self) -> Iterator[tuple[str, float]]:
        """Rescore the table by what is known now; yield the scores that changed, for the frontier.

        Inactive URLs are rescored too, since their hosts are visited when no better host is due. Of the rows that are far
        from being active, only every ``turns``-th is rescored.
        """
        self._learn_all()
        table, rows = self._table, self._table.waiting()
        if not len(rows):
            if self._shared:
                self._shared.own = NO_TOPS
            return
        due = rows
        if self.turns > 1:
            self._turn = (self._turn + 1) % self.turns
            due = rows[(table.value[rows] >= self._active.near) | (rows % self.turns == self._turn)]
        table.value[due] = self._values(due)[1]
        values = table.value[rows]
        others = self._shared.compare(rows, values) if self._shared else ()
        told = self._active.choose(rows, values, *others)
        self.floor = self._active.floor
        yield from zip(table.urls(told), table.told[told].tolist(), strict=True)
        if len(rows) > self.rows:
            surplus = np.argpartition(values, len(rows) - self.rows)[: len(rows) - self.rows]
            self._remove(rows[surplus])


def _refuse_below(name: str, value: float, least: float) -> None:
    if not value >= least:
        raise BadSetting(f"setting ORDERING_{name.upper()}", f"expected at least {least:g}, not {value!r}")
