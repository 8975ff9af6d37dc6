"""One crawl. How a URL travels:

1. ``Outlinks`` scores each link of a page, and ``Admission`` puts it into the frontier, if the rules of its kind admit it.
2. ``Crawl.take`` asks ``Leasing`` for the best URL that may be fetched now: its host has rested, nothing holds it back.
3. The handler of its kind (``kinds/``) says what request it becomes. The spider sends it; a rehearsal asks its web.
4. ``Crawl.receive`` hands the reply to that handler. A sitemap, feed or probe ends there. So does a page that is an error or a
   redirect: ``fail``, ``refuse`` and ``redirect`` end every other lease. When nobody answers, the URL waits for another try.
5. A page goes through the ``PageSteps``, one a pipeline: it is read, examined, scored, stored.
6. ``HistoryWriter`` adds its line to the history, and everything that learns in the crawl learns from it.
7. ``PageSteps.offer`` passes its links to step 1 and ends the lease, in one atomic step.

Scrapy's scheduler, spider and pipelines call these methods; a rehearsal calls them in a loop, without Scrapy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crawlproject.core.admission import Admission
from crawlproject.core.brakes import Brakes
from crawlproject.core.budget import PageBudget
from crawlproject.core.connections import Connections
from crawlproject.core.entry_rules import EntryRules
from crawlproject.core.history_writer import HistoryWriter
from crawlproject.core.inspectors import Inspection
from crawlproject.core.kinds.handler import FetchPlan
from crawlproject.core.kinds.handlers import make_handlers
from crawlproject.core.kinds.page import PageParts
from crawlproject.core.learner import Learner
from crawlproject.core.leasing import Leasing
from crawlproject.core.normalization import Normalization
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.outlinks import Outlinks
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.reading import make_traps
from crawlproject.core.robots import KnownRobots, RobotsRules
from crawlproject.core.scarcity import make_scarcity
from crawlproject.core.stats import CrawlStats
from crawlproject.core.stopping import NO_NETWORK, OVER, PAGE_BUDGET, ROUND, TOPICS_HAVE_ENOUGH, Stopping
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.listings.feeds import Feeds
from crawlproject.parts.listings.listing import ListingReader
from crawlproject.parts.listings.sitemaps import Sitemaps
from crawlproject.parts.rendering.policy import RenderPolicy
from crawlproject.parts.rendering.rendering import Rendering
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.parts.revisits.steps import RevisitSteps
from crawlproject.parts.workers.shared_learning import SharedLearning
from crawlproject.records import FEED, REVISIT, SITEMAP, CrawlUrl, Fetch, Page, Topic
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.urls.hosts import host_of, origin_of
from crawlproject.webs.base import Reply

if TYPE_CHECKING:
    from crawlproject.parts.forms.forms import Forms
    from crawlproject.parts.judgments.relearning import Relearning
    from crawlproject.parts.topics.crawl_topics import CrawlTopics


class Crawl:
    """The crawl of one topic, or of several (``topics``). Not thread-safe; every method is quick enough for an event loop.

    Methods that write raise ``StorageFailed`` when the disk refuses.
    """

    def __init__(
        self,
        topic: Topic,
        options: Options,
        *,
        canonicalize: Callable[..., str],
        judge: TopicJudge,
        reader: Reader,
        ordering: BaseOrdering,
        folder: CrawlFolder,
        frontier: Frontier,
        inspection: Inspection,
        revisits: Revisits | None = None,
        agent: str = "",
        topics: CrawlTopics | None = None,
    ) -> None:
        self.topic = topic
        self.topics = topics  # of a crawl of several
        self.options = options
        self.canonicalize = canonicalize
        self.ordering = ordering
        self.folder = folder
        self.frontier = frontier
        self.revisits = revisits
        self.brakes = Brakes([revisits.pace] if revisits else [])
        self.tracker, self.probes = inspection.tracker, inspection.probes
        self.connections = Connections(delay=options.crawl_retry_delay, patience=options.crawl_max_outage)
        self.stats = CrawlStats(folder, frontier, inspection, reader, self.connections, options.crawl_max_pages)
        self.budget = PageBudget(options.crawl_max_pages, folder.history, frontier)
        floor, window, relevant = options.crawl_min_harvest, options.crawl_harvest_window, options.page_relevant
        self.stopping = Stopping(floor=floor, window=window, relevant=relevant, seconds=options.crawl_max_seconds)
        self.ordering_feed = feed = OrderingFeed(ordering)
        self.new_ordering: Callable[[], BaseOrdering] | None = None  # makes one that knows no page of this crawl
        self.relearning: Relearning | None = None  # what learns from judgments just now
        self.rendering: Rendering | None = None
        if options.crawl_render != "never":
            self.rendering = Rendering(RenderPolicy(options.crawl_render), options.crawl_render_cost)
        browser = self.rendering.policy if self.rendering else None
        own: list[Learner] = [part for part in (revisits, browser) if part is not None]
        self.learners: list[Learner] = [*inspection.learners, self.tracker, self.stopping, feed, *own]
        self.learners += [topics] if topics is not None else []
        self.learners_again = [*own, self.tracker.hosts]  # of further visits
        self._robots = robots = KnownRobots(options.crawl_robots_cache_size)
        filters = self.tracker.hosts, robots
        traps = make_traps(options, frontier)
        rules = EntryRules(options.crawl_allowed_domains, traps, filters, inspection.redundant)
        self.admission = admission = Admission(
            rules=rules,
            canonicalize=canonicalize,
            frontier=frontier,
            ordering=ordering,
            refusals=folder.refusals,
            history=folder.history,
            normalization=Normalization(inspection.normalizers),
            holds=inspection.holds,
            scarcity=make_scarcity(options, self.budget, self.stopping),
        )
        if inspection.redundant is not None:
            inspection.redundant.planted = admission.planted.__contains__
        self.forms: Forms | None = None
        if options.crawl_forms:
            from crawlproject.parts.forms.forms import Forms

            self.forms = Forms(topic, options, admission, canonicalize, frontier, judge, folder.pages.load)
            self.learners.append(self.forms)
        self._history = history = HistoryWriter(folder, ordering, self.learners, self.learners_again)
        most = options.crawl_sitemap_urls
        self.sitemaps = Sitemaps(canonicalize, judge, per_host=options.crawl_sitemaps, most=most)
        self.feeds = feeds = Feeds(canonicalize, judge, per_host=options.crawl_feeds, most=most)
        listings: dict[str, ListingReader] = {SITEMAP: self.sitemaps, FEED: feeds}
        wanted, series = feeds if options.crawl_feeds else None, (options.crawl_series, options.page_relevant)
        outlinks = Outlinks(admission, frontier, ordering, feed, folder.refusals, wanted, *series, inspection.templates)
        parts: dict[str, Any] = {"feed": feed, "frontier": frontier, "history": history, "inspection": inspection}
        parts |= {"judge": judge, "options": options, "outlinks": outlinks, "reader": reader}
        self.steps = steps = PageSteps(**parts, revisits=revisits, forms=self.forms)
        of_pages = PageParts(admission, frontier, history, inspection, ordering, steps)
        self._steps_of_revisits = again = RevisitSteps(**parts, revisits=revisits) if revisits else None
        self.kinds = make_handlers(
            of_pages,
            options,
            rules,
            canonicalize=canonicalize,
            listings=listings,
            outlinks=outlinks,
            forms=self.forms,
            revisits=revisits,
            revisit_steps=again,
            agent=agent,
        )
        self._leasing = leasing = Leasing(
            frontier,
            admission,
            ordering,
            inspection.holds,
            self.kinds,
            patience=2 * options.politeness_min_delay,  # hosts that rest are no reason to release a URL
            looks_back=revisits is None,
        )
        self.shared: SharedLearning | None = None
        if isinstance(frontier, SharedFrontier) and frontier.shares:
            learn = admission, ordering, inspection, self.learners, feed, folder.history, self.learners_again, revisits
            self.shared = history.told = leasing.told = shared = SharedLearning(options.worker, frontier, *learn)
            inspection.probes.told = shared.found
            frontier.when_published(shared.receive)

    def steps_for(self, url: CrawlUrl) -> PageSteps:
        """The steps of a page that came for a leased URL."""
        return self._steps_of_revisits if self._steps_of_revisits and url.kind == REVISIT else self.steps

    # ------------------------------------------------------------ the way in and out of the frontier

    def add_seeds(self) -> None:
        """Put the seeds into the frontier. Seeds pass the scope and trap rules like every URL."""
        for seed in self.topic.seeds:
            self.admission.offer(CrawlUrl(url=seed, score=self.ordering.seed_score(seed)))

    def name_sitemaps(self, hrefs: Sequence[str], found: CrawlUrl) -> None:
        """The robots.txt that was fetched for ``found`` names sitemaps: ``CRAWL_SITEMAPS`` of them are to be fetched."""
        for sitemap in self.sitemaps.named(hrefs, found):
            self.kinds[SITEMAP].offer(sitemap)

    def learn_robots(self, origin: str, rules: RobotsRules, now: float) -> None:
        """The robots.txt of ``origin`` was fetched: what it asks for holds from now on."""
        if rules.failure:
            return
        self._robots.learn(origin, rules)
        host = host_of(f"{origin}/")
        self.connections.answered(origin, now)
        seconds = rules.crawl_delay(self.options.politeness_max_crawl_delay)
        self.frontier.crawl_delay(host, seconds)
        self._history.crawl_delay(host, seconds)

    def take(self, now: float) -> CrawlUrl | None:
        """Lease the next URL, or None: nobody is eligible, the budget of pages is spent or in flight, or the network away."""
        if self.budget_in_flight() or self.end_reason(now) or self._has_to_wait(now):
            return None
        self._robots.now = now
        connections = self.connections
        taken = self._leasing.take(now, connections.has_answered if connections.needs_witness else None)
        if taken is not None:
            connections.probe = taken.key
            self.brakes.taken(now)
        return taken

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``take`` may succeed if nothing else happens, or the crawl ends; None: at no time."""
        due, deadline = self.frontier.next_due(now), self.stopping.deadline()
        if self.connections.began is not None:
            due = None if self._is_probing() else max(due or 0.0, self.connections.next_take())
            deadline = min(filter(None, (deadline, self.connections.deadline())), default=None)
        if due is not None:
            due = self.brakes.delayed(due)
        return min(due, deadline) if due is not None and deadline else due

    def budget_in_flight(self) -> bool:
        """Whether the open leases may already fill ``CRAWL_MAX_PAGES`` or, in a crawl that visits pages again, its round."""
        return self.budget.is_in_flight if self.revisits is None else self.revisits.round_is_in_flight()

    def end_reason(self, now: float) -> str:
        """Why no more URLs are to be taken, as one of the reasons of ``stopping.py``; "" while there is no reason."""
        if self.revisits is not None:
            if self.revisits.round_is_over(now):
                return ROUND
        elif self.budget.is_spent:
            return PAGE_BUDGET
        if self.topics is not None and self.topics.have_enough():
            return TOPICS_HAVE_ENOUGH
        return self.stopping.reason(now, self.frontier.best) or (NO_NETWORK if self.connections.is_over(now) else "")

    def _has_to_wait(self, now: float) -> bool:
        """Whether an outage, or a brake, forbids to take anything now."""
        if self.brakes.hold(now):
            return True
        return self.connections.began is not None and (now < self.connections.next_take() or self._is_probing())

    def _is_probing(self) -> bool:
        return bool(self.connections.probe) and self.frontier.leased(self.connections.probe) is not None

    # ------------------------------------------------------------ a lease: the handler of its kind (``kinds/handler.py``)

    def plan(self, url: CrawlUrl) -> FetchPlan:
        """What request a leased URL becomes."""
        return self.kinds[url.kind].plan(url)

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        """A reply has come: the page that has to go through ``steps``, or None when the lease is ended."""
        self.connections.answered(origin_of(url.url), fetch.at)
        return self.kinds[url.kind].receive(url, reply, fetch, page)

    def unreachable(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """Nobody answered, neither for the page nor for its robots.txt: it waits for another try, or it fails with ``error``."""
        origin = origin_of(url.url)
        waiting, in_flight = self.frontier.hosts(), self.frontier.leases() - 1
        retry = self.connections.failed(url.key, origin, fetch.at, waiting=waiting, in_flight=in_flight, error=error)
        if retry.again:
            self.tracker.holds.ended(url.url)
            self.frontier.release(url.key, fetch.at + retry.rest, fetch.seconds)
        else:
            self.tracker.hosts.rest(url.url, fetch.at + retry.rest)
            self.fail(url, error, fetch)

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """End a lease whose fetch brought nothing of use: an HTTP error, a page without content, no reply at the last try."""
        self.kinds[url.kind].fail(url, error, fetch)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        """End a lease without a fetch (robots.txt, a trap found late). ``reason`` reads ``component/rule``."""
        self.kinds[url.kind].refuse(url, reason)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """End a lease that was answered with a redirect to a canonical ``target``; whether that may be fetched now."""
        self.connections.answered(origin_of(url.url), fetch.at)
        return self.kinds[url.kind].redirect(url, target, fetch)

    # ------------------------------------------------------------ the end

    def close(self, reason: str, now: float, stats: Mapping[str, Any] | None = None) -> None:
        """Save everything; ``reason`` is why the crawl ended. A crawl that is not over can be resumed."""
        shown = dict(self.revisits.tally.counters()) if self.revisits is not None else {}
        shown |= self.forms.counters() if self.forms is not None else {}
        try:
            self.ordering_feed.save_agents(self.folder.path)
            self.frontier.close()
            if self.revisits is not None:
                self.revisits.end()
        finally:
            self.folder.close(reason, now, {**(stats or {}), **self.stats.counters(), **shown})
            if self.topics is not None:
                self.topics.close(over=reason in OVER)
