"""A companion on a small web with a virtual clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from crawlproject.assembly import assemble
from crawlproject.companion.companion import Companion
from crawlproject.companion.look_ahead import NO_TOPIC, SETTINGS, AheadPace, LookAhead, choose_following
from crawlproject.companion.profile import Profile
from crawlproject.configuration import read_options
from crawlproject.evaluation.simulation.run import CrawlSimulation
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.records import Page, Reply
from support.webs import DictWeb


class Browsing:
    """A person who reads pages of a ``DictWeb`` with the companion; ``kept`` holds the profiles in the order of writing."""

    def __init__(
        self,
        folder: Path,
        web: Mapping[str, Reply],
        *,
        ordering: str = "breadth_first",
        per_page: int = 100,
        per_minute: int = 1000,
        clicks: int = 3,
        profile: Profile | None = None,
        **settings: Any,
    ) -> None:
        chosen = {**SETTINGS, "TRAP_MAX_DEPTH": clicks, "ORDERING": ordering, **settings}
        options = read_options(chosen)
        self.asked: list[str] = []
        self._web = DictWeb(web)
        self._cache = read_pages(self._web, "en", options)
        self.pace = AheadPace(per_page, per_minute)
        self._simulation = CrawlSimulation(
            NO_TOPIC,
            options,
            self._web,
            agent="tests",
            folder=folder,
            concurrency=2,
            open_crawl=partial(assemble, choose=choose_following, brakes=[self.pace]),
        )
        self.crawl = self._simulation.crawl
        self.ahead = LookAhead(self.crawl, clicks)
        self.kept: list[str] = []
        analyzer = self._cache.reader.analyzer
        self.companion = Companion(
            self.ahead, profile or Profile(), analyzer, lambda kept: self.kept.append(kept.text()), least=0.0
        )

    @property
    def now(self) -> float:
        return self._simulation.now

    def get(self, url: str) -> tuple[Reply, Page | None]:
        """Fetch in the simulation: a page is judged by the present keywords."""
        self.asked.append(url)
        reply, page = self._cache.get(url)
        return reply, self.ahead.following.judged(page) if page else None

    def open(self, url: str, seconds: float = 60.0, text: str = "") -> None:
        """Open a page and read it for ``seconds``; with ``text`` the browser reports the text of the page."""
        counts = Counter(self._cache.reader.analyzer.terms(text))
        self.companion.open(url, "", counts, {term: term for term in counts}, self.now)
        self.wait(seconds)
        self.companion.stay(url, seconds, self.now)
        self.companion.settle(self.now)

    def wait(self, seconds: float) -> None:
        until = self.now + seconds
        while True:
            if self._simulation.begin_fetch(self):
                continue
            event = self._simulation.next_event()
            if event is None or event > until:
                break
            self._simulation.pass_time(event)
        self._simulation.pass_time(until)

    def suggested(self) -> list[str]:
        return [found.url for found in self.companion.suggestions()]
