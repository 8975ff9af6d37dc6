"""The ordering of a look-ahead: wraps an ordering that is created for each current page, and remembers fetched pages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from crawlproject.companion.interests import spellings
from crawlproject.orderings.base import BaseOrdering
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.pages.text.vectors import DocumentFrequencies
from crawlproject.records import CrawlUrl, Link, Page, Topic

REMEMBERED = 1_000  # pages


class Following(BaseOrdering):
    """Scores links with the ordering that ``make`` creates for a topic. ``turn_to`` replaces this inner ordering.

    It cannot just pass new keywords on: an ordering may read its keywords only once, and would keep following the old ones.
    """

    learns = True

    def __init__(self, topic: Topic, judge: TopicJudge, make: Callable[[Topic], BaseOrdering]) -> None:
        self._topic = topic
        self._judge = judge
        self._make = make
        self._inner = inner = make(topic)
        super().__init__(inner.context)
        self.commit = inner.commit
        self.reads_tag_paths = inner.reads_tag_paths
        self.reads_forms = inner.reads_forms
        self.frequencies = DocumentFrequencies()
        self.words: dict[str, str] = {}  # the latest spelling of each term
        self._pages: OrderedDict[str, Page] = OrderedDict()
        self._targets: dict[str, str] = {}  # of redirects
        self._family: set[str] = set()  # URLs that this look-ahead has led to
        self._dropped: set[str] = set()

    # ------------------------------------------------------------ for the look-ahead

    def turn_to(self, url: str, keywords: Sequence[str]) -> None:
        """Start over at ``url`` with other keywords; a repeated keyword weighs more. Raises ``BadInput`` if none has a term.

        From now on, only links on paths from ``url`` are followed, not those of pages that were still in flight.
        """
        self._family = {url}
        self._judge.turn_to(keywords)
        self._inner = self._make(replace(self._topic, keywords=tuple(keywords)))

    def begin(self, url: str) -> None:
        """Also follow the links of ``url``."""
        self._family.add(url)

    def page(self, url: str) -> Page | None:
        """The remembered page at ``url`` or at the target of its redirect, without its text; None if there is none."""
        return self._pages.get(self._targets.get(url, url))

    def forget(self) -> None:
        """Forget all pages."""
        self._dropped.update(self._pages, self._targets)
        self._pages.clear()
        self._targets.clear()
        self._family.clear()
        self.words.clear()
        self.frequencies = DocumentFrequencies()

    def dropped(self) -> set[str]:
        """The URLs of pages forgotten since the last call; they may be fetched again."""
        found, self._dropped = self._dropped, set()
        return found

    def judged(self, page: Page) -> Page:
        """The page with its relevance and link scores computed for the current keywords."""
        return self._judge.judge(page)

    # ------------------------------------------------------------ the ordering

    def score(self, page: Page, link: Link) -> float | None:
        if page.url not in self._family:
            return None
        self._family.add(link.url)
        return self._inner.score(page, link)

    def seed_score(self, url: str) -> float:
        return self._inner.seed_score(url)

    def observe(self, page: Page) -> None:
        if page.url not in self._pages:
            self.frequencies.observe(page.counts)
            self.words |= spellings(page.text, page.counts, self._judge.analyzer) if page.text else {}
        self._pages[page.url] = replace(page, text="", text_main=str)
        if len(self._pages) > REMEMBERED:
            gone, _ = self._pages.popitem(last=False)
            self._dropped |= {gone, *(source for source, target in self._targets.items() if target == gone)}
            self._targets = {source: target for source, target in self._targets.items() if target != gone}
        self._inner.observe(page)

    def implied(self, page: Page) -> None:
        self._inner.implied(page)

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        return self._inner.inherited_for_links(page)

    def revise(self) -> Iterable[tuple[str, float]]:
        revised = list(self._inner.revise())
        self.floor = self._inner.floor
        return revised

    def redirected(self, url: str, target: str) -> None:
        self._targets[url] = target
        if url in self._family:
            self._family.add(target)
        self._inner.redirected(url, target)

    def failed(self, url: str) -> None:
        self._inner.failed(url)

    def refused(self, url: str) -> None:
        self._inner.refused(url)

    def too_deep(self, url: str) -> None:
        self._inner.too_deep(url)

    def postponed(self, url: str) -> None:
        self._inner.postponed(url)

    def host_blocked(self, host: str) -> None:
        self._inner.host_blocked(host)

    def agent(self, url: CrawlUrl) -> int | None:
        return self._inner.agent(url)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        return self._inner.explain(url)
