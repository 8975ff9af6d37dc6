"""The sources of a crawl; finds the one that an answer belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from crawlproject.errors import InvalidUrl
from crawlproject.pages.html.form_kinds import is_query
from crawlproject.pages.html.forms import Form
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.forms.candidates import Shared, SurfaceWords
from crawlproject.parts.forms.fields import ValueTable, address
from crawlproject.parts.forms.selection import QuerySelection
from crawlproject.parts.forms.source import FormSource
from crawlproject.records import Page
from crawlproject.urls.hosts import domain_of
from crawlproject.urls.post import is_post, post_of, post_url

MAX_SOURCES = 10_000  # that are remembered; later forms are ignored
Key = tuple[str, frozenset[str]]  # where a form leads, and the names of its fields

_WORD = re.compile(r"[^\W\d_]+")


def is_respelled(url: str, target: str) -> bool:
    """Whether a query was redirected to another spelling of itself, not to an item.

    A POST is mostly answered by a redirect to its result page, anywhere on the site.
    """
    if is_post(url):
        return bool(target) and domain_of(target) == domain_of(url)
    return bool(target) and target.partition("?")[0] == url.partition("?")[0]


class Sources:
    """The sources of a crawl. The arguments are those of ``FormSource``, but ``selection`` makes a policy for each source, and
    ``keywords`` are those of the topic.

    The same form on many pages of a site is one source. A form that leads to another site is ignored.
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
        """Whether a URL was sent, or will be sent, as a query."""
        return url in self._asked

    def found(self, page: str, links: Collection[str], forms: Iterable[Form]) -> bool:
        """Make sources of the new forms of a page that has these links; return whether there were any."""
        before = len(self._sources)
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
        return len(self._sources) > before

    def ready(self) -> list[FormSource]:
        """The sources that may have a query to send. Each is returned once, until its query has ended."""
        ready = list(self._ready)
        self._ready.clear()
        return ready

    def sent(self, source: FormSource) -> None:
        """Note that the query of ``source`` that is out goes to the frontier."""
        self._asked[source.out] = source

    def adopt(self, url: str, parent: str) -> bool:
        """Assign a waiting query of an earlier run to its source. False if no source knows it."""
        for source in self._candidates(url, parent):
            if source.adopt(url, parent):
                self._asked[url] = source
                self._ready.pop(source, None)
                return True
        return False

    def answered(self, url: str, parent: str, page: Page | None) -> None:
        """Pass the answer to a query on to its source; ``page`` is None if there was no page."""
        for source in self._candidates(url, parent):
            if source.answered(url, parent, page):
                self._asked[url] = source
                self._ready[source] = None
                return

    def moved(self, url: str, parent: str, target: str) -> None:
        """Tell the source of a query that it was redirected to another spelling of itself."""
        for source in self._candidates(url, parent):
            if source.moved(url, parent, target):
                self._asked[url] = self._asked[target] = source
                self._ready.pop(source, None)
                return

    def refused(self, url: str) -> None:
        """Tell the source of a query that it will not be fetched."""
        source = self._asked.get(url)
        if source is not None and source.out == url:
            source.refused()
            self._ready[source] = None

    def described(self, page: Page) -> None:
        """Pass a fetched page on to the source whose result page led to it."""
        source = self._asked.get(page.parent or "")
        if source is not None:
            source.described(page)

    def _candidates(self, url: str, parent: str) -> list[FormSource]:
        """The source that sent the URL or its parent; if unknown, as after a resume, the sources with its address, if possible
        those with its fields."""
        known = self._asked.get(url) or self._asked.get(parent)
        if known is not None:
            return [known]
        place = place_of(url)
        found = [source for source in self._sources.values() if place_of(self._example(source.form)) == place]
        return [source for source in found if source.sends(url)] or found

    def _example(self, form: Form) -> str:
        """The URL of a query with nothing filled in; empty if the form leads to no valid URL."""
        try:
            return self._canonicalize(address(form, {}))
        except InvalidUrl:
            return ""


def place_of(url: str) -> str:
    """The address that a query goes to: its URL without what was filled in."""
    post = post_of(url)
    return url.partition("?")[0] if post is None else post_url(post.url, "")
