"""A simulated person who reads a virtual web; ``benchmarks/companion.py`` describes the behaviour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Page, Topic
from crawlproject.webs.page_cache import ArchivedPages

BACK = 0.1  # chance of going back, at any page
SAVES = 1 / 7


@dataclass(frozen=True)
class Step:
    """A page that the reader opens for ``seconds``. ``is_target``: a target of the topic, opened for the first time."""

    page: Page
    seconds: float
    is_target: bool
    saved: bool


class Reader:
    """One simulated person. The random numbers drawn do not depend on the suggestions."""

    def __init__(
        self, web: ArchivedPages, topic: Topic, judge: TopicJudge, number: int, *, noise: float, follow: float
    ) -> None:
        self.steps: list[Step] = []
        self.opened: set[str] = set()
        self._web = web
        self._targets = {*topic.targets}
        self._judge = judge
        self._noise = noise
        self._follow = follow
        self._random = Random(f"{topic.name} {number}")
        self._path: list[Page] = []
        self._page = web.page(topic.seeds[number % len(topic.seeds)])

    def read(self) -> Step | None:
        """Open the next page; return None if there is none."""
        page, random = self._page, self._random
        if page is None:
            return None
        found = page.url in self._targets and page.url not in self.opened
        self.opened.add(page.url)
        long, short, saved = random.uniform(40, 180), random.uniform(5, 25), random.random() < SAVES
        step = Step(page, long if found else short, found, found and saved)
        self.steps.append(step)
        return step

    def click(self, suggested: Sequence[str]) -> None:
        """Choose the page that is read next."""
        assert self._page is not None
        random, page = self._random, self._page
        follows, goes_back = random.random() < self._follow, random.random() < BACK
        chances = Random(random.random())
        chosen = self._first(suggested) if follows else None
        if chosen is None and not (goes_back and self._path):
            chosen = self._first(self._links(page, chances))
        if chosen is None:
            self._page = self._path.pop() if self._path else None
        else:
            self._path.append(page)
            self._page = chosen

    def _links(self, page: Page, random: Random) -> list[str]:
        """The links of a page, the most attractive first."""
        scored = [
            (
                self._judge.span_score(page.terms, link.anchor_span)
                - self._noise * math.log(-math.log(random.random() or 0.5)),
                link.url,
            )
            for link in page.links
        ]
        return [url for _, url in sorted(scored, reverse=True) if url not in self.opened][:20]

    def _first(self, urls: Sequence[str]) -> Page | None:
        found = (page for url in urls if (page := self._web.page(url)) is not None)
        return next((page for page in found if page.url not in self.opened), None)
