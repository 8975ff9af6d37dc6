"""One crawl. The path of a URL:

1. The ordering scores each link of a page, and ``Admission`` puts it into the frontier, if the rules of its kind admit it.
2. ``Crawl.take`` asks ``Leasing`` for the best URL that may be fetched now: its host has rested, nothing better is due.
3. The handler of its kind (in ``services.py`` or in a part) turns the URL into a request. The spider sends the request; a
   rehearsal looks it up in its web.
4. ``Crawl.receive`` passes the reply to that handler. Only pages continue from here: ``fail``, ``refuse`` and ``redirect`` end
   the leases of errors, refusals and redirects. If the host does not answer, the URL waits for another try.
5. A page goes through the ``PageSteps``, one step per pipeline: it is read, examined, scored and stored.
6. ``HistoryWriter`` adds its line to the history, and everything that learns in the crawl learns from it.
7. ``PageSteps.offer`` passes its links to step 1 and ends the lease, in one atomic step.

The parts (``part.py``) take part through their hooks. Scrapy's scheduler, spider and pipelines call these methods; a rehearsal
calls them in a loop, without Scrapy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from crawlproject.core.admission import Admission, EntryRules
from crawlproject.core.checkpoint import Checkpoints
from crawlproject.core.connections import Connections
from crawlproject.core.history_writer import HistoryWriter
from crawlproject.core.leasing import Leasing
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.part import Setup
from crawlproject.core.parts import PartOf, Parts
from crawlproject.core.prior_knowledge import parameters_in_use
from crawlproject.core.reading import make_traps
from crawlproject.core.robots import KnownRobots, RobotsRules
from crawlproject.core.services import UNREACHABLE, FetchPlan, PageHandler, Services, UnknownHandler
from crawlproject.core.stats import CrawlStats
from crawlproject.core.stopping import FINISHED, NO_NETWORK, OVER, PageBudget, Scarcity, Stopping
from crawlproject.core.stopping import NAME as STOPPING
from crawlproject.pages.reader import Reader
from crawlproject.records import PAGE, CrawlUrl, Fetch, Page, Reply, Topic
from crawlproject.urls.hosts import host_of, origin_of

SOON = 60.0  # seconds: if the next URL is due later than this, its kind is checked


class Brake(Protocol):
    """Slows a crawl down in addition to politeness, such as to the pace of a person whom it accompanies."""

    def next_time(self) -> float:
        """When the next fetch may begin, in seconds since the epoch; infinity: not before something else happens."""
        ...

    def taken(self, now: float) -> None:
        """A fetch begins."""
        ...


class Crawl:
    """The crawl of one topic or of several. Not thread-safe; every method is fast enough for an event loop.

    ``judgments`` are a person's judgments of pages, by URL. Methods that write raise ``StorageFailed`` when the disk refuses.
    """

    def __init__(
        self,
        setup: Setup,
        parts: Iterable[Any],
        reader: Reader,
        judgments: Mapping[str, bool],
        brakes: Sequence[Brake] = (),
    ) -> None:
        options, folder, ordering = setup.options, setup.folder, setup.ordering
        self.options = options
        self.canonicalize = setup.canonicalize
        self.ordering = ordering
        self.folder = folder
        self.frontier = frontier = setup.frontier
        self.peers = peers = setup.peers
        self.parts = parts = Parts(parts)
        self.connections = Connections(delay=options.crawl_retry_delay, patience=options.crawl_max_outage)
        self.stats = CrawlStats(
            folder,
            frontier,
            parts,
            reader,
            self.connections,
            options.crawl_max_pages,
            is_endless=not (options.crawl_max_pages or options.crawl_max_seconds or options.crawl_min_harvest),
        )
        self.stopping = stopping = Stopping(
            floor=options.crawl_min_harvest,
            window=options.crawl_harvest_window,
            relevant=options.page_relevant,
            seconds=options.crawl_max_seconds,
        )
        pages = PageBudget(options.crawl_max_pages, folder.history, frontier, peers)
        self.budget = next(filter(None, (part.budget() for part in parts)), pages)
        self._robots = robots = KnownRobots(options.crawl_robots_cache_size)
        self.brakes = brakes
        self._brakes: list[Callable[[], float]] = [*(brake.next_time for brake in brakes), *parts.bound("next_time")]
        self._taken: list[Callable[[float], None]] = [*(brake.taken for brake in brakes), *parts.bound("taken")]
        self._end_reasons: list[Callable[[float], str]] = [self.budget.end_reason, *parts.bound("end_reason")]
        self._nothing_until = 0.0  # when the next URL is due, if all waiting URLs belong to missing parts
        self._looked_until = 0.0  # the due time for which this was last checked
        self.budget_in_flight = self.budget.is_in_flight  # whether the open leases may use up the budget of the crawl
        feed = OrderingFeed(ordering, judgments, parts)
        self.admission = admission = Admission(
            rules=EntryRules(
                options.crawl_allowed_domains, make_traps(options, frontier), (*parts.refusals, robots.refusal)
            ),
            canonicalize=setup.canonicalize,
            frontier=frontier,
            ordering=ordering,
            refusals=folder.refusals,
            history=folder.history,
            parts=parts,
            peers=peers,
            scarcity=Scarcity(
                options.crawl_scarce,
                pages=pages.share_spent if options.crawl_max_pages else None,
                time=stopping.share_spent if options.crawl_max_seconds else None,
            ),
        )
        history = HistoryWriter(folder, ordering, (stopping.learn, feed.learn), parts.learning, peers, frontier)
        self.services = services = Services(
            topic=setup.topic,
            options=options,
            canonicalize=setup.canonicalize,
            judge=setup.judge,
            ordering=ordering,
            folder=folder,
            frontier=frontier,
            peers=peers,
            parts=parts,
            admission=admission,
            connections=self.connections,
            feed=feed,
            history=history,
            stopping=stopping,
            checkpoints=Checkpoints(
                folder,
                setup.topic,
                feed,
                options,
                parameters_in_use(options),
                {STOPPING: stopping, **{part.name: part for part in parts}},
            ),
        )
        if peers.publishes:
            services.checkpoints.forbid()
        services.steps = self.steps = PageSteps(services, reader)  # for pages that are fetched for the first time
        services.kinds[PAGE] = PageHandler(services)
        services.kinds[""] = UnknownHandler(services)
        for part in parts:
            services.kinds.update(part.kinds(services))
        self._leasing = Leasing(services)
        peers.connect(services)

    @property
    def topic(self) -> Topic:
        """The topic of the crawl; in a crawl of several topics, the current combination of all."""
        return self.services.topic

    def part(self, kind: type[PartOf]) -> PartOf | None:
        """The part of this class, or None if the crawl has none: for code that shows or controls what a part does."""
        return self.parts.find(kind)

    def steps_for(self, url: CrawlUrl) -> PageSteps:
        """The steps for a page that was fetched for a leased URL."""
        return self.services.kinds[url.kind].steps

    # ------------------------------------------------------------ the way in and out of the frontier

    def add_seeds(self) -> None:
        """Put the seeds into the frontier. Seeds pass the scope and trap rules like every URL."""
        for seed in self.topic.seeds:
            self.admission.offer(self.admission.seed_record(seed))

    def learn_robots(self, origin: str, rules: RobotsRules, now: float) -> None:
        """Apply the rules of the robots.txt of ``origin``, which was just fetched, from now on."""
        if rules.failure:
            return
        self._robots.learn(origin, rules)
        host = host_of(f"{origin}/")
        self.connections.answered(origin, now, open_to_us=not rules.unreachable)
        if rules.unreachable:
            return  # the host is tried again, no sooner than it asked for before
        seconds = self._robots.crawl_delay(origin, rules.crawl_delay(self.options.politeness_max_crawl_delay))
        self.frontier.crawl_delay(host, seconds)
        self.services.history.crawl_delay(host, seconds)

    def robots_read(self, rules: RobotsRules, found: CrawlUrl) -> None:
        """Offer what the parts want of the sitemaps that the robots.txt fetched for ``found`` lists."""
        for part in self.parts:
            for url in part.robots_read(rules.sitemaps, found):
                self.services.kinds.offer(url)

    def take(self, now: float) -> CrawlUrl | None:
        """Lease the next URL. None: no URL is eligible, the page budget is spent or in flight, or the network is down."""
        if self.budget_in_flight() or self.end_reason(now) or self._has_to_wait(now):
            return None
        self._robots.now = now
        self.peers.pass_time(now)
        connections = self.connections
        taken = self._leasing.take(now, connections.has_answered if connections.needs_witness else None)
        if taken is not None:
            connections.probe = taken.key
            self.stats.taken(taken, now, self.admission.is_postponed)
            for begin in self._taken:
                begin(now)
        return taken

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``take`` may succeed or the crawl ends, if nothing else happens; None: never."""
        due, deadline = self._leasing.next_due(now), self.stopping.deadline()
        if self.connections.began is not None:
            due = None if self._is_probing() else max(due or 0.0, self.connections.next_take())
            deadline = min(filter(None, (deadline, self.connections.deadline())), default=None)
        if due is not None and due > now + SOON and self._waits_for_no_part(due):
            return now
        if due is not None:
            due = max([due, *(next_time() for next_time in self._brakes)])
            due = due if due < float("inf") else None
        return min(due, deadline) if due is not None and deadline else due

    def end_reason(self, now: float) -> str:
        """Why the crawl takes no more URLs, as one of the reasons of ``stopping.py``; empty while there is no reason."""
        if self._nothing_until > now:
            return FINISHED
        for end_reason in self._end_reasons:
            if reason := end_reason(now):
                return reason
        return self.stopping.reason(now, self.frontier.best) or (NO_NETWORK if self.connections.is_over(now) else "")

    def _waits_for_no_part(self, due: float) -> bool:
        """Whether nothing happens before ``due`` and all waiting URLs belong to parts that are not installed or not in use."""
        if due != self._looked_until and not self.frontier.leases() and not self.peers.has_server:
            self._looked_until = due
            if all(url.kind not in self.services.kinds for url in self.frontier.waiting()):
                self._nothing_until = due
        return self._nothing_until >= due

    def _has_to_wait(self, now: float) -> bool:
        """Whether an outage or a brake forbids taking a URL now."""
        for next_time in self._brakes:
            if now < next_time():
                return True
        return self.connections.began is not None and (now < self.connections.next_take() or self._is_probing())

    def _is_probing(self) -> bool:
        return bool(self.connections.probe) and self.frontier.leased(self.connections.probe) is not None

    # ------------------------------------------------------------ a lease: the handler of its kind (``services.py``)

    def plan(self, url: CrawlUrl) -> FetchPlan:
        """How to fetch a leased URL."""
        return self.services.kinds[url.kind].plan(url)

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        """Handle a reply. Return the page that has to go through its steps, or None when the lease has ended."""
        self.connections.answered(origin_of(url.url), fetch.at)
        return self.services.kinds[url.kind].receive(url, reply, fetch, page)

    def unreachable(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """There was no answer for the page or its robots.txt, or the robots.txt is an error (``UNREACHABLE``): the page waits
        for another try, unless this was the last one.
        """
        origin = origin_of(url.url)
        if error == UNREACHABLE:
            retry = self.connections.turned_away(origin)
        else:
            waiting, in_flight = self.frontier.hosts(), self.frontier.leases() - 1
            retry = self.connections.failed(
                url.key, origin, fetch.at, waiting=waiting, in_flight=in_flight, error=error
            )
        host, until = host_of(url.url), fetch.at + max(retry.rest, fetch.asked_rest)
        if not retry.url_only:
            self.frontier.block_host(host, until)  # unlike a host that only rests, it holds no other host up
        if retry.again:
            self.wait_again(url, fetch, until if retry.url_only else 0.0)
            return
        if not retry.url_only:
            self.ordering.host_blocked(host)
            for part in self.parts:
                part.unreachable(url, until)
        if error == UNREACHABLE:
            self.refuse(url, error)
        else:
            self.fail(url, error, fetch)

    def wait_again(self, url: CrawlUrl, fetch: Fetch, not_before: float = 0.0) -> None:
        """Make a URL wait for another try, after the rest of its host: nothing came, through no fault of the host."""
        for part in self.parts:
            part.left(url)
        self.frontier.release(url.key, fetch.rests_from, fetch.seconds, not_before=not_before)

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """End a lease whose fetch returned nothing useful: an HTTP error, a page without content, no reply at the last try."""
        self.services.kinds[url.kind].fail(url, error, fetch)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        """End a lease without a fetch (robots.txt, a trap found late). ``reason`` has the form ``component/rule``."""
        self.services.kinds[url.kind].refuse(url, reason)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """End a lease whose reply was a redirect to a canonical ``target``. Return whether the target may be fetched now."""
        self.connections.answered(origin_of(url.url), fetch.at)
        return self.services.kinds[url.kind].redirect(url, target, fetch)

    # ------------------------------------------------------------ the end

    def close(self, reason: str, now: float, stats: Mapping[str, Any] | None = None) -> None:
        """Save everything; ``reason`` says why the crawl ended. A crawl that is not over can be resumed."""
        over = reason in OVER
        counts: Mapping[str, int] = {}
        try:
            if self.folder.bodies and not self.peers.has_server:  # a server keeps the waiting URLs of all workers
                counts = self.stats.waiting_by_class(now, self.admission.is_postponed)
            self.services.feed.save_agents(self.folder.path)
            self.services.checkpoints.close()
            self.frontier.close()
            for part in self.parts:
                part.close(reason, over=over)
        finally:
            self.folder.close(reason, now, {**(stats or {}), **counts, **self.stats.counters()})
            for part in self.parts:
                part.ended(over=over)

    def leave(self, reason: str, now: float, stats: Mapping[str, Any] | None = None) -> None:
        """End without saving: only what is on disk counts, as after ``kill -9``, because the state in memory may be wrong."""
        self.folder.close(reason, now, {**(stats or {}), **self.stats.counters()})
