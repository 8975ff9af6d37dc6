"""The contract of a part: an optional feature of a crawl, whole in one folder of ``crawlproject/parts/`` or in a package of
others.

The core knows no part by name. It calls the hooks of this file at the moments that they name; a part overrides those that it
needs and leaves the others alone. A hook that nobody overrides costs nothing: the methods are bound once, when the crawl is put
together (``parts.py``).

**How a part comes into a crawl.** ``parts/registry.py`` lists the parts of this project; those of others are entry points of the
group ``crawlproject.parts``. For each crawl ``make`` is called with a ``Setup``: it returns the part, or None where the settings
do not ask for it. Then ``kinds`` is called, with the services of the crawl. After the history was replayed, ``begin``.

**What a part knows** follows from the events that it learns, in their order: ``learn`` is called for each fetch that ended, live
and in a replay alike. What depends on the clock or on fetches in flight begins anew with each run.

**Order.** The parts are asked in the order of the registry. Where an answer goes through all of them (``examine``,
``respelled``, ``lowered``), each sees what those before it made of it; where one answer is enough (``refusal``,
``end_reason``), the first counts.

**Guards order, they do not forbid.** A part that doubts a URL gives it a later precedence class (``precedence``, ``turn``); a
refusal is for what is never wanted.

A part may have these files beside its own:

- ``report.py``, for the report of a crawl folder: ``report(folder, options, threshold)`` returns what there is to show, by the
  names of the report's template. ``threshold`` is the relevance from which a page is relevant.
- ``why.py``, for ``scrapy why``, with any of: ``sentences(asked)``, what it knows of a URL (``reports/why/asked.py``);
  ``cause(folder, url)``, the ``Cause`` for which a URL is left out, or None; ``why_waits(folder, host, now)``, why the URLs of
  a host wait, as the end of a sentence.

They read the crawl folder, and raise ``BadCrawlDir``.

- ``options.py``, its settings: a class that is derived from ``Options`` and adds fields, each with its row of the documentation.
  ``options.of(ThatClass)`` reads them.

Without its folder a crawl runs as if the feature had never been written: its settings are unknown, its files in a crawl folder
are left alone.
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
    """What a crawl is made of before its parts are: the arguments of ``Part.make``.

    ``new_ordering`` makes an ordering that knows no page of this crawl; None where the ordering is not of one topic alone.
    ``peers`` are the other workers of the crawl. ``agent`` is the User-Agent. ``token`` gives unguessable texts (None: what needs
    one is off). A ``rehearsal`` keeps the history only.
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
    """``judge`` and ``ordering`` of a crawl, and what makes the part that goes with them."""

    judge: TopicJudge
    ordering: BaseOrdering
    part: Callable[[Setup], Part]


class Part:
    """A feature. Every hook does nothing by default. Hooks that write raise ``StorageFailed`` when the disk refuses."""

    name: ClassVar[str] = ""  # of its folder, or of its entry point
    idle: Collection[str] = ()  # hooks that it overrides and does not need in this crawl: they are not called
    learned_classes: ClassVar[Collection[type]] = ()  # of data: what ``learned`` may consist of besides plain values

    @classmethod
    def make(cls, setup: Setup) -> Self | None:
        """The part of one crawl; None: the settings do not ask for it. Raises ``BadSetting`` and ``BadCrawlDir``."""
        raise NotImplementedError

    @classmethod
    def judgments(cls, folder: Path) -> Mapping[str, bool]:
        """What a person said of pages of the crawl in ``folder``, by URL: relevant, or not."""
        return {}

    @classmethod
    def choose(
        cls, topic: Topic, known: PriorKnowledge, folder: Path, canonicalize: Callable[..., str]
    ) -> Choice | None:
        """The judge and the ordering of a topic that needs others than one topic does; None: it does not. Raises ``BadInput``."""
        return None

    @classmethod
    def appoint(cls, topic: Topic, known: PriorKnowledge, rehearsals: Path | None) -> TopicJudge | None:
        """The judge that ``TOPIC_RELEVANCE`` names, if it is of this part; ``known.judge`` goes by the words of the keywords.

        It must not keep a crawl waiting; rehearsals, which share it and the folder ``rehearsals``, wait. Raises ``BadInput``.
        """
        return None

    @classmethod
    def reads(cls, options: Options) -> Collection[str]:
        """What is read of a page for the part besides text and links: ``"forms"``; ``"related"``, the pages and feeds that its
        ``<link>`` elements name, and the languages of links.
        """
        return ()

    @classmethod
    def readable(cls, web: Web, options: Options) -> Web:
        """``web``, whose replies a rehearsal or an ordering is to read: with those that the part turns into HTML turned.

        Raises ``BadInput``.
        """
        return web

    @classmethod
    def is_endless(cls, options: Options) -> bool:
        """Whether ``CRAWL_MAX_PAGES`` does not end the crawl (``budget``)."""
        return False

    @classmethod
    def open_frontier(
        cls, options: Options, folder: CrawlFolder, *, clock: Callable[[], float], commit: int, name: str, endless: bool
    ) -> tuple[Frontier, Peers] | None:
        """The frontier that the settings ask for, if it is of this part, and the workers that share it.

        ``endless``: for some part ``is_endless``.
        """
        return None

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        """The handlers of the kinds of URL that the part adds, by ``CrawlUrl.kind``. Called once, before anything is fetched.

        ``services`` may be kept: it is how a part reaches the crawl.
        """
        return {}

    # ------------------------------------------------------------ a URL on its way

    def refusal(self, url: str, depth: int) -> str:
        """Why a canonical URL is never fetched, as ``component/rule``; empty: it may be.

        Asked when it is found, and when its turn has come. ``depth`` 0: a person named it, or it was fetched before.
        """
        return ""

    def respelled(self, url: str) -> str:
        """The URL that is crawled in place of ``url``, which shows the same; ``url`` itself as a rule."""
        return url

    def lowered(self, url: str, score: float) -> float:
        """``score``, lowered as far as ``url`` is doubted; never higher."""
        return score

    def is_postponed(self, url: str) -> bool:
        """Whether the host of ``url`` waits in a later class: then the ordering does not count on it. Asked of every link."""
        return False

    def precedence(self, url: CrawlUrl, now: float) -> int:
        """The class in which a URL waits whose turn has come at ``now``; ``url.precedence`` or lower: it may be fetched."""
        return url.precedence

    def turn(self, url: CrawlUrl, now: float) -> bool:
        """Whether a URL is fetched whose turn has come. False: the part has given its host a later class."""
        return True

    def left(self, url: CrawlUrl) -> None:
        """The lease of a URL has ended without a fetch: it waits again, or was refused."""

    def unreachable(self, url: CrawlUrl, until: float) -> None:
        """Nobody answers at the host of ``url``, which is given up: nothing is asked of it before ``until``."""

    def is_doubted(self, url: str) -> bool:
        """Whether a URL that is fetched is like others that brought nothing new, also if it is tried before them."""
        return False

    def named(self, url: str) -> None:
        """A person names the site of ``url`` while the crawl runs, as a seed of a topic that joins."""

    def distrusted(self, site: str, degree: float) -> None:
        """Another part has found that the pages of a registrable domain count as spam to this degree, 0 to 1: also those
        before.
        """

    # ------------------------------------------------------------ a page

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """The page with what it is besides its words: ``page_type``, ``duplicate_of``, ``spam``, ``signs``.

        A page whose ``page_type`` is set has no content: it ends like a failed fetch, and no further part is asked.
        """
        return page

    def examine_again(self, page: Page, fetch: Fetch) -> Page:
        """The same for a page that was visited before: only what it is by itself, not compared with others."""
        return page

    def redirected(self, url: CrawlUrl, target: str) -> str:
        """The error that a redirect to the known page ``target`` means; empty: it is a redirect."""
        return ""

    def learn(self, event: FetchEvent) -> None:
        """A fetch has ended, now or before a resume, and is in the history."""

    def judge_stored(self, page: Page, judged: Callable[[Page], Page]) -> Page:
        """A stored page that is read again in a replay, with what the history says of it; ``judged`` judges it anew."""
        return page

    # ------------------------------------------------------------ links

    def followed(self, page: Page) -> Page:
        """The page as its links are followed: some of them may be left out."""
        return page

    def implied(self, page: Page) -> Iterable[Link]:
        """Links that a page does not have, and that its links suggest. Their ``tag_path`` is ``IMPLIED``.

        They are scored and offered after its own, each URL once as a rule, and are in no link log.
        """
        return ()

    def before_links(self, page: Page) -> Iterable[CrawlUrl]:
        """URLs that are offered before the links of a page that came, in the step that ends its lease."""
        return ()

    def links(self, page: Page) -> Iterable[CrawlUrl]:
        """URLs that are offered after the links of a page, or of a listing."""
        return ()

    def kept(self, page: Page, fetch: Fetch) -> Iterable[CrawlUrl]:
        """URLs that wait from now on because a page came for the first time."""
        return ()

    def robots_read(self, sitemaps: Sequence[str], found: CrawlUrl) -> Iterable[CrawlUrl]:
        """URLs to offer as the robots.txt that was fetched for ``found`` names ``sitemaps``, as written."""
        return ()

    def offered(self, page: Page, fetch: Fetch) -> None:
        """The links of a page are in the frontier, and its lease has ended."""

    # ------------------------------------------------------------ time

    def budget(self) -> Budget | None:
        """What ends the crawl in place of ``CRAWL_MAX_PAGES``; None: nothing else does. The first that is given counts."""
        return None

    def end_reason(self, now: float) -> str:
        """Why no more URLs are to be taken (``stopping.py``); empty: they may be."""
        return ""

    def next_time(self) -> float:
        """When the next fetch may begin, in seconds since the epoch; infinity: not before something else happens."""
        return 0.0

    def taken(self, now: float) -> None:
        """A fetch begins."""

    # ------------------------------------------------------------ a run

    def learned(self) -> Any:
        """All that the part has learned (``learn``), for a checkpoint: plain values, arrays, and ``learned_classes``.

        None: it is shown all lines again. Asked in a fork of the process, which has no open files. What a replay would not
        teach is left out.
        """
        return None

    def set_learned(self, learned: Any) -> None:
        """Know what ``learned`` gave in an earlier run, before ``restore``: only later lines will be shown.

        Raises ``Unfit`` before anything has changed, if it cannot be used: then all lines will be shown.
        """
        raise NotImplementedError

    def restore(self, now: float) -> None:
        """The crawl is put together, and its history is about to be replayed: what does not follow from it is read now."""

    def begin(self, now: float) -> None:
        """The history is replayed and the seeds are in the frontier: the crawl starts, or goes on."""

    def replayed(self) -> None:
        """The history of this folder is replayed; what other workers have learned is still to come."""

    def close(self, reason: str, *, over: bool) -> None:
        """The crawl ends; ``over``: it need not go on. The frontier is closed, the history is not."""

    def ended(self, *, over: bool) -> None:
        """The crawl folder is closed, and says how the crawl stands."""

    def counters(self) -> Mapping[str, int]:
        """Numbers of the running crawl, as ``component/event/reason``, for the console, the metrics and the report."""
        return {}

    # ------------------------------------------------------------ what a person sees

    def progress(self) -> Sequence[str]:
        """Lines for the console when the crawl ends."""
        return ()

    def status(self) -> Mapping[str, Any]:
        """What the dashboard shows of the part while the crawl runs: values for JSON, by names of their own."""
        return {}

    def why_waits(self, host: str, now: float) -> str:
        """Why the URLs of a host wait, in a few words; empty: not for this part."""
        return ""

    # ------------------------------------------------------------ other workers

    def publish(self, event: FetchEvent) -> Any:
        """What others need to learn from a fetch besides its line: a value for JSON; None: nothing."""
        return None

    def receive(self, event: FetchEvent, published: Any) -> None:
        """Learn from the fetch of another worker, with what its part published. By default as from an own one."""
        self.learn(event)

    def inherited(self) -> None:
        """Hosts of a worker that is lost are this worker's now."""

    def hear(self, message: Any) -> None:
        """Learn from what the same part of another worker has published by itself (``Peers.publish``)."""
