"""Search forms in a crawl: what is learned from its history, and the queries that go into its frontier."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from crawlproject.errors import BadSetting
from crawlproject.frontier.base import Frontier
from crawlproject.pages.html.form_kinds import SEARCH_FORMS
from crawlproject.pages.html.forms import read_forms
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.forms.options import FormOptions
from crawlproject.parts.forms.selection.registry import make_selection
from crawlproject.parts.forms.source import FormSource
from crawlproject.parts.forms.sources import Sources
from crawlproject.records import PLANTED, QUERY, CrawlUrl, FetchEvent, Topic
from crawlproject.urls.hosts import domain_of
from crawlproject.urls.post import canonical_request, is_post

TRIES = 20  # queries of a source that are offered before it waits for another turn


class Forms:
    """Forms on relevant pages and on seeds are sources; each has one query at a time, waiting or being fetched.

    ``offer`` puts a query into the frontier; ``load`` gives the stored body of a page, or raises ``FileNotFoundError``. A
    query is fetched before the other URLs that wait: it is to find better ones. All that is known of a source follows from
    the history, so after a resume its queries go on where they were.
    """

    def __init__(
        self,
        topic: Topic,
        options: FormOptions,
        offer: Callable[[CrawlUrl], bool],
        canonicalize: Callable[..., str],
        frontier: Frontier,
        judge: TopicJudge,
        load: Callable[[str], bytes],
    ) -> None:
        if options.frontier == "redis":
            raise BadSetting(
                "setting CRAWL_FORMS", "wants FRONTIER memory or disk: workers do not share what forms answered"
            )
        make_selection(options.crawl_form_selection)  # a wrong name is told before anything starts
        self._offer = offer
        self._frontier = frontier
        self._load = load
        self._relevant = options.page_relevant
        self._pages: dict[str, tuple[int, float]] = {}  # depth and score of the pages that forms were found on
        self.sources = Sources(
            canonicalize=partial(canonical_request, canonicalize),
            judge=judge,
            keywords=topic.keywords,
            limit=options.crawl_forms,
            relevant=options.page_relevant,
            selection=partial(make_selection, options.crawl_form_selection),
        )

    def learn(self, event: FetchEvent) -> None:
        visit = event.visit
        if visit.kind == QUERY and is_respelled(visit.url, visit.redirect):
            self.sources.moved(visit.url, visit.parent or "", visit.redirect)
        elif visit.kind == QUERY:
            self.sources.answered(visit.url, visit.parent or "", event.page() if visit.md5 else None)
        elif visit.md5 and self.sources.is_query(visit.parent or ""):
            page = event.page()
            if page is not None:
                self.sources.described(page)
        wanted = visit.relevance >= self._relevant or visit.depth == 0  # what a person named is tried
        if wanted and SEARCH_FORMS in visit.signs and visit.md5 and visit.kind != QUERY:
            try:
                body = self._load(visit.url)
            except FileNotFoundError:
                return
            self._pages.setdefault(visit.url, (visit.depth, visit.score))
            self.sources.found(visit.url, event.links, read_forms(body, visit.url, visit.content_type))

    def ask(self) -> None:
        """Put the next query of every source that has none out into the frontier."""
        for source in self.sources.ready():
            self._ask(source)

    def resume(self) -> None:
        """After a replay: queries that wait belong to their sources; the other sources send their next one."""
        waiting = {url.url: url.parent or "" for url in self._frontier.waiting() if url.kind == QUERY}
        for url, parent in waiting.items():
            self.sources.adopt(url, parent)
        for source in self.sources:
            if source.out and source.out not in waiting:
                self.sources.refused(source.out)
        self.ask()

    def refused(self, url: str) -> None:
        """A query will not be fetched: its source may send another."""
        self.sources.refused(url)

    def counters(self) -> dict[str, int]:
        """Sources, the result pages that they cost, and the items that these led to."""
        sources = list(self.sources)
        return {
            "forms/sources": len(sources),
            "forms/fetches": sum(source.fetches for source in sources),
            "forms/items": sum(len(source.graph.items) for source in sources),
            "forms/given_up": sum(bool(source.reason) and source.reason != "limit reached" for source in sources),
        }

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
                self._offer(url)
                if url.key in self._frontier:
                    return
            self.sources.refused(query.url)


def is_respelled(url: str, target: str) -> bool:
    """Whether a query was redirected to another spelling of itself, not to what it found.

    A POST is mostly answered by a redirect to its answer, wherever that stands on the site.
    """
    if is_post(url):
        return bool(target) and domain_of(target) == domain_of(url)
    return bool(target) and target.partition("?")[0] == url.partition("?")[0]
