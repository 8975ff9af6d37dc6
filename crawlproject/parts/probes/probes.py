"""The probes of a crawl: which are wanted, what their answers say, and what that means for the pages that follow.

A probe is a record in the frontier, so it waits for its host's turn like any URL. It knows what it is for from its
variant, its parent and the numbers that it carries. What it found is a line of ``probes.jsonl``.

The distrust of a site is ``cloaked / (probes + 1)`` of its latest probes, so that one finding makes it one half, a second two
thirds, and each honest page lowers it; it is 0 when all of the latest were honest. All pages of a distrusted site are probed for
a while: until it is known for what it is, and when it may be better than that, until the distrust is gone.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

from crawlproject.pages.page_types import SOFT_404
from crawlproject.parts.probes.cloaking import can_be_judged, copy_of, is_sampled, judge
from crawlproject.parts.probes.probe_log import (
    BROWSER,
    CLOAKED,
    HONEST,
    MISSING,
    OPEN,
    UNDECIDED,
    Finding,
    ProbeResponse,
)
from crawlproject.parts.probes.soft_404 import Soft404Detector
from crawlproject.records import FIRST, PROBE, CrawlUrl, Fetch, FetchEvent, Page
from crawlproject.urls.hosts import domain_of, host_of
from crawlproject.urls.post import post_of

CLOAKED_SIGN = "cloaked"  # name of the sign: how much the site of a page was distrusted when it was fetched, 0 to 1
REMEMBERED = 8  # probes of a site that count: the latest
CLOSELY = 5  # probes of a distrusted site until which each of its pages is probed
SLIGHT = 0.3  # distrust below which each of its pages is probed however many there were: it may have been a false alarm

_UNWELCOME = 10_000  # hosts that turned a probe away and are remembered
_ENDED = 10_000  # steps that ended lately: many times what can be in flight when a crawl is killed
_SITES = 20_000  # sites that are remembered: those probed last


class Log(Protocol):
    """Where findings are written."""

    def append(self, finding: Finding) -> None: ...
    def close(self) -> None: ...


class Probes:
    """Probes of ``share`` (0 to 1) of the pages for cloaking, chosen by ``seed``, and of the hosts that ``missing`` asks.

    A probe is fetched before other URLs, as its finding serves these. ``publish`` is called with what is found.
    Nothing happens when nothing is asked for.
    """

    def __init__(
        self,
        *,
        share: float = 0.0,
        seed: int = 1,
        missing: Soft404Detector | None = None,
        trust: SiteTrust | None = None,
        log: Log | None = None,
        publish: Callable[[Finding], object] = lambda finding: None,
    ) -> None:
        self.trust = trust or SiteTrust()
        self._share = share
        self._seed = seed
        self._missing = missing or Soft404Detector()
        self._log = log
        self._publish = publish
        self._ended: OrderedDict[tuple[str, str], None] = OrderedDict()  # steps with a verdict
        self._unwelcome: OrderedDict[str, None] = OrderedDict()
        self.counts: Counter[str] = Counter()

    # ------------------------------------------------------------ which are wanted

    def wanted(self, page: Page) -> Iterator[CrawlUrl]:
        """The probes that are to wait now that ``page`` was kept."""
        if not page.is_kept or (self._unwelcome and host_of(page.url) in self._unwelcome):
            return
        post = post_of(page.url)
        if self._share and post is None and self._is_chosen(page.url) and can_be_judged(page):
            yield self._record(page, page.url, BROWSER, copy_of(page).numbers())
        if url := self._missing.asked_for(post.url if post else page.url):
            yield self._record(page, url, MISSING)

    def _is_chosen(self, url: str) -> bool:
        return is_sampled(url, self._share, self._seed) or self.trust.probes_all_of(url)

    def _record(self, page: Page, url: str, step: str, numbers: tuple[float, ...] = ()) -> CrawlUrl:
        depth = page.depth + 1
        return CrawlUrl(url, page.score, depth, page.url, inherited=numbers, kind=PROBE, variant=step, precedence=FIRST)

    # ------------------------------------------------------------ what they found

    def answered(self, record: CrawlUrl, answer: ProbeResponse) -> list[CrawlUrl]:
        """A probe came back: what it found is noted, and what has to follow is returned. Raises ``StorageFailed``."""
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
        """A probe was not fetched: robots.txt forbids it, or its host was given up."""
        self._note(Finding(record.url, record.variant, record.parent or record.url, 0.0, 0.0, 0, UNDECIDED, reason))

    def _note(self, finding: Finding) -> bool:
        """Write down a step. False: it has its verdict, and was taken again because the crawl was killed."""
        if (finding.url, finding.step) in self._ended:
            return False
        if self._log is not None:
            self._log.append(finding)
        self.apply_finding(finding)
        self._publish(finding)
        return True

    def apply_finding_of_another(self, finding: Finding) -> None:
        """Learn from a step of a probe of another worker, once."""
        if (finding.url, finding.step) not in self._ended:
            self.apply_finding(finding)

    def apply_finding(self, finding: Finding) -> None:
        """Learn from a step of a probe, live or read from ``probes.jsonl``."""
        self.counts["fetches"] += finding.at > 0
        if finding.verdict != OPEN:
            self._ended[finding.url, finding.step] = None
            if len(self._ended) > _ENDED:
                self._ended.popitem(last=False)
            kind = "missing" if finding.step == MISSING else "cloaking"
            self.counts[f"{kind}/{finding.verdict}"] += 1
        if finding.unwelcome:
            self._unwelcome[host_of(finding.url)] = None
            if len(self._unwelcome) > _UNWELCOME:
                self._unwelcome.popitem(last=False)
        if finding.step == MISSING:
            self._missing.learn(finding)
        elif finding.verdict in (CLOAKED, HONEST):
            self.trust.add(finding.page, cloaked=finding.verdict == CLOAKED)

    # ------------------------------------------------------------ what that means

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        """The page of a host that says so of what is not there is none; that of a distrusted site looks like spam."""
        if self._missing.is_page(page):
            return replace(page, page_type=SOFT_404)
        return self.trust.marked(page)

    def learn(self, event: FetchEvent) -> None:
        """Count the stored pages of each host."""
        if event.visit.md5:
            self._missing.count(event.visit.url)

    def is_soft_404(self, url: CrawlUrl, target: str) -> bool:
        """Whether a redirect to ``target`` is how the host says that ``url`` is not there."""
        return self._missing.is_redirect(url, target)

    def stats(self) -> dict[str, int]:
        """Counters over all resumes: fetches, and verdicts of each kind of probe."""
        return {f"probes/{name}": count for name, count in self.counts.items()}

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()


class SiteTrust:
    """Learns from probes. ``changed`` is called with a registrable domain and its distrust, 0 to 1."""

    def __init__(self, changed: Callable[[str, float], object] = lambda site, distrust: None) -> None:
        self._changed = changed
        self._sites: OrderedDict[str, tuple[bool, ...]] = OrderedDict()  # probes of a site, True: cloaked
        self._distrusted: dict[str, float] = {}

    def add(self, url: str, *, cloaked: bool) -> None:
        """A page was probed to the end."""
        site = domain_of(url)
        probes = (*self._sites.pop(site, ()), cloaked)[-REMEMBERED:]
        self._sites[site] = probes
        self._set(site, sum(probes) / (len(probes) + 1))
        if len(self._sites) > _SITES:
            self._set(self._sites.popitem(last=False)[0], 0.0)

    def distrust(self, url: str) -> float:
        """The distrust of the site of a canonical URL, 0 to 1."""
        return self._distrusted.get(domain_of(url), 0.0) if self._distrusted else 0.0

    def probes_all_of(self, url: str) -> bool:
        """Whether every page of the site is to be probed: it is distrusted slightly, or after a few probes."""
        distrust = self.distrust(url)
        return distrust > 0.0 and (distrust < SLIGHT or len(self._sites[domain_of(url)]) < CLOSELY)

    def marked(self, page: Page) -> Page:
        """The page with the distrust of its site as spam and as a sign."""
        distrust = self.distrust(page.url)
        if not distrust:
            return page
        spam = round(1.0 - (1.0 - page.spam) * (1.0 - distrust), 3)
        return replace(page, spam=spam, signs={**page.signs, CLOAKED_SIGN: round(distrust, 3)})

    def adjusted_score(self, url: str, score: float) -> float:
        """The part of a score that is trusted; of one that is below 0, as many times more."""
        distrust = self.distrust(url)
        if not distrust:
            return score
        return score * (1.0 - distrust) if score > 0 else score / (1.0 - distrust)

    def _set(self, site: str, distrust: float) -> None:
        if distrust == self._distrusted.get(site, 0.0):
            return
        if distrust:
            self._distrusted[site] = distrust
        else:
            del self._distrusted[site]
        self._changed(site, distrust)
