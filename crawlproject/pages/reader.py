"""Turns bytes into a ``Page``: parses the document, tokenises its text once, canonicalises its links.

Links refer to the terms of the page by spans, so the contexts of 5,000 links store no text beyond that of the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache, partial

from crawlproject.errors import InvalidUrl
from crawlproject.pages.content_features import signs_of
from crawlproject.pages.html.document import AggregationNodes, Document, RawLink
from crawlproject.pages.html.encoding import encode_query
from crawlproject.pages.html.form_kinds import SEARCH_FORMS, TOKEN_FORMS, is_query, wants_token
from crawlproject.pages.html.forms import read_forms
from crawlproject.pages.html.head import related_in, reservation, robots_rules
from crawlproject.pages.html.parse import MAX_LINKS, MAX_TEXT, parse_document
from crawlproject.pages.html.statements import license_in
from crawlproject.pages.main_content import main_text
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.printable import printable
from crawlproject.pages.text.terms import TermCounts, Terms
from crawlproject.records import UNFOLLOWED, Link, Page, Span

MAX_ANCHOR = 1_000

Canonicalize = Callable[[str, str | None], str]


class Reader:
    """Reads fetched documents into pages.

    ``canonicalize(href, base)`` returns the canonical URL of a link or raises ``InvalidUrl``. ``aggregation_level``,
    ``max_links``, ``max_text`` and ``tag_paths`` are passed to ``parse_document``. ``obey_nofollow`` drops links with
    ``rel="nofollow"``. ``obey_meta_robots`` obeys ``noindex`` and ``nofollow`` of ``<meta name="robots">`` and of
    ``X-Robots-Tag``, both for all robots and for ``agent``, a product token. ``forms`` counts the search forms of a
    page as its signs ``SEARCH_FORMS`` and ``TOKEN_FORMS``. ``main_content`` provides ``Page.text_main``, ``related``
    provides ``Page.related``. Raises ``BadInput`` for a wrong ``aggregation_level``.

    ``counters`` counts what happened to links and texts: ``links/kept``, ``links/self`` (to the page itself),
    ``links/invalid``, ``links/nofollow``, ``links/meta-nofollow``, ``links/over-limit``, ``text/truncated``.
    """

    def __init__(
        self,
        analyzer: Analyzer,
        *,
        canonicalize: Canonicalize,
        aggregation_level: int | str = 1,
        obey_nofollow: bool = True,
        obey_meta_robots: bool = True,
        max_links: int = MAX_LINKS,
        max_text: int = MAX_TEXT,
        tag_paths: bool = True,
        forms: bool = False,
        agent: str = "",
        main_content: bool = False,
        related: bool = False,
    ) -> None:
        self.analyzer = analyzer
        self.counters: Counter[str] = Counter()
        AggregationNodes(aggregation_level)  # a wrong level is refused here, not at the first page
        self._parse = partial(
            parse_document,
            aggregation_level=aggregation_level,
            max_links=max_links,
            max_text=max_text,
            tag_paths=tag_paths,
            agent=agent,
        )
        self._canonicalize = canonicalize
        self._obey_nofollow = obey_nofollow
        self._obey_meta_robots = obey_meta_robots
        self._forms = forms
        self._agent = agent
        self._main_content = main_content
        self._wants_related = related

    def twin(self) -> Reader:
        """Return a reader with the same settings and separate counters."""
        twin = copy(self)
        twin.counters = Counter()
        return twin

    def read(
        self,
        url: str,
        body: bytes,
        *,
        content_type: str = "",
        robots_tag: str = "",
        tdm_reservation: str = "",
        depth: int = 0,
        parent: str | None = None,
        score: float = 0.0,
        inherited: tuple[float, ...] = (),
        now: float = 0.0,
    ) -> Page:
        """Return the page at the canonical ``url``, not yet judged: ``relevance`` and every ``context_score`` are 0.

        ``content_type``, ``robots_tag`` and ``tdm_reservation`` are the values of the HTTP headers ``Content-Type``,
        ``X-Robots-Tag`` (one line per header) and ``TDM-Reservation``. ``now`` is the time of the fetch in seconds since
        the epoch; ``unavailable_after`` is compared with it. The other arguments are copied to the page. Malformed input
        raises nothing.
        """
        document = self._parse(body, content_type=content_type, url=url)
        rules = document.robots | robots_rules(robots_tag, self._agent) if robots_tag else document.robots
        if tdm_reservation:
            rules |= reservation(tdm_reservation)
        if document.truncated:
            self.counters["text/truncated"] += 1
        if document.links_dropped:
            self.counters["links/over-limit"] += document.links_dropped
        kept = self._followed(document, url, rules.nofollow)
        redirect = self._target(document.redirect, document) if document.redirect else ""
        if redirect == url:
            redirect = ""
        if redirect:  # no reader sees the other links
            kept = [(redirect, RawLink(document.redirect, (0, 0), (0, 0), False))]
        terms, links = self._link_terms(document.text, kept)
        counts: Mapping[str, int] = TermCounts(terms) if isinstance(terms, Terms) else Counter(terms)
        signs = signs_of(document, counts, len(terms), body)
        if rules.nofollow and document.links and self._obey_meta_robots:
            signs[UNFOLLOWED] = float(len(document.links))
        if self._forms and (forms := read_forms(body, url, content_type)):
            for name, test in ((SEARCH_FORMS, is_query), (TOKEN_FORMS, wants_token)):
                if found := sum(map(test, forms)):
                    signs[name] = float(found)
        return Page(
            url=url,
            title=document.title,
            text=document.text,
            language=document.language,
            published=document.published,
            author=document.author,
            license=license_in(body, document.encoding, url, document.license),
            reserved=" ".join(sorted(rules.reserved)),
            terms=terms,
            counts=counts,
            links=links,
            depth=depth,
            parent=parent,
            score=score,
            inherited=inherited,
            indexable=not (self._obey_meta_robots and rules.bars(now)),
            redirect=redirect,
            signs=signs,
            text_main=cache(partial(main_text, body, content_type)) if self._main_content else str,
            related=self._related(document, body) if self._wants_related else (),
        )

    def _followed(self, document: Document, url: str, nofollow: bool) -> list[tuple[str, RawLink]]:
        """Return the links to follow with their canonical URLs."""
        counters = self.counters
        kept: list[tuple[str, RawLink]] = []
        if nofollow and self._obey_meta_robots:
            if document.links:
                counters["links/meta-nofollow"] += len(document.links)
            return kept
        targets: dict[str, str] = {}
        for link in document.links:
            if link.nofollow and self._obey_nofollow:
                counters["links/nofollow"] += 1
                continue
            target = targets.get(link.href)
            if target is None:
                target = targets[link.href] = self._target(link.href, document)
            if target == url:
                counters["links/self"] += 1
            elif target:
                kept.append((target, link))
            else:
                counters["links/invalid"] += 1
        if kept:
            counters["links/kept"] += len(kept)
        return kept

    def _related(self, document: Document, body: bytes) -> list[tuple[str, str]]:
        found = related_in(body.decode(document.encoding, "replace"))
        return [(kind, url) for kind, href in found if (url := self._target(href, document))]

    def _target(self, href: str, document: Document) -> str:
        """Return the canonical URL of a link, empty if it has none."""
        if not document.encoding.startswith("utf-"):  # the WHATWG URL parser writes UTF-8 anyway
            href = encode_query(href, document.encoding)
        try:
            return self._canonicalize(href, document.base)
        except InvalidUrl:
            return ""

    def _link_terms(self, text: str, links: Sequence[tuple[str, RawLink]]) -> tuple[Sequence[str], tuple[Link, ...]]:
        """Return the terms of ``text``, and the links with their character ranges turned into spans of terms."""
        edges: list[int] = []
        for _, link in links:
            edges += link.anchor
            edges += link.context
        terms, before = self.analyzer.terms_between(text, edges)
        found: list[Link] = []
        for url, link in links:
            (start, end), (context_start, context_end) = link.anchor, link.context
            anchor = printable(" ".join(text[start : min(end, start + MAX_ANCHOR)].split()))
            span = _new(Span, (before[start], before[end]))
            context = _new(Span, (before[context_start], before[context_end]))
            found.append(Link(url, anchor, span, context, 0.0, link.tag_path))
        return terms, tuple(found)


_new = tuple.__new__  # half the time of calling the class
