"""Content behind search forms: forms on relevant pages are asked, and their result pages lead to items (paper 004 section
7). Queries are a kind of URL: pages, whose links lead to items.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from crawlproject.core.page_steps import PageSteps
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import FetchPlan, Handler, PageHandler, Services
from crawlproject.options import Options
from crawlproject.parts.forms.forms import Forms, is_respelled
from crawlproject.parts.forms.options import FormOptions
from crawlproject.parts.forms.result_page import is_view
from crawlproject.records import PAGE, QUERY, CrawlUrl, Fetch, FetchEvent, Page, Reply, Visit
from crawlproject.urls.hosts import domain_of
from crawlproject.urls.post import post_of, post_url

_REPEATED = (307, 308)  # redirects that keep method and body (RFC 9110 section 15.4)


class FormPart(Part):
    """There where ``CRAWL_FORMS`` is more than 0."""

    name = "forms"
    _services: Services

    def __init__(self, setup: Setup) -> None:
        self._agent = setup.agent
        self.forms = Forms(
            setup.topic,
            setup.options.of(FormOptions),
            self._offer,
            setup.canonicalize,
            setup.frontier,
            setup.judge,
            setup.folder.pages.load,
        )

    @classmethod
    def reads(cls, options: Options) -> Collection[str]:
        return ["forms"] if options.of(FormOptions).crawl_forms else []

    @classmethod
    def make(cls, setup: Setup) -> FormPart | None:
        return cls(setup) if setup.options.of(FormOptions).crawl_forms else None

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {QUERY: QueryHandler(services, self.forms, self._agent)}

    def begin(self, now: float) -> None:
        self.forms.resume()

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number == 1:
            self.forms.learn(event)

    def followed(self, page: Page) -> Page:
        """A result page leads to its items. Its other views are fetched as queries, or not at all."""
        if page.kind != QUERY:
            return page
        return replace(page, links=tuple(link for link in page.links if not is_view(link.url, page.url)))

    def before_links(self, page: Page) -> Iterable[CrawlUrl]:
        """Queries are offered first: what a result page links to may be its next page."""
        self.forms.ask()
        return ()

    def counters(self) -> Mapping[str, int]:
        return self.forms.counters()

    def _offer(self, url: CrawlUrl) -> bool:
        return self._services.admission.offer(url)


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
