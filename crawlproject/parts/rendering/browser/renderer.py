"""Renders pages in a browser that is started for the first of them, and replaced from time to time."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlproject.adapters.running import count, robots_agent
from crawlproject.parts.rendering.browser.chromium import BrowserGone, Chromium, find_chromium
from crawlproject.parts.rendering.browser.clicks import Clicks
from crawlproject.parts.rendering.browser.page_session import CRASH, PageSession, Snapshot
from crawlproject.parts.rendering.browser.paused_requests import PageAnswer
from crawlproject.parts.rendering.browser.resources import Resources

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.parts.rendering.controls import PageTrials
    from crawlproject.parts.rendering.options import RenderOptions
    from crawlproject.storage.warc.record import Exchange

logger = logging.getLogger(__name__)

MOST_PAGES = 100  # that one browser renders
TRIES = 2  # of a page whose browser was lost, perhaps to another page


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of rendering a page, and the exchanges of its requests if the crawl is archived. In these, its host asked to
    be left alone for ``asked_rest`` seconds.
    """

    snapshot: Snapshot
    exchanges: Sequence[Exchange] = ()
    asked_rest: float = 0.0


class _Lent:
    """A browser and the number of pages in it."""

    def __init__(self, browser: Chromium) -> None:
        self.browser = browser
        self.pages = 0
        self.served = 0


class Renderer:
    """Renders at most ``CRAWL_RENDER_PAGES`` pages at a time. Without a browser it logs one warning."""

    def __init__(self, crawler: Crawler, options: RenderOptions) -> None:
        self._crawler = crawler
        self._options = options
        self._resources = Resources(crawler, options)
        self._turn = asyncio.Semaphore(options.crawl_render_pages)
        self._starting = asyncio.Lock()
        self._latest: _Lent | None = None
        self._executable = find_chromium(options.crawl_browser)
        self.is_available = bool(self._executable) and hasattr(os, "posix_spawn")
        if not self.is_available:
            self._say("there is no Chromium, and CRAWL_BROWSER names none")

    async def render(
        self, url: str, body: bytes, content_type: str, cookies: Sequence[str] = (), trials: PageTrials | None = None
    ) -> Rendered | None:
        """Render the page at ``url``, and click its controls as ``trials`` choose; None without a browser.

        ``body``, ``content_type`` and ``cookies`` (values of ``Set-Cookie``) are those of its response.
        """
        headers = (("Content-Type", content_type or "text/html"), *(("Set-Cookie", cookie) for cookie in cookies))
        document = PageAnswer(200, headers, body)
        async with self._turn:
            for tried in range(TRIES):
                if not self.is_available:
                    return None
                try:
                    async with self._browser() as browser:
                        rendered = await self._render_in(browser, url, document, None if tried else trials)
                except BrowserGone:
                    rendered = Rendered(Snapshot(failure=CRASH))
                    continue
                break
            outcome = rendered.snapshot.failure or ("redirect" if rendered.snapshot.redirect else "done")
            count(self._crawler, f"render/pages/{outcome}")
            for result, clicks in (trials.counts() if trials else {}).items():
                count(self._crawler, f"render/clicks/{result}", clicks)
            return rendered

    async def close(self) -> None:
        """Kill the browser."""
        lent, self._latest = self._latest, None
        if lent is not None:
            await lent.browser.kill()

    async def _render_in(
        self, browser: Chromium, url: str, document: PageAnswer, trials: PageTrials | None
    ) -> Rendered:
        answers = self._resources.answers_for(url)
        clicks = Clicks(trials) if trials is not None else None
        session = PageSession(browser.devtools, answers.answer, answers.waited, clicks)
        seconds, most = self._options.crawl_render_seconds, self._options.page_max_bytes
        try:
            snapshot = await session.render(url, document, seconds=seconds, most=most)
        finally:
            answers.close()
        return Rendered(snapshot, answers.exchanges, answers.asked_rest)

    @asynccontextmanager
    async def _browser(self) -> AsyncIterator[Chromium]:
        """A browser for one page. Raises ``BrowserGone`` when there is none, or when it is lost meanwhile."""
        async with self._starting:
            lent = self._latest
            if lent is None or not lent.browser.is_alive or lent.served >= MOST_PAGES:
                lent = self._latest = await self._start(lent)
            lent.pages += 1
            lent.served += 1
        try:
            yield lent.browser
        except BrowserGone:
            await lent.browser.kill()
            raise
        finally:
            lent.pages -= 1
            if lent.pages == 0 and lent is not self._latest:
                await lent.browser.kill()

    async def _start(self, before: _Lent | None) -> _Lent:
        if before is not None and before.pages == 0:
            await before.browser.kill()
        if before is None and os.geteuid() == 0:
            logger.warning("The browser runs without its sandbox, because the crawl runs as root.")
        agent = robots_agent(self._crawler.settings)
        try:
            browser = await Chromium.start(self._executable, agent, self._options.crawl_render_memory)
        except (BrowserGone, OSError) as failed:
            self._say(f"{self._executable} does not start ({failed or 'it did not answer'})")
            raise BrowserGone from failed
        count(self._crawler, "render/browsers")
        return _Lent(browser)

    def _say(self, why: str) -> None:
        self.is_available = False
        logger.warning("Pages that need a browser are not rendered: %s. The crawl continues without a browser.", why)
