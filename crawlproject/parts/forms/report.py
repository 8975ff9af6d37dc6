"""What is behind the search forms of a crawl: each source with its size, its relevance and its cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawlproject.options import Options
from crawlproject.pages.html.form_kinds import TOKEN_FORMS
from crawlproject.parts.forms.candidates import is_nonsense
from crawlproject.parts.forms.result_page import is_view
from crawlproject.parts.forms.value_graph import chao
from crawlproject.records import QUERY, Visit
from crawlproject.storage.read import read_links, read_visits
from crawlproject.urls.hosts import host_of
from crawlproject.urls.post import post_of


@dataclass(slots=True)
class SourceRow:
    """A source, by the ``address`` that its queries go to.

    ``fetches`` counts result pages, redirects and failures; ``queries`` the different words or options asked for. ``pages``
    counts the fetched pages whose parent is a result page, ``relevant`` the relevant ones of them. ``size`` is the least
    number of items that it has. ``furniture`` are links that are no results: those in the answer to the nonsense word, and
    of a form of menus, which is not asked for one, those that its ``first`` two answers share.
    """

    address: str
    fetches: int = 0
    pages: int = 0
    relevant: int = 0
    listed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # item -> queries that listed it
    asked: set[str] = field(default_factory=set)
    furniture: set[str] = field(default_factory=set)
    first: list[set[str]] = field(default_factory=list)

    @property
    def queries(self) -> int:
        return len(self.asked)

    @property
    def items(self) -> int:
        return len(self.listed.keys() - self.furniture)

    @property
    def size(self) -> float:
        """The lower bound of Chao, see ``parts/forms/value_graph.py``."""
        return chao(Counter(len(queries) for item, queries in self.listed.items() if item not in self.furniture))

    def add(self, visit: Visit, links: Iterable[str]) -> None:
        """Add a fetched result page with its links."""
        self.fetches += 1
        self.asked.add(visit.anchor)
        items = {link for link in links if not is_view(link, visit.url)}
        if is_nonsense(visit.anchor):
            self.furniture |= items
        elif visit.md5 and len(self.first) < 2 and not any(map(is_nonsense, self.asked)):
            self.first.append(items)
            self.furniture = set.intersection(*self.first) if len(self.first) == 2 else set()
        for item in items:
            self.listed[item].add(visit.anchor)


def report(folder: Path, options: Options, threshold: float) -> dict[str, Any]:
    """``sources`` and ``token_forms``. Raises ``BadCrawlDir``."""
    return {"sources": read_sources(folder, threshold), "token_forms": read_token_forms(folder)}


def read_token_forms(folder: Path) -> dict[str, str]:
    """Hosts whose search forms got no queries, since they require a single-use token; each with a page that has the form.

    Raises ``BadCrawlDir`` for a damaged folder.
    """
    found: dict[str, str] = {}
    for visit in read_visits(folder):
        if TOKEN_FORMS in visit.signs:
            found.setdefault(host_of(visit.url), visit.url)
    return found


def read_sources(folder: Path, threshold: float) -> list[SourceRow]:
    """The sources of a crawl, those with the most relevant pages first; none if no form got a query.

    ``threshold`` is the relevance from which a page is relevant. Raises ``BadCrawlDir`` for a damaged folder.
    """
    queries = {visit.url: visit for visit in read_visits(folder) if visit.kind == QUERY}
    if not queries:
        return []
    sources: dict[str, SourceRow] = {}
    of: dict[str, SourceRow] = {}  # by the URL of a result page, or of its redirect target
    links: dict[str, list[str]] = {url: [] for url in queries}
    for url, targets in read_links(folder):  # several times a page that was visited again: its new links
        if url in links:
            links[url] += targets
    for url, visit in queries.items():
        if (row := of.get(url) or of.get(visit.parent or "")) is None:
            post = post_of(url)
            address = post.url if post else url.partition("?")[0]
            row = sources.setdefault(address, SourceRow(address))
        of[url] = row
        of.setdefault(visit.redirect, row)
        row.add(visit, links[url])
    for visit in read_visits(folder):
        if visit.is_page and visit.parent in queries and visit.url not in queries:
            source = of[visit.parent]
            source.pages += 1
            source.relevant += visit.relevance >= threshold
    return sorted(sources.values(), key=lambda source: (-source.relevant, source.address))
