"""Pages whose scripts were run: what becomes of them in a crawl, and what they cost."""

from __future__ import annotations

from dataclasses import replace

from crawlproject.core.page_steps import PageSteps
from crawlproject.parts.rendering.policy import gained
from crawlproject.records import NEEDS_BROWSER, RENDERED, CrawlUrl, Fetch, Page

HTML = "text/html; charset=utf-8"


class RenderedPages:
    """``cost`` is how many fetches a rendering counts for in the budget of its site, besides the fetch of the page."""

    def __init__(self, cost: float) -> None:
        self._cost = cost

    def fetch(self, fetch: Fetch, now: float) -> Fetch:
        """How a fetch went whose page was rendered until ``now``: the host was visited all that time.

        The validators are those of the page as it came, which may stay the same while its text changes.
        """
        return replace(fetch, at=now, seconds=fetch.seconds + now - fetch.at, etag="", last_modified="", lifetime=0.0)

    def page(
        self, steps: PageSteps, url: CrawlUrl, plain: Page, html: str, *, robots_tag: str, now: float
    ) -> tuple[Page, bytes]:
        """The page and its body after its scripts have run; no body when nothing was gained, and ``plain`` is the page.

        ``html`` is empty when they failed.
        """
        signs = {RENDERED: self._cost}
        body = html.encode("utf-8", "replace")[: steps.max_bytes]
        page = steps.read(url, body, content_type=HTML, robots_tag=robots_tag, now=now) if body else plain
        if page is plain or (plain.needs_browser and not gained(plain, page)):
            return replace(plain, signs={**plain.signs, **signs}), b""
        return replace(page, signs={**_seen(page), **signs}), body


def _seen(page: Page) -> dict[str, float]:
    return {name: value for name, value in page.signs.items() if name != NEEDS_BROWSER}
