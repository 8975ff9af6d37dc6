"""The contract of every ordering; ``tests/contract`` runs the same tests on each.

An ordering gives each link a score that says how soon to follow it; higher is sooner. Pages already have their
``relevance``, and links their ``context_score``. The constructor takes an ``OrderingContext`` and, keyword-only, its own
parameters with the paper's values as defaults; the setting ``ORDERING_<P>`` sets the parameter ``p``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar, Protocol, Self

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import CrawlUrl, Link, Page, Topic

# URL -> canonical URLs it links to; None for a URL that is not in the archive. Only ``omniscient`` uses it.
Graph = Callable[[str], Sequence[str] | None]


class PassageLinks(tuple[str, ...]):
    """The answer of a ``Graph`` for what leads on but is not kept as a page, such as one with ``noindex``."""

    __slots__ = ()


class RedirectLinks(PassageLinks):
    """The answer of a ``Graph`` for a redirect: one URL, or none."""

    __slots__ = ()


class PageArchive(Protocol):
    """Pages fetched before this crawl, for orderings that learn from an archive: judged for this crawl's topic.

    It can be used until the crawl ends. Each access may parse a page.
    """

    def urls(self) -> Iterable[str]:
        """The canonical URL of every page and redirect, in a fixed order."""
        ...

    def page(self, url: str) -> Page | None:
        """The page at a canonical URL, after redirects; None if the archive has none."""
        ...

    def links(self, url: str) -> Sequence[str] | None:
        """The link targets of the page at a canonical URL, cheaper than the page; None for a redirect or no page."""
        ...


@dataclass(frozen=True, slots=True)
class OrderingContext:
    """The context of an ordering, given before the crawl.

    ``topic`` has canonical seeds and, except for ``omniscient``, no targets. ``graph`` and ``targets`` are set only in a
    rehearsal. ``archive`` is the web of ``ORDERING_ARCHIVE``; in a rehearsal without that setting, the rehearsed web itself,
    for orderings that need an archive. ``positive`` and ``negative`` are the judged examples of the topic, for orderings
    that read examples; ``said_relevant`` and ``said_irrelevant`` are pages of the crawl that a person has judged since.
    ``queries`` are those of ``TOPIC_QUERIES``, each with its share of all searches.
    """

    topic: Topic
    judge: TopicJudge
    random: Random
    graph: Graph | None = None
    targets: tuple[str, ...] = ()
    archive: PageArchive | None = None
    positive: tuple[Page, ...] = ()
    negative: tuple[Page, ...] = ()
    said_relevant: tuple[Page, ...] = ()
    said_irrelevant: tuple[Page, ...] = ()
    queries: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentLife:
    """The life of one agent of a population, so far.

    ``parent`` is its number, -1 for an agent that was born of a seed. ``born`` and ``died`` count the pages that the ordering had
    observed then; ``died`` is None while it lives. ``energy`` is the share of that at which it has an offspring, 0 to 1;
    ``waiting`` are the links of its frontier. ``keyword`` is the term that it has and its parent has not, if any.
    """

    number: int
    parent: int
    born: int
    died: int | None
    energy: float
    waiting: int
    keyword: str


class BaseOrdering:
    """One published algorithm; numbers out. By default it does not learn, revise, or let links inherit values.

    ``needs_targets``: the ordering can only be rehearsed, since it must know the targets. ``commit`` is the ordering's own
    value of ``FRONTIER_COMMIT``, used if that setting is 1. ``seeds_first``: seeds are fetched before all links, whatever
    the scores. ``learns``: observed pages change its scores, so a resumed crawl replays the stored pages.
    ``needs_archive``: it requires an archive, so a rehearsal gives it the rehearsed web. ``reads_examples``: an example of
    the topic that cannot be found is an error. ``reads_tag_paths``: it reads ``Link.tag_path``, which a live crawl
    otherwise leaves empty. ``reads_text``: it reads ``Page.text``, which a rehearsal otherwise leaves empty.
    ``reads_forms``: it reads the sign ``SEARCH_FORMS`` of pages, which they otherwise do not have.
    ``needs_extra``: the extra whose packages it imports (``crawlproject.extras``).
    ``floor``: the score from which URLs are active (see ``frontier.base``); read after ``revise``.
    """

    needs_targets: ClassVar[bool] = False
    needs_archive: ClassVar[bool] = False
    needs_extra: ClassVar[str] = ""
    seeds_first: ClassVar[bool] = True
    reads_examples: ClassVar[bool] = False
    reads_text: ClassVar[bool] = False
    learns: bool = False
    reads_tag_paths: bool = False
    reads_forms: bool = False
    commit: int = 1
    floor: float = -math.inf

    def __init__(self, context: OrderingContext) -> None:
        self.context = context

    def score(self, page: Page, link: Link) -> float | None:
        """How soon to follow ``link`` of ``page``; None: do not follow it."""
        raise NotImplementedError

    def seed_score(self, url: str) -> float:
        """The score of a seed. Seeds come before all links, so it only tells seeds apart."""
        return 1.0

    def observe(self, page: Page) -> None:
        """Learn from a fetched page; called before its links are scored."""

    def listed(self, page: Page) -> None:
        """Learn the links of a sitemap, which is not content; called before they are scored."""
        self.observe(page)

    def implied(self, page: Page) -> None:
        """The links of ``page`` are now others, which it does not have (``Part.implied``); called before these are scored.

        Some may be known. The page was observed or listed.
        """

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        """The values that the links of ``page`` inherit; linked pages have them as ``Page.inherited``.

        Where several pages link to a waiting URL, the frontier keeps the larger of each value.
        """
        return ()

    def revise(self) -> Iterable[tuple[str, float]]:
        """New scores for waiting URLs; called after the links of each page were scored."""
        return ()

    def redirected(self, url: str, target: str) -> None:
        """``url`` redirected to ``target``, which replaces it and takes over what is known about it."""

    def failed(self, url: str) -> None:
        """The fetch of ``url`` returned no page."""

    def refused(self, url: str) -> None:
        """``url`` will never be fetched: scope, trap rules or robots.txt refuse it.

        May be called again for each link to it. Not called for links that are too deep, since another path may be shorter.
        """
        self.failed(url)

    def too_deep(self, url: str) -> None:
        """``url`` was refused because it is too many links from a seed; it may be found again on a shorter path."""

    def postponed(self, url: str) -> None:
        """``url`` waits longer than its score implies, because its site or its template is held back."""

    def host_blocked(self, host: str) -> None:
        """All URLs of ``host`` wait on, as those that are ``postponed``."""

    def agent(self, url: CrawlUrl) -> int | None:
        """The number of the agent that fetches ``url``; None in orderings without agents. Called like ``explain``."""

    def family(self, most: int) -> list[AgentLife]:
        """The living agents, oldest first, then dead ones: ancestors of the living, and those that died last.

        At most ``most`` in all; none in orderings without agents.
        """
        return []

    def become(self, other: Self) -> None:
        """Know what ``other`` knows, and nothing else: an ordering of the same class that nobody uses any more."""
        self.__dict__ = other.__dict__  # shared, so that methods that ``other`` has stored work on it, too

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        """The parts whose sum is ``url.score``, largest first; empty if the score has no parts.

        Called once per URL, after its fetch and before its page is observed.
        """
        return {}
