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
    """What a ``Graph`` returns for a document that is not kept but whose links are followed, such as a ``noindex`` page."""

    __slots__ = ()


class RedirectLinks(PassageLinks):
    """What a ``Graph`` returns for a redirect: one URL, or none."""

    __slots__ = ()


class PageArchive(Protocol):
    """Pages fetched before this crawl and judged for its topic, for orderings that learn from an archive.

    The archive stays open until the crawl ends. Each access may parse a page.
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
    """Everything that an ordering receives before the crawl.

    ``topic`` has canonical seeds and, except for ``omniscient``, no targets. ``graph`` and ``targets`` are set only in a
    rehearsal. ``archive`` is the web of ``ORDERING_ARCHIVE``; in a rehearsal without that setting, orderings that need an
    archive get the rehearsed web itself. ``positive`` and ``negative`` are the judged examples of the topic, for orderings
    that read examples; ``said_relevant`` and ``said_irrelevant`` are pages of the crawl that a person has judged since.
    ``queries`` maps each query of ``TOPIC_QUERIES`` to its share of all searches.
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
    """The life so far of one agent of a population.

    ``parent`` is the number of its parent, -1 for an agent born of a seed. ``born`` and ``died`` are how many pages the
    ordering had observed by its birth and its death; ``died`` is None for a living agent. ``energy`` is a share, 0 to 1, of
    the energy at which the agent reproduces; ``waiting`` is the number of links in its frontier. ``keyword`` is the term
    that the agent added to the keywords of its parent, empty if it added none.
    """

    number: int
    parent: int
    born: int
    died: int | None
    energy: float
    waiting: int
    keyword: str


class BaseOrdering:
    """One published algorithm that scores links. By default it does not learn, revise scores, or let links inherit values.

    ``needs_targets``: the ordering can only be rehearsed, since it must know the targets. ``commit`` is the ordering's own
    value of ``FRONTIER_COMMIT``, used if that setting is 1. ``seeds_first``: seeds are fetched before all links, whatever
    the scores. ``learns``: observed pages change its scores, so a resumed crawl replays the stored pages.
    ``needs_archive``: it requires an archive, so a rehearsal gives it the rehearsed web. ``reads_examples``: an example of
    the topic that cannot be found is an error. ``reads_tag_paths``: it reads ``Link.tag_path``, which a live crawl
    otherwise leaves empty. ``reads_text``: it reads ``Page.text``, which a rehearsal otherwise leaves empty.
    ``reads_forms``: it reads the page sign ``SEARCH_FORMS``, which is otherwise not set. ``needs_extra``: the extra whose
    packages it imports (``crawlproject.extras``). ``floor``: the score from which URLs are active (see ``frontier.base``);
    read after ``revise``.
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
        """How soon to follow ``link`` of ``page``; None if it must not be followed."""
        raise NotImplementedError

    def seed_score(self, url: str) -> float:
        """The score of a seed. Seeds come before all links, so it only orders the seeds."""
        return 1.0

    def observe(self, page: Page) -> None:
        """Learn from a fetched page; called before its links are scored."""

    def listed(self, page: Page) -> None:
        """Learn the links of a sitemap, which is not content; called before the links are scored."""
        self.observe(page)

    def implied(self, page: Page) -> None:
        """Learn links that a part derived from ``page`` (``Part.implied``); called before these links are scored.

        ``page.links`` holds only these links, which the document does not contain. Some of their URLs may be known. The
        page was observed or listed before.
        """

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        """The values that the links of ``page`` inherit; linked pages have them as ``Page.inherited``.

        Where several pages link to a waiting URL, the frontier keeps the larger of each value.
        """
        return ()

    def revise(self) -> Iterable[tuple[str, float]]:
        """New scores for waiting URLs; called after the links of a page were scored."""
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
        """``url`` waits longer than its score implies, because the crawl holds back its site or its template."""

    def host_blocked(self, host: str) -> None:
        """All URLs of ``host`` wait longer than their scores imply, like ``postponed`` URLs."""

    def agent(self, url: CrawlUrl) -> int | None:
        """The number of the agent that fetches ``url``; None in orderings without agents. Called like ``explain``."""

    def family(self, most: int) -> list[AgentLife]:
        """The living agents, oldest first, then dead agents: ancestors of the living ones, and the latest to die.

        At most ``most`` agents in all; empty in orderings without agents.
        """
        return []

    def become(self, other: Self) -> None:
        """Take over all that ``other`` has learned, an ordering of the same class that is no longer used; forget all else."""
        self.__dict__ = other.__dict__  # shared, since ``other`` may have stored bound methods of its own

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        """The parts whose sum is ``url.score``, largest first; empty if the score has no parts.

        Called once per URL, after its fetch and before its page is observed.
        """
        return {}
