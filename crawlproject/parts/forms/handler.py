"""Queries: result pages of search forms. They are pages, whose links lead to items."""

from __future__ import annotations

from dataclasses import replace

from crawlproject.core.kinds.handler import FetchPlan
from crawlproject.core.kinds.page import PageHandler
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.services import Services
from crawlproject.parts.forms.forms import Forms, is_respelled
from crawlproject.records import PAGE, QUERY, CrawlUrl, Fetch, Page, Reply, Visit
from crawlproject.urls.hosts import domain_of
from crawlproject.urls.post import post_of, post_url

_REPEATED = (307, 308)  # redirects that keep method and body (RFC 9110 section 15.4)


class QueryHandler(PageHandler):
    """Admits, fetches and ends queries as pages; whatever becomes of one, its source may send the next.

    ``agent`` is the User-Agent of the crawl: it says that a query is one.
    """

    def __init__(self, services: Services, forms: Forms, agent: str) -> None:
        super().__init__(services)
        self._forms = forms
        self._agent = agent

    def plan(self, url: CrawlUrl) -> FetchPlan:
        agent = f"{self._agent} (query of a search form)" if self._agent else ""
        return FetchPlan(user_agent=agent, post=post_of(url.url))

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        page = super().receive(url, reply, fetch, page)
        return page and replace(page, kind=QUERY)

    def stored(self, visit: Visit, inherited: tuple[float, ...], steps: PageSteps) -> Page | None:
        page = super().stored(visit, inherited, steps)
        return page and replace(page, kind=QUERY)

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        with self._frontier.batch():
            super().fail(url, error, fetch)
            self._forms.ask()

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        with self._frontier.batch():
            super().refuse(url, reason)
            self._forms.refused(url.url)
            self._forms.ask()

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """The target is the same query in another spelling, or a page: the only item that was found, or a notice.

        A POST is sent once more where the server says so (307, 308) and the path on the site is the same, as behind ``http``;
        any other target is asked for by GET.
        """
        post = post_of(url.url)
        if post is not None and fetch.status in _REPEATED and _place_of(post.url) == _place_of(target):
            target = post_url(target, post.body)
        self._history.end(url, fetch, redirect=target)
        respelled = is_respelled(url.url, target)
        with self._frontier.batch():
            known = target in self._frontier
            offered = self._admission.offer(replace(url, url=target, kind=QUERY if respelled else PAGE))
            if respelled and (known or target not in self._frontier):
                self._forms.refused(target)
            self._forms.ask()
            self._frontier.done(url.key, fetch.rests_from, fetch.seconds)
        return offered


def _place_of(url: str) -> tuple[str, str]:
    """Site and path, whatever the scheme and the host name are."""
    return domain_of(url), url.partition("?")[0].partition("://")[2].partition("/")[2]
