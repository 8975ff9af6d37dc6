"""Content behind search forms: sends queries to the forms of relevant pages (paper 004 section 7). A query is a kind of URL
that is fetched like a page; the links of its result page lead to items.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial

from crawlproject.core.page_steps import PageSteps
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import FetchPlan, Handler, PageHandler, Services
from crawlproject.errors import BadSetting
from crawlproject.options import Options
from crawlproject.pages.html.form_kinds import SEARCH_FORMS
from crawlproject.pages.html.forms import read_forms
from crawlproject.parts.forms.options import FormOptions
from crawlproject.parts.forms.result_page import is_view
from crawlproject.parts.forms.selection import make_selection
from crawlproject.parts.forms.source import FormSource
from crawlproject.parts.forms.sources import Sources, is_respelled
from crawlproject.records import PAGE, PLANTED, QUERY, CrawlUrl, Fetch, FetchEvent, Page, Reply, Visit
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import domain_of
from crawlproject.urls.post import canonical_request, is_post, post_of, post_url

TRIES = 20  # queries of a source that are offered in one turn

_REPEATED = (307, 308)  # redirects that keep method and body (RFC 9110 section 15.4)


class FormPart(Part):
    """The part of a crawl whose ``CRAWL_FORMS`` is more than 0. Forms on relevant pages and on seeds are sources; each has one
    query at a time that waits or is being fetched.

    Queries are fetched before other waiting URLs, since they may find better ones. The state of a source follows from the
    history, so its queries continue after a resume.
    """

    name = "forms"
    _services: Services

    def __init__(self, setup: Setup) -> None:
        options = setup.options.of(FormOptions)
        if options.frontier == "redis":
            raise BadSetting(
                "setting CRAWL_FORMS", "needs FRONTIER memory or disk: workers do not share the answers of forms"
            )
        make_selection(options.crawl_form_selection)  # raises for a wrong name before anything starts
        self._agent = setup.agent
        self._canonicalize = setup.canonicalize
        self._frontier = setup.frontier
        self._load = setup.folder.pages.load
        self._relevant = options.page_relevant
        self._pages: dict[str, tuple[int, float]] = {}  # depth and score of the pages of sources
        self.sources = Sources(
            canonicalize=partial(canonical_request, setup.canonicalize),
            judge=setup.judge,
            keywords=setup.topic.keywords,
            limit=options.crawl_forms,
            relevant=options.page_relevant,
            selection=partial(make_selection, options.crawl_form_selection),
        )

    @classmethod
    def reads(cls, options: Options) -> Collection[str]:
        return ["forms"] if options.of(FormOptions).crawl_forms else []

    @classmethod
    def make(cls, setup: Setup) -> FormPart | None:
        return cls(setup) if setup.options.of(FormOptions).crawl_forms else None

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {QUERY: QueryHandler(services, self, self._agent)}

    def begin(self, now: float) -> None:
        """Assign waiting queries to their sources, and let the other sources send their next query.

        A query that is now spelled otherwise takes its new spelling at its turn (``Admission.respell``).
        """
        queries = (url for url in self._frontier.waiting() if url.kind == QUERY)
        waiting = {self._spelled(url.url): self._spelled(url.parent or "") for url in queries}
        for url, parent in waiting.items():
            self.sources.adopt(url, parent)
        for source in self.sources:
            if source.out and source.out not in waiting:
                self.sources.refused(source.out)
        self.ask()

    def _spelled(self, url: str) -> str:
        """A URL of an earlier run in the spelling of this one."""
        return url if is_post(url) else canonical_or_none(self._canonicalize, url) or url

    def learn(self, event: FetchEvent) -> None:
        visit = event.visit
        if visit.number > 1:
            return
        if visit.kind == QUERY:
            url, parent, target = map(self._spelled, (visit.url, visit.parent or "", visit.redirect))
            if is_respelled(url, target):
                self.sources.moved(url, parent, target)
            else:
                self.sources.answered(url, parent, event.page() if visit.md5 else None)
        elif visit.md5 and self.sources.is_query(visit.parent or ""):
            page = event.page()
            if page is not None:
                self.sources.described(page)
        wanted = visit.relevance >= self._relevant or visit.depth == 0  # forms on seeds are tried, too
        if wanted and SEARCH_FORMS in visit.signs and visit.md5 and visit.kind != QUERY:
            try:
                body = self._load(visit.url)
            except FileNotFoundError:
                return
            if self.sources.found(visit.url, event.links, read_forms(body, visit.url, visit.content_type)):
                self._pages[visit.url] = visit.depth, visit.score

    def examine_again(self, page: Page, fetch: Fetch) -> Page:
        """A result page that is visited again is one still."""
        return replace(page, kind=QUERY) if self.sources.is_query(page.url) else page

    def followed(self, page: Page) -> Page:
        """A result page leads to its items only. Its other views are fetched as queries, or not at all."""
        if page.kind != QUERY:
            return page
        return replace(page, links=tuple(link for link in page.links if not is_view(link.url, page.url)))

    def before_links(self, page: Page) -> Iterable[CrawlUrl]:
        """Offer queries before links: a link of a result page may be the next result page."""
        self.ask()
        return ()

    def counters(self) -> Mapping[str, int]:
        """The numbers of sources, of the result pages that they cost, of the items found, and of sources given up."""
        sources = list(self.sources)
        return {
            "forms/sources": len(sources),
            "forms/fetches": sum(source.fetches for source in sources),
            "forms/items": sum(len(source.graph.items) for source in sources),
            "forms/given_up": sum(bool(source.reason) and source.reason != "limit reached" for source in sources),
        }

    def ask(self) -> None:
        """Add the next query of every ready source to the frontier."""
        for source in self.sources.ready():
            self._ask(source)

    def _ask(self, source: FormSource) -> None:
        for _ in range(TRIES):
            query = source.next()
            if query is None:
                return
            self.sources.sent(source)
            depth, score = self._pages[source.page]
            depth += query.number
            url = CrawlUrl(query.url, score, depth, query.parent, query.text, kind=QUERY, precedence=PLANTED)
            if url.key not in self._frontier:
                self._services.admission.offer(url)
                if url.key in self._frontier:
                    return
            self.sources.refused(query.url)


class QueryHandler(PageHandler):
    """Admits, fetches and ends queries like pages; however a query ends, its source may send the next.

    ``agent`` is the User-Agent of the crawl; a query adds that it is one.
    """

    def __init__(self, services: Services, forms: FormPart, agent: str) -> None:
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
            self._forms.sources.refused(url.url)
            self._forms.ask()

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """The target is the same query in another spelling, or a page: the only item that was found, or a notice.

        A POST is sent again if the server says so (307, 308) and the path on the site is the same, as in a redirect to https;
        any other target is fetched by GET.
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
                self._forms.sources.refused(target)
            self._forms.ask()
            self._frontier.done(url.key, fetch.rests_from, fetch.seconds)
        return offered


def _place_of(url: str) -> tuple[str, str]:
    """The site and path of a URL, whatever its scheme and subdomain."""
    return domain_of(url), url.partition("?")[0].partition("://")[2].partition("/")[2]
