"""The contract of every ordering. ``tests/contract`` runs each one through the same suite.

An ordering answers one question, *how soon should this link be followed*, with one number; higher is sooner. It sees
pages whose ``relevance`` and whose links' ``context_score`` are filled in already. Its constructor takes an
``OrderingContext`` and, keyword-only, its own parameters with the paper's values as defaults; each parameter ``p`` can be set
with the setting ``ORDERING_<P>``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import CrawlUrl, Link, Page, Topic

# url -> canonical URLs it links to; None for a URL that the archive does not hold. Only ``omniscient`` asks for it.
Graph = Callable[[str], Sequence[str] | None]

SEEDS_FIRST = 1e18  # the score of seeds in orderings whose scores have no upper bound, such as counts


class PageArchive(Protocol):
    """Pages fetched before this crawl, for orderings that learn from an archive: judged for this crawl's topic.

    It can be asked until the crawl ends. Each page may cost what reading it costs.
    """

    def urls(self) -> Iterable[str]:
        """The canonical URL of every page and redirect, in a fixed order."""
        ...

    def page(self, url: str) -> Page | None:
        """The page at a canonical URL, a redirect followed; None when the archive holds none."""
        ...

    def links(self, url: str) -> Sequence[str] | None:
        """What the page at a canonical URL links to, at less cost than the page; None for a redirect or no page."""
        ...


@dataclass(frozen=True, slots=True)
class OrderingContext:
    """What an ordering is given before the crawl.

    ``topic`` has canonical seeds and, except for ``omniscient``, no targets. ``graph`` and ``targets`` are present in a
    rehearsal only. ``archive`` is what ``ORDERING_ARCHIVE`` names; in a rehearsal without that setting, the rehearsed
    web itself, for orderings that need an archive. ``positive`` and ``negative`` are the topic's examples, read and
    judged, for orderings that read examples.
    """

    topic: Topic
    judge: TopicJudge
    random: Random
    graph: Graph | None = None
    targets: tuple[str, ...] = ()
    archive: PageArchive | None = None
    positive: tuple[Page, ...] = ()
    negative: tuple[Page, ...] = ()


class Ordering(Protocol):
    """One published algorithm; numbers out."""

    commit: int

    def score(self, page: Page, link: Link) -> float | None:
        """How soon to follow ``link`` of ``page``; None: do not follow it, or not now (``BaseOrdering.puts_aside``)."""
        ...

    def seed_score(self, url: str) -> float:
        """The score of a seed: as good as the best link can be."""
        ...

    def observe(self, page: Page) -> None:
        """Learn from a fetched page, before its links are scored."""
        ...

    def listed(self, page: Page) -> None:
        """Take note of the links of a list that is no content, a sitemap, before they are scored."""
        ...

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        """What the links of ``page`` carry down the path; it comes back as ``Page.inherited`` of the linked pages."""
        ...

    def revise(self) -> Iterable[tuple[str, float]]:
        """New scores for URLs that wait, asked for after the links of each page were scored."""
        ...

    def redirected(self, url: str, target: str) -> None:
        """The fetch of ``url`` led to ``target``, which takes its place: what is known of the one holds for the other."""
        ...

    def failed(self, url: str) -> None:
        """The fetch of ``url`` brought no page."""
        ...

    def refused(self, url: str) -> None:
        """``url`` will not be fetched, whoever links to it: scope, trap rules or robots.txt keep it out.

        May be told again for each link to it. Not told of links that are too deep: another path may be shorter.
        """
        ...

    def too_deep(self, url: str) -> None:
        """``url`` was kept out where it was found, too many links from a seed; it may be found on a shorter path."""
        ...

    def postponed(self, url: str) -> None:
        """``url`` waits on, for longer than its score says: its site or its template has lost its standing."""
        ...

    def host_blocked(self, host: str) -> None:
        """All URLs of ``host`` wait on, as those that are ``postponed``."""
        ...

    def put_aside(self) -> Iterable[str]:
        """Waiting URLs to take out of the frontier until ``recall`` gives them back; asked for after ``revise``."""
        ...

    def recall(self) -> Iterable[CrawlUrl]:
        """URLs put aside, or not followed at first, that shall wait after all; asked for before each fetch."""
        ...

    def resumed(self, waiting: Collection[str]) -> None:
        """The crawl goes on after a break and everything was learned again; ``waiting`` is what the frontier holds."""
        ...

    def agent(self, url: CrawlUrl) -> int | None:
        """The number of the agent that fetches ``url``; None in orderings without agents. Asked as ``explain`` is."""
        ...

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        """The parts whose sum is ``url.score``, largest first; empty when there is nothing to tell apart.

        Asked once a URL, when its fetch has ended and before its page is observed.
        """
        ...


class BaseOrdering:
    """Defaults for orderings that neither learn, nor revise, nor hand anything down.

    ``needs_targets``: the ordering can only be rehearsed, since it looks at the answer. ``commit`` is the ordering's own
    value of ``FRONTIER_COMMIT``, used when that setting is left at 1. ``learns``: what it observed changes its scores,
    so a resumed crawl shows it the stored pages once more. ``needs_archive``: it may not do without an archive, so a
    rehearsal lends it the rehearsed web. ``reads_examples``: an example of the topic that cannot be found is an error.
    ``puts_aside``: a link that is not followed is not refused, since ``recall`` may bring its URL. ``reads_tag_paths``: it
    looks at ``Link.tag_path``, which a live crawl leaves empty otherwise.
    """

    needs_targets: ClassVar[bool] = False
    needs_archive: ClassVar[bool] = False
    reads_examples: ClassVar[bool] = False
    learns: ClassVar[bool] = False
    puts_aside: ClassVar[bool] = False
    reads_tag_paths: ClassVar[bool] = False
    commit: int = 1

    def __init__(self, context: OrderingContext) -> None:
        self.context = context

    def score(self, page: Page, link: Link) -> float | None:
        raise NotImplementedError

    def seed_score(self, url: str) -> float:
        return 1.0

    def observe(self, page: Page) -> None:
        return None

    def listed(self, page: Page) -> None:
        """As ``observe``; orderings that learn from the text of pages take the links only."""
        self.observe(page)

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        return ()

    def revise(self) -> Iterable[tuple[str, float]]:
        return ()

    def redirected(self, url: str, target: str) -> None:
        return None

    def failed(self, url: str) -> None:
        return None

    def refused(self, url: str) -> None:
        """As ``failed``; orderings that learn from a failure tell the two apart."""
        self.failed(url)

    def too_deep(self, url: str) -> None:
        return None

    def postponed(self, url: str) -> None:
        return None

    def host_blocked(self, host: str) -> None:
        return None

    def put_aside(self) -> Iterable[str]:
        return ()

    def recall(self) -> Iterable[CrawlUrl]:
        return ()

    def resumed(self, waiting: Collection[str]) -> None:
        return None

    def agent(self, url: CrawlUrl) -> int | None:
        return None

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        return {}
