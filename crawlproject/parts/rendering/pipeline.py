"""Runs the scripts of pages that need a browser, where ``CRAWL_RENDER`` asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem, NotConfigured

from crawlproject.adapters.feeds import PageItem
from crawlproject.adapters.running import Component, crawl_of, heartbeat, stopped, stopping, time
from crawlproject.configuration import read_options
from crawlproject.parts.rendering.options import RenderOptions
from crawlproject.parts.rendering.part import HTML, Rendering, rendered_until
from crawlproject.storage.warc.archive import RenderedPage
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.post import post_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.core.crawl import Crawl
    from crawlproject.parts.rendering.browser.renderer import Renderer

MOST_COOKIES, LONGEST_COOKIE = 50, 4096  # as many and as long as a browser takes (RFC 6265 section 6.1)


class RenderPipeline(Component):
    """Replaces a page by what a browser would show.

    The lease of its URL stays open meanwhile, so that nothing else of its host is fetched. If scripts lead elsewhere, that is a
    redirect.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.options = read_options(crawler.settings).of(RenderOptions)
        if self.options.crawl_render == "never":
            raise NotConfigured
        self._renderer: Renderer | None = None

    def open_spider(self) -> None:
        if crawl_of(self.crawler) is not None:
            from crawlproject.parts.rendering.browser.renderer import Renderer

            self._renderer = Renderer(self.crawler, self.options)

    async def close_spider(self) -> None:
        if self._renderer is not None:
            await self._renderer.close()

    async def process_item(self, item: Any) -> Any:
        crawl, renderer = crawl_of(self.crawler), self._renderer
        part = crawl.part(Rendering) if crawl is not None else None
        if renderer is None or crawl is None or part is None or not isinstance(item, PageItem):
            return item
        if not renderer.is_available or not part.wants(item.page):
            return item
        content_type = item.fetch.content_type
        cookies = [value.decode("latin-1") for value in item.cookies[:MOST_COOKIES] if len(value) <= LONGEST_COOKIE]
        trials = None if item.logged_in else part.trials(item.page)  # with a login, a click acts for a person
        began = time()
        rendered = await renderer.render(_address(item), item.body, content_type, cookies, trials)
        if stopped(self.crawler):
            raise DropItem("the crawl stops; the page is fetched again after a resume", log_level="DEBUG")
        if heartbeat.excuse(began, timed_out=False):  # its scripts may not have had the time they need
            with stopping(self.crawler):
                crawl.wait_again(item.lease, item.fetch)
            raise DropItem("the process was suspended; the page is fetched again", log_level="DEBUG")
        if rendered is None:
            return item
        snapshot = rendered.snapshot
        if crawl.folder.archive is not None:
            crawl.folder.archive.rendered(item.page.url, RenderedPage(item.body, content_type, rendered.exchanges))
        item.fetch = rendered_until(item.fetch, time(), rendered.asked_rest)
        if snapshot.redirect and self._redirect(item, snapshot.redirect, crawl):
            raise DropItem(f"redirected by its scripts: {item.page.url}", log_level="DEBUG")
        steps = crawl.steps_for(item.lease)
        item.page, body = part.page(
            steps,
            item.lease,
            item.page,
            snapshot.html,
            robots_tag=item.robots_tag,
            now=item.fetch.at,
            trials=trials,
            is_whole=snapshot.is_whole,
        )
        if body:
            item.body, item.fetch = body, replace(item.fetch, content_type=HTML)
        return item

    def _redirect(self, item: PageItem, href: str, crawl: Crawl) -> bool:
        """Whether the lease has ended with a redirect; not for one to the same page."""
        target = canonical_or_none(crawl.canonicalize, href, item.page.url)
        if target is None or target == _address(item):
            return False
        with stopping(self.crawler):
            crawl.redirect(item.lease, target, item.fetch)
        return True


def _address(item: PageItem) -> str:
    """What a browser shows as the address of a page."""
    post = post_of(item.page.url)
    return post.url if post else item.page.url
