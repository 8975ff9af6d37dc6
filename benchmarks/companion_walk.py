"""A walk of a simulated reader with a companion; for ``benchmarks/companion.py``."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.simulated_reader import Reader
from crawlproject import settings as defaults
from crawlproject.assembly import assemble
from crawlproject.companion.companion import Companion
from crawlproject.companion.interests import Interests, page_vector
from crawlproject.companion.look_ahead import NO_TOPIC, AheadPace, LookAhead, choose_following
from crawlproject.companion.profile import Profile
from crawlproject.evaluation.simulation.run import CrawlSimulation
from crawlproject.options import Options
from crawlproject.records import Page, Reply
from crawlproject.webs.page_cache import PageCache

NONE, ANCHORS = "none", "anchors"


class PagesAsJudged:
    """The pages of a rehearsal with scores by the present keywords."""

    def __init__(self, cache: PageCache, judged: Callable[[Page], Page]) -> None:
        self._cache = cache
        self._judged = judged

    def get(self, url: str) -> tuple[Reply, Page | None]:
        reply, page = self._cache.get(url)
        return reply, self._judged(page) if page else None


def accompany(
    cache: PageCache, reader: Reader, clicks: int, policy: str, options: Options
) -> tuple[list[set[str]], int]:
    """The suggestions at the end of each step, and the number of fetches."""
    looks = policy not in (NONE, ANCHORS)
    chosen = options.model_copy(update={"ordering": policy if looks else "breadth_first"})
    with tempfile.TemporaryDirectory() as folder:
        pace = AheadPace(options.companion_fetches if looks else 0, options.companion_rate)
        rehearsal = CrawlSimulation(
            NO_TOPIC,
            chosen,
            cache.web,
            agent=defaults.USER_AGENT,
            folder=Path(folder),
            concurrency=4,
            open_crawl=partial(assemble, choose=choose_following, brakes=[pace]),
        )
        ahead = LookAhead(rehearsal.crawl, options.companion_clicks)
        analyzer, most = cache.reader.analyzer, options.companion_suggestions
        companion = Companion(ahead, Profile(), analyzer, lambda profile: None, most=most)
        pages = PagesAsJudged(cache, ahead.following.judged)
        shown: list[set[str]] = []
        while len(shown) <= clicks and (step := reader.read()) is not None:
            companion.open(step.page.url, step.page.title, step.page.counts, {}, rehearsal.now)
            if not looks:
                ahead.following.frequencies.observe(step.page.counts)
            _pass(rehearsal, pages, rehearsal.now + step.seconds)
            companion.stay(step.page.url, step.seconds, rehearsal.now)
            if step.saved:
                companion.judge(step.page.url, "saved", rehearsal.now)
            found = [each.url for each in companion.suggestions()] if looks else []
            if policy == ANCHORS:
                found = _anchors(companion, step.page, reader.opened, most)
            shown.append({*found})
            reader.click(found)
        rehearsal.close()
        return shown, pace.total


def _anchors(companion: Companion, page: Page, opened: set[str], most: int) -> list[str]:
    interests: Interests = companion.interests
    frequencies = companion.ahead.following.frequencies
    scored: dict[str, float] = {}
    for link in page.links:
        counts = Counter(page.terms[link.context_span.start : link.context_span.end])
        counts.update(page.terms[link.anchor_span.start : link.anchor_span.end])
        likeness = interests.likeness(page_vector(counts, frequencies)) if counts else 0.0
        if likeness > 0 and link.url not in opened:
            scored[link.url] = max(likeness, scored.get(link.url, 0.0))
    return sorted(scored, key=lambda url: -scored[url])[:most]


def _pass(rehearsal: CrawlSimulation, pages: PagesAsJudged, until: float) -> None:
    """Crawl until the time ``until``."""
    while True:
        if rehearsal.begin_fetch(pages):
            continue
        event = rehearsal.next_event()
        if event is None or event > until:
            rehearsal.pass_time(until)
            return
        rehearsal.pass_time(event)
