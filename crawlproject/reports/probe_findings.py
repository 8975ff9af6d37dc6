"""What the probes of a crawl found: sites that cloak, hosts that answer for what is not there, and what is said of one URL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crawlproject.storage.probe_log import CLOAKED, HONEST, MADE_UP, OPEN, Finding, read_findings
from crawlproject.urls.domains import domain_of
from crawlproject.urls.hosts import host_of

MISSING = "missing"  # the step that asks for a page that is not there


@dataclass(slots=True)
class ProbedSite:
    """A site of which pages were found cloaked; ``hidden`` is the largest share that a browser is not shown, on ``sample``."""

    site: str
    cloaked: int = 0
    honest: int = 0
    hidden: float = 0.0
    why: str = ""
    sample: str = ""

    def add(self, finding: Finding) -> None:
        self.cloaked += finding.verdict == CLOAKED
        self.honest += finding.verdict == HONEST
        if finding.verdict == CLOAKED and finding.hidden >= self.hidden:
            self.hidden, self.why, self.sample = finding.hidden, finding.why, finding.page


@dataclass(slots=True)
class ProbeFindings:
    """``fetches`` of probes; ``pages`` probed for cloaking and ``hosts`` asked, by verdict; ``cloaking`` sites, the most
    often found first; ``answering``: hosts that answer for what is not there, with how they do.
    """

    fetches: int = 0
    pages: Counter[str] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)
    cloaking: list[ProbedSite] = field(default_factory=list)
    answering: list[tuple[str, str]] = field(default_factory=list)


def probed(folder: Path) -> ProbeFindings | None:
    """What was found; None when nothing was probed. Raises ``BadCrawlDir`` for a damaged file."""
    found = ProbeFindings()
    sites: dict[str, ProbedSite] = {}
    for finding in read_findings(folder):
        found.fetches += finding.at > 0
        if finding.step == MISSING:
            found.hosts[finding.verdict] += 1
            if finding.verdict == MADE_UP:
                found.answering.append((host_of(finding.url), answer_in_words(finding)))
        elif finding.verdict != OPEN:
            found.pages[finding.verdict] += 1
            site = domain_of(finding.page)
            sites.setdefault(site, ProbedSite(site)).add(finding)
    found.cloaking = sorted((s for s in sites.values() if s.cloaked), key=lambda s: (-s.cloaked, s.honest, s.site))
    return found if found.pages or found.hosts else None


def findings_about(folder: Path, url: str) -> list[str]:
    """What probes of a page, of its site and of its host found, in sentences; none when there were none."""
    return list(_sentences(list(read_findings(folder)), url))


def answer_in_words(finding: Finding) -> str:
    """How a host answers for what is not there."""
    return f"a redirect to {finding.redirect}" if finding.redirect else f"a page, “{finding.title[:80]}”"


def _sentences(findings: Iterable[Finding], url: str) -> Iterator[str]:
    site = ProbedSite(domain_of(url))
    for finding in findings:
        if finding.step == MISSING:
            if finding.verdict == MADE_UP and host_of(finding.url) == host_of(url):
                yield f"Its host answers for what is not there: {answer_in_words(finding)} (asked for {finding.url})."
            continue
        if finding.verdict == OPEN:
            continue
        if domain_of(finding.page) == site.site:
            site.add(finding)
        if finding.page == url:
            yield _verdict(finding)
    if site.cloaked:
        yield (
            f"Of {site.site}, {site.cloaked:,} pages were found cloaked and {site.honest:,} honest; "
            f"{site.sample} the most: {site.hidden:.0%} of its {site.why}."
        )


def _verdict(finding: Finding) -> str:
    if finding.verdict == CLOAKED:
        return f"Probed: it is cloaked. {finding.hidden:.0%} of its {finding.why} that we are shown no browser is."
    if finding.verdict == HONEST:
        return "Probed: a browser is shown the same."
    return f"Probed: nothing can be told ({finding.why})."
