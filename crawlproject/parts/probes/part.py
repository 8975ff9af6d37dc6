"""Probes: second looks at pages and hosts, for cloaking, personalised pages and soft 404s, which the history does not record:
which probes to make, what their answers say, and what follows for later pages.

A probe is a record in the frontier, so it waits for its host's turn like any URL. Its variant, its parent and the numbers that
it carries state its purpose. Its finding is a line of ``probes.jsonl``.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from crawlproject.core.learned_state import fields_of, set_fields
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import UNREACHABLE, FetchPlan, Handler, Services, why_no_page
from crawlproject.pages.page_types import SOFT_404
from crawlproject.parts.probes.cloaking import can_be_judged, copy_of, is_sampled, judge
from crawlproject.parts.probes.options import ProbeOptions
from crawlproject.parts.probes.probe_log import (
    ABOUT_LOGINS,
    BROWSER,
    CLOAKED,
    DISGUISED,
    HONEST,
    MISSING,
    OPEN,
    PERSONALISED,
    STRANGER,
    UNDECIDED,
    WITHOUT_LOGIN,
    Finding,
    ProbeLog,
    ProbeResponse,
    read_findings,
)
from crawlproject.parts.probes.site_trust import SiteTrust
from crawlproject.parts.probes.soft_404 import Soft404Detector
from crawlproject.records import FIRST, LOGGED_IN, PROBE, QUERY, CrawlUrl, Fetch, FetchEvent, Page, Reply
from crawlproject.storage.crawl_files import PROBES
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import host_of
from crawlproject.urls.post import post_of
from crawlproject.webs.page_cache import location

_UNWELCOME = 10_000  # hosts that are remembered for turning a probe away
_ENDED = 10_000  # steps that ended lately: many times as many as can be in flight when a crawl is killed


class Probes(Part):
    """Present where ``CRAWL_CLOAKING_PROBE``, ``CRAWL_LOGIN_PROBE`` or ``CRAWL_SOFT_404_PROBE`` asks for it, or did before:
    earlier findings still hold.

    Probes ``share`` (0 to 1) of the pages for cloaking; ``logged_in`` (0 to 1) of those of hosts with a login, for what the
    login changes; and the hosts that ``missing`` asks. ``seed`` chooses the pages. A probe is fetched before other URLs, since
    its finding serves these. ``publish`` is called with each finding.
    """

    name = "probes"
    _services: Services

    def __init__(
        self,
        *,
        share: float = 0.0,
        logged_in: float = 0.0,
        seed: int = 1,
        missing: Soft404Detector | None = None,
        trust: SiteTrust | None = None,
        log: ProbeLog | None = None,
        publish: Callable[[Finding], object] = lambda finding: None,
    ) -> None:
        self.trust = trust or SiteTrust(self._distrust)
        self.lowered = self.trust.adjusted_score  # type: ignore[method-assign]
        self._share = share
        self._logged_in = logged_in
        self._personalised = SiteTrust()  # how far pages of a site are personalised, by the same sum
        self._seed = seed
        self._missing = missing or Soft404Detector()
        self._log = log
        self._publish = publish
        self._ended: OrderedDict[tuple[str, str], None] = OrderedDict()  # steps with a verdict
        self._unwelcome: OrderedDict[str, None] = OrderedDict()
        self.counts: Counter[str] = Counter()

    @classmethod
    def make(cls, setup: Setup) -> Probes | None:
        options, folder, seed = setup.options.of(ProbeOptions), setup.folder, setup.options.crawl_seed
        share, after = options.crawl_cloaking_probe, options.crawl_soft_404_probe
        logged_in = options.crawl_login_probe
        if not (share or logged_in or after or (folder.path / PROBES).exists()):
            return None

        def publish(finding: Finding) -> None:
            setup.peers.publish(cls.name, finding.url, asdict(finding))

        log = ProbeLog(folder.path)
        folder.beside.append(log)
        missing = Soft404Detector(after=after, seed=seed)
        return cls(share=share, logged_in=logged_in, seed=seed, missing=missing, log=log, publish=publish)

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {PROBE: ProbeHandler(services, self)}

    def learned(self) -> Any:
        return fields_of(self._missing)

    def set_learned(self, learned: Any) -> None:
        set_fields(learned, self._missing)

    def restore(self, now: float) -> None:
        for finding in read_findings(self._services.folder.path):
            self.apply_finding(finding)

    # ------------------------------------------------------------ which are wanted

    def kept(self, page: Page, fetch: Fetch) -> Iterator[CrawlUrl]:
        if not page.is_kept or (self._unwelcome and host_of(page.url) in self._unwelcome):
            return
        post = post_of(page.url)
        repeats = post is None and page.kind != QUERY  # a query is sent once, and says that it is one
        if self._share and repeats and self._is_chosen(page.url) and can_be_judged(page):
            yield self._record(page, page.url, BROWSER, copy_of(page).numbers())
        if self._logged_in and repeats and self._may_be_personalised(page):
            yield self._record(page, page.url, STRANGER, copy_of(page).numbers())
        if url := self._missing.asked_for(post.url if post else page.url):
            yield self._record(page, url, MISSING)

    def _is_chosen(self, url: str) -> bool:
        return is_sampled(url, self._share, self._seed) or self.trust.probes_all_of(url)

    def _may_be_personalised(self, page: Page) -> bool:
        is_one = LOGGED_IN in page.signs and is_sampled(page.url, self._logged_in, self._seed)
        return is_one and can_be_judged(page)

    def _record(self, page: Page, url: str, step: str, numbers: tuple[float, ...] = ()) -> CrawlUrl:
        depth = page.depth + 1
        return CrawlUrl(url, page.score, depth, page.url, inherited=numbers, kind=PROBE, variant=step, precedence=FIRST)

    # ------------------------------------------------------------ what they found

    def answered(self, record: CrawlUrl, answer: ProbeResponse) -> list[CrawlUrl]:
        """Note what a probe found; return the probes that have to follow. Raises ``StorageFailed``."""
        url, step = record.url, record.variant
        page, fetch = record.parent or url, answer.fetch
        then: list[CrawlUrl] = []
        if step == MISSING:
            said = self._missing.judge(url, answer)
        else:
            verdict = judge(step, record.inherited, answer, page)
            said = {"verdict": verdict.verdict, "why": verdict.why}
            said |= {"hidden": round(verdict.hidden, 3), "churn": round(verdict.churn, 3)}
            if verdict.then:
                then.append(replace(record, variant=verdict.then, not_before=0.0, inherited=verdict.copies))
        is_news = self._note(Finding(url, step, page, fetch.at, fetch.seconds, fetch.status, **said))
        return then if is_news else []

    def refused(self, record: CrawlUrl, reason: str) -> None:
        """Note that a probe was not fetched: robots.txt forbids it, or its host was given up."""
        self._note(Finding(record.url, record.variant, record.parent or record.url, 0.0, 0.0, 0, UNDECIDED, reason))

    def _note(self, finding: Finding) -> bool:
        """Record a step. False: it already has its verdict, and was repeated because the crawl was killed."""
        if (finding.url, finding.step) in self._ended:
            return False
        if self._log is not None:
            self._log.append(finding)
        self.apply_finding(finding)
        self._publish(finding)
        return True

    def hear(self, message: Any) -> None:
        """Learn from a step that another worker has ended."""
        finding = Finding(**message)
        if (finding.url, finding.step) not in self._ended:
            self.apply_finding(finding)

    def apply_finding(self, finding: Finding) -> None:
        """Learn from a step of a probe, live or read from ``probes.jsonl``."""
        self.counts["fetches"] += finding.at > 0
        if finding.verdict != OPEN:
            self._ended[finding.url, finding.step] = None
            if len(self._ended) > _ENDED:
                self._ended.popitem(last=False)
            kind = "login" if finding.step in ABOUT_LOGINS else "missing" if finding.step == MISSING else "cloaking"
            self.counts[f"{kind}/{finding.verdict}"] += 1
        if finding.unwelcome:
            self._unwelcome[host_of(finding.url)] = None
            if len(self._unwelcome) > _UNWELCOME:
                self._unwelcome.popitem(last=False)
        if finding.step == MISSING:
            self._missing.learn(finding)
        elif finding.step in ABOUT_LOGINS and finding.verdict in (PERSONALISED, HONEST):
            self._personalised.add(finding.page, cloaked=finding.verdict == PERSONALISED)
        elif finding.verdict in (CLOAKED, HONEST):
            self.trust.add(finding.page, cloaked=finding.verdict == CLOAKED)

    # ------------------------------------------------------------ what that means

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """Mark soft 404s as no content, personalised pages by a sign, and pages of distrusted sites as spam."""
        if self._missing.is_page(page):
            return replace(page, page_type=SOFT_404)
        if LOGGED_IN in page.signs and (degree := self._personalised.distrust(page.url)):
            page = replace(page, signs={**page.signs, PERSONALISED: round(degree, 3)})
        return self.trust.marked(page)

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number == 1 and event.visit.md5:
            self._missing.count(event.visit.url)

    def redirected(self, url: CrawlUrl, target: str) -> str:
        """``SOFT_404`` if the redirect is the host's answer for missing pages; else empty."""
        return SOFT_404 if self._missing.is_redirect(url, target) else ""

    def counters(self) -> dict[str, int]:
        """Over all resumes: fetches, and verdicts of each kind of probe."""
        return {f"probes/{name}": count for name, count in self.counts.items()}

    def _distrust(self, site: str, degree: float) -> None:
        for part in self._services.parts:
            part.distrusted(site, degree)


class ProbeHandler(Handler):
    """Fetches and ends probes. What a probe finds goes into a separate log, and the probes that follow into the frontier."""

    def __init__(self, services: Services, probes: Probes) -> None:
        self._canonicalize = services.canonicalize
        self._frontier = services.frontier
        self._options = services.options.of(ProbeOptions)
        self._probes = probes
        self._rules = services.admission.rules
        self._steps = services.steps

    def offer(self, url: CrawlUrl) -> bool:
        return self._frontier.put(url)

    def late_refusal(self, url: CrawlUrl) -> str:
        return self._rules.late_refusal(url.url)

    def plan(self, url: CrawlUrl) -> FetchPlan:
        if url.variant not in DISGUISED:
            return FetchPlan(one_try=True, without_login=url.variant in WITHOUT_LOGIN)
        own = self._options
        return FetchPlan(user_agent=own.crawl_cloaking_agent, proxy=own.crawl_cloaking_proxy, one_try=True)

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> None:
        if href := location(reply):
            self.redirect(url, canonical_or_none(self._canonicalize, href, url.url) or "", fetch)
        elif error := why_no_page(reply, self._steps.content_types):
            self.fail(url, error, fetch)
        else:
            content_type = reply.headers.get("content-type", "")
            page = page or self._steps.read(url, reply.body, content_type=content_type)
            self._end(url, ProbeResponse(fetch, page, page.redirect))

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        self._end(url, ProbeResponse(fetch, error=error))

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        self._probes.refused(url, reason)
        self._frontier.drop(url.key, picked=reason == UNREACHABLE)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """The redirect is the answer: it is not followed."""
        self._end(url, ProbeResponse(fetch, redirect=target, error="" if target else "redirect to no URL"))
        return False

    def _end(self, url: CrawlUrl, answer: ProbeResponse) -> None:
        following = self._probes.answered(url, answer)
        least = self._options.crawl_blocked_rest if answer.blocks else 0.0
        rests_from = answer.fetch.at + max(answer.fetch.asked_rest, least)
        with self._frontier.batch():
            self._frontier.put_many(following)
            self._frontier.done(url.key, rests_from, answer.fetch.seconds)
