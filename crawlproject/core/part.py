"""The contract of a part: an optional feature of a crawl, contained in one folder of ``crawlproject/parts/`` or in a third-party
package.

The core knows no part by name. It calls the hooks of this file at the moments that they describe; a part overrides only the
hooks that it needs. A hook that no part overrides costs nothing: the methods are bound once, when the crawl is put together
(``parts.py``).

**How a part joins a crawl.** ``parts/registry.py`` lists the parts of this project; third-party parts are entry points of the
group ``crawlproject.parts``. For each crawl, ``make`` is called with a ``Setup``: it returns the part, or None if the settings
do not ask for it. Then ``kinds`` is called with the services of the crawl, and ``begin`` after the history was replayed.

**What a part knows** follows from the events that it learns, in their order: ``learn`` is called for each finished fetch, both
live and in a replay. State that depends on the clock or on fetches in flight starts afresh in each run.

**Order.** The parts are called in the order of the registry. Where the hooks form a chain (``examine``, ``respelled``,
``lowered``), each part receives the result of the parts before it; where one answer is enough (``refusal``, ``end_reason``),
the first one counts.

**Guards postpone rather than forbid.** A part that doubts a URL gives it a later precedence class (``precedence``, ``turn``);
it refuses only URLs that are never wanted.

Besides its own files, a part may have these:

- ``report.py``, for the report of a crawl folder: ``report(folder, options, threshold)`` returns the values to show, by the
  names that the report's template uses. ``threshold`` is the relevance from which a page is relevant.
- ``why.py``, for ``scrapy why``, with any of: ``sentences(asked)``, what the part knows about a URL (``reports/why/asked.py``);
  ``cause(folder, url)``, the ``Cause`` for which a URL is left out, or None; ``why_waits(folder, host, now)``, why the URLs of
  a host wait, as the end of a sentence.

Both read the crawl folder, and raise ``BadCrawlDir``.

- ``options.py``, its settings: a subclass of ``Options`` that adds fields, each with its row of the documentation.
  ``options.of(ThatClass)`` reads them.

Without the folder of a part, a crawl runs as if the feature had never been written: its settings are unknown, and its files in
a crawl folder are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from crawlproject.records import CrawlUrl, Fetch, FetchEvent, Link, Page, Topic

if TYPE_CHECKING:
    from typing import Self

    from crawlproject.core.peers import Peers
    from crawlproject.core.prior_knowledge import PriorKnowledge
    from crawlproject.core.services import Handler, Services
    from crawlproject.core.stopping import Budget
    from crawlproject.frontier.base import Frontier
    from crawlproject.options import Options
    from crawlproject.orderings.base import BaseOrdering
    from crawlproject.pages.text.relevance import TopicJudge
    from crawlproject.storage.crawl_folder import CrawlFolder
    from crawlproject.webs.base import Web


@dataclass(frozen=True, slots=True)
class Setup:
    """The components of a crawl that exist before its parts: the argument of ``Part.make``.

    ``new_ordering`` makes an ordering that knows no page of this crawl; None in a crawl of several topics.
    ``peers`` are the other workers of the crawl. ``agent`` is the User-Agent. ``token`` returns unguessable strings (None:
    features that need them are off). A ``rehearsal`` keeps the history only.
    """

    topic: Topic
    options: Options
    canonicalize: Callable[..., str]
    judge: TopicJudge
    ordering: BaseOrdering
    new_ordering: Callable[[], BaseOrdering] | None
    folder: CrawlFolder
    frontier: Frontier
    peers: Peers
    agent: str = ""
    token: Callable[[], str] | None = None
    rehearsal: bool = False


class Choice(NamedTuple):
    """The ``judge`` and the ``ordering`` of a crawl, and the factory of the part that belongs to them."""

    judge: TopicJudge
    ordering: BaseOrdering
    part: Callable[[Setup], Part]


class Part:
    """Base class of parts. Every hook does nothing by default. Hooks that write raise ``StorageFailed`` when the disk refuses."""

    name: ClassVar[str] = ""  # of its folder, or of its entry point
    idle: Collection[str] = ()  # overridden hooks that this crawl does not need: they are not called
    learned_classes: ClassVar[Collection[type]] = ()  # data classes that ``learned`` may contain besides plain values

    @classmethod
    def make(cls, setup: Setup) -> Self | None:
        """Return the part for one crawl; None if the settings do not ask for it. Raises ``BadSetting`` and ``BadCrawlDir``."""
        raise NotImplementedError

    @classmethod
    def judgments(cls, folder: Path) -> Mapping[str, bool]:
        """A person's judgments of pages of the crawl in ``folder``, by URL: relevant or not."""
        return {}

    @classmethod
    def choose(
        cls, topic: Topic, known: PriorKnowledge, folder: Path, canonicalize: Callable[..., str]
    ) -> Choice | None:
        """The judge and the ordering for a topic that needs special ones; None for an ordinary topic. Raises ``BadInput``."""
        return None

    @classmethod
    def appoint(cls, topic: Topic, known: PriorKnowledge, rehearsals: Path | None) -> TopicJudge | None:
        """The judge that ``TOPIC_RELEVANCE`` names, if this part provides it; ``known.judge`` is the one by keywords.

        It must not make a crawl wait; rehearsals, which share it and the folder ``rehearsals``, do wait. Raises ``BadInput``.
        """
        return None

    @classmethod
    def reads(cls, options: Options) -> Collection[str]:
        """What the reader extracts from a page for the part besides text and links: ``"forms"``; ``"related"``, the pages and
        feeds that its ``<link>`` elements name, and the languages of links.
        """
        return ()

    @classmethod
    def readable(cls, web: Web, options: Options) -> Web:
        """Wrap ``web``, which a rehearsal or an ordering reads, so that replies that the part can convert arrive as HTML.

        Raises ``BadInput``.
        """
        return web

    @classmethod
    def is_endless(cls, options: Options) -> bool:
        """Whether ``CRAWL_MAX_PAGES`` does not end the crawl (see ``budget``)."""
        return False

    @classmethod
    def open_frontier(
        cls, options: Options, folder: CrawlFolder, *, clock: Callable[[], float], commit: int, name: str, endless: bool
    ) -> tuple[Frontier, Peers] | None:
        """The frontier that the settings ask for, if this part provides it, and the workers that share it.

        ``endless``: ``is_endless`` holds for at least one part.
        """
        return None

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        """The handlers of the kinds of URL that the part adds, by ``CrawlUrl.kind``. Called once, before any fetch.

        The part may keep ``services``, through which it reaches the crawl.
        """
        return {}

    # ------------------------------------------------------------ a URL on its way

    def refusal(self, url: str, depth: int) -> str:
        """Why a canonical URL must never be fetched, as ``component/rule``; empty: it may be.

        Called when the URL is found, and again when its turn has come. ``depth`` 0: a person named it, or it was fetched before.
        """
        return ""

    def respelled(self, url: str) -> str:
        """The URL to crawl in place of ``url`` because it shows the same page; usually ``url`` itself."""
        return url

    def lowered(self, url: str, score: float) -> float:
        """Return ``score``, lowered to the degree that the part doubts ``url``; never raised."""
        return score

    def is_postponed(self, url: str) -> bool:
        """Whether the host of ``url`` waits in a later class: the ordering then does not count on it. Called for every link."""
        return False

    def precedence(self, url: CrawlUrl, now: float) -> int:
        """The class of a URL whose turn has come at ``now``. ``url.precedence`` or lower: the URL may be fetched."""
        return url.precedence

    def turn(self, url: CrawlUrl, now: float) -> bool:
        """Whether a URL whose turn has come is fetched. False: the part has moved its host to a later class."""
        return True

    def left(self, url: CrawlUrl) -> None:
        """The lease of a URL has ended without a fetch: the URL waits again, or was refused."""

    def unreachable(self, url: CrawlUrl, until: float) -> None:
        """The host of ``url`` does not answer and is given up: no request goes to it before ``until``."""

    def is_doubted(self, url: str) -> bool:
        """Whether a URL that is fetched resembles others that brought nothing new, even if it is tried before them."""
        return False

    def named(self, url: str) -> None:
        """A person names the site of ``url`` while the crawl runs, as a seed of a topic that joins."""

    def distrusted(self, site: str, degree: float) -> None:
        """Another part has found that all pages of a registrable domain, earlier ones included, count as spam to this
        degree, 0 to 1.
        """

    # ------------------------------------------------------------ a page

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """Return the page with findings that go beyond its words: ``page_type``, ``duplicate_of``, ``spam``, ``signs``.

        A page whose ``page_type`` is set has no content: it ends like a failed fetch, and no further part examines it.
        """
        return page

    def examine_again(self, page: Page, fetch: Fetch) -> Page:
        """The same for a page that was visited before: only properties of the page itself, without comparing it with others."""
        return page

    def redirected(self, url: CrawlUrl, target: str) -> str:
        """The error to record for a redirect to the known page ``target``; empty: it is an ordinary redirect."""
        return ""

    def learn(self, event: FetchEvent) -> None:
        """A fetch has ended, now or before a resume, and is in the history."""

    def judge_stored(self, page: Page, judged: Callable[[Page], Page]) -> Page:
        """Return a stored page, read again in a replay, with the values from the history; ``judged`` judges it anew."""
        return page

    # ------------------------------------------------------------ links

    def followed(self, page: Page) -> Page:
        """Return the page with the links to follow: some of its links may be left out."""
        return page

    def implied(self, page: Page) -> Iterable[Link]:
        """Links that are not on a page, but that its links suggest. Their ``tag_path`` is ``IMPLIED``.

        They are scored and offered after the links of the page, as a rule once for each URL, and appear in no link log.
        """
        return ()

    def before_links(self, page: Page) -> Iterable[CrawlUrl]:
        """URLs to offer before the links of a fetched page, in the step that ends its lease."""
        return ()

    def links(self, page: Page) -> Iterable[CrawlUrl]:
        """URLs to offer after the links of a page or of a listing."""
        return ()

    def kept(self, page: Page, fetch: Fetch) -> Iterable[CrawlUrl]:
        """URLs to offer because a page was fetched for the first time."""
        return ()

    def robots_read(self, sitemaps: Sequence[str], found: CrawlUrl) -> Iterable[CrawlUrl]:
        """URLs to offer because the robots.txt that was fetched for ``found`` lists ``sitemaps``, given as written there."""
        return ()

    def offered(self, page: Page, fetch: Fetch) -> None:
        """The links of a page are in the frontier, and its lease has ended."""

    # ------------------------------------------------------------ time

    def budget(self) -> Budget | None:
        """The budget that ends the crawl in place of ``CRAWL_MAX_PAGES``, or None. The first one of all parts counts."""
        return None

    def end_reason(self, now: float) -> str:
        """Why the crawl should take no more URLs (``stopping.py``); empty: it may continue."""
        return ""

    def next_time(self) -> float:
        """When the next fetch may begin, in seconds since the epoch; infinity: not before something else happens."""
        return 0.0

    def taken(self, now: float) -> None:
        """A fetch begins."""

    # ------------------------------------------------------------ a run

    def learned(self) -> Any:
        """All that the part has learned (``learn``), for a checkpoint: plain values, arrays, and ``learned_classes``.

        None: a resume replays all lines to the part. Called in a fork of the process, which has no open files. State that a
        replay would not restore is left out.
        """
        return None

    def set_learned(self, learned: Any) -> None:
        """Restore the result of ``learned`` of an earlier run. Called before ``restore``; only later lines are then replayed.

        Raises ``Unfit``, before anything has changed, if the value cannot be used: then all lines are replayed.
        """
        raise NotImplementedError

    def restore(self, now: float) -> None:
        """The crawl is put together and about to replay its history: read any state that does not follow from the history."""

    def begin(self, now: float) -> None:
        """The history is replayed and the seeds are in the frontier: the crawl starts or resumes."""

    def replayed(self) -> None:
        """The history of this folder is replayed; the knowledge of other workers is still to come."""

    def close(self, reason: str, *, over: bool) -> None:
        """The crawl ends; ``over``: it need not be resumed. The frontier is closed, the history is not."""

    def ended(self, *, over: bool) -> None:
        """The crawl folder is closed, and its manifest records the state of the crawl."""

    def counters(self) -> Mapping[str, int]:
        """Counters of the running crawl, as ``component/event/reason``, for the console, the metrics and the report."""
        return {}

    # ------------------------------------------------------------ what the user sees

    def progress(self) -> Sequence[str]:
        """Lines for the console when the crawl ends."""
        return ()

    def status(self) -> Mapping[str, Any]:
        """What the dashboard shows about the part while the crawl runs: JSON values, by names unique to the part."""
        return {}

    def why_waits(self, host: str, now: float) -> str:
        """Why this part makes the URLs of a host wait, in a few words; empty: it does not."""
        return ""

    # ------------------------------------------------------------ other workers

    def publish(self, event: FetchEvent) -> Any:
        """What other workers need to learn from a fetch besides its line: a JSON value; None: nothing."""
        return None

    def receive(self, event: FetchEvent, published: Any) -> None:
        """Learn from a fetch of another worker and the value its part published. By default, learn as from an own fetch."""
        self.learn(event)

    def inherited(self) -> None:
        """This worker has taken over hosts of a worker that was lost."""

    def hear(self, message: Any) -> None:
        """Learn from a message that the same part of another worker has published with ``Peers.publish``."""
