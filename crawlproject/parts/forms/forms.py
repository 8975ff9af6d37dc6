"""Search forms in a crawl: its sources, what is learned of them from its history, and the queries that go into its frontier."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

from crawlproject.errors import BadSetting, InvalidUrl
from crawlproject.frontier.base import Frontier
from crawlproject.pages.html.form_kinds import SEARCH_FORMS, is_query
from crawlproject.pages.html.forms import Form, read_forms
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.forms.candidates import Shared, SurfaceWords
from crawlproject.parts.forms.fields import ValueTable, address
from crawlproject.parts.forms.options import FormOptions
from crawlproject.parts.forms.selection import QuerySelection, make_selection
from crawlproject.parts.forms.source import FormSource
from crawlproject.records import PLANTED, QUERY, CrawlUrl, FetchEvent, Page, Topic
from crawlproject.urls.hosts import domain_of
from crawlproject.urls.post import canonical_request, is_post, post_of, post_url

TRIES = 20  # queries of a source that are offered before it waits for another turn
MAX_SOURCES = 10_000  # that are remembered; later forms are left alone
Key = tuple[str, frozenset[str]]  # where a form leads, and the names of its fields

_WORD = re.compile(r"[^\W\d_]+")


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


class Sources:
    """Finds the source that an answer belongs to. The arguments are those of ``FormSource``;
    ``selection`` makes a policy for each.

    The same form on many pages of a site is one source. A form that leads to another site is left alone.
    """

    def __init__(
        self,
        *,
        canonicalize: Callable[[str], str],
        judge: TopicJudge,
        keywords: Iterable[str],
        limit: int,
        relevant: float,
        selection: Callable[[], QuerySelection],
    ) -> None:
        self._canonicalize = canonicalize
        self._judge = judge
        self._limit = limit
        self._relevant = relevant
        self._selection = selection
        words = dict.fromkeys(_WORD.findall(" ".join(keywords).lower()))
        self._shared = Shared(judge.analyzer, SurfaceWords(judge.analyzer), ValueTable(), tuple(words))
        self._sources: dict[Key, FormSource] = {}
        self._asked: dict[str, FormSource] = {}  # by the URL of a query
        self._ready: dict[FormSource, None] = {}

    def __iter__(self) -> Iterator[FormSource]:
        return iter(self._sources.values())

    def is_query(self, url: str) -> bool:
        """Whether a URL was fetched, or is to be, as a query."""
        return url in self._asked

    def found(self, page: str, links: Collection[str], forms: Iterable[Form]) -> None:
        """A page has these forms, and links."""
        for form in forms:
            place = form.action if form.method == "post" else form.action.partition("?")[0]
            key = place, frozenset(field.name for field in form.fields)
            if key in self._sources or len(self._sources) >= MAX_SOURCES or not is_query(form):
                continue
            if (example := self._example(form)) and domain_of(example) == domain_of(page):
                source = self._sources[key] = FormSource(
                    form,
                    page,
                    links=links,
                    canonicalize=self._canonicalize,
                    judge=self._judge,
                    relevant=self._relevant,
                    selection=self._selection(),
                    shared=self._shared,
                    limit=self._limit,
                )
                self._ready[source] = None

    def ready(self) -> list[FormSource]:
        """The sources that may have a query to send; each once, until it is answered."""
        ready = list(self._ready)
        self._ready.clear()
        return ready

    def sent(self, source: FormSource) -> None:
        """The query that ``source`` has out waits in the frontier."""
        self._asked[source.out] = source

    def adopt(self, url: str, parent: str) -> bool:
        """A query of an earlier run waits: whether it is one of a source that is known."""
        for source in self._candidates(url, parent):
            if source.adopt(url, parent):
                self._asked[url] = source
                self._ready.pop(source, None)
                return True
        return False

    def answered(self, url: str, parent: str, page: Page | None) -> None:
        """A query was fetched; ``page`` is None when it brought none."""
        for source in self._candidates(url, parent):
            if source.answered(url, parent, page):
                self._asked[url] = source
                self._ready[source] = None
                return

    def moved(self, url: str, parent: str, target: str) -> None:
        """A query was redirected to another spelling of itself."""
        for source in self._candidates(url, parent):
            if source.moved(url, parent, target):
                self._asked[url] = self._asked[target] = source
                self._ready.pop(source, None)
                return

    def refused(self, url: str) -> None:
        """A query will not be fetched."""
        source = self._asked.get(url)
        if source is not None and source.out == url:
            source.refused()
            self._ready[source] = None

    def described(self, page: Page) -> None:
        """A page was fetched that a result page had led to."""
        source = self._asked.get(page.parent or "")
        if source is not None:
            source.described(page)

    def _candidates(self, url: str, parent: str) -> list[FormSource]:
        """The source that asked for the URL, or for the page before it; else those with its address, as after a resume."""
        known = self._asked.get(url) or self._asked.get(parent)
        if known is not None:
            return [known]
        place = place_of(url)
        return [source for source in self._sources.values() if place_of(self._example(source.form)) == place]

    def _example(self, form: Form) -> str:
        """The URL of a query that asks for nothing; empty when the form leads to no URL."""
        try:
            return self._canonicalize(address(form, {}))
        except InvalidUrl:
            return ""


def place_of(url: str) -> str:
    """Where a query goes, whatever it asks for: its URL without what was filled in."""
    post = post_of(url)
    return url.partition("?")[0] if post is None else post_url(post.url, "")
