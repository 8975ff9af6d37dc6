"""What the probes of a crawl found: sites that cloak, hosts with soft 404s, and the findings about one URL."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawlproject.options import Options
from crawlproject.parts.probes.probe_log import (
    ABOUT_LOGINS,
    CLOAKED,
    HONEST,
    MADE_UP,
    MISSING,
    OPEN,
    Finding,
    read_findings,
)
from crawlproject.urls.hosts import domain_of, host_of


@dataclass(slots=True)
class ProbedSite:
    """A probed site; ``hidden`` is the largest share of a page that is hidden from a browser, found on ``sample``."""

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
    """Counts of probe ``fetches``, and by verdict of ``pages`` probed for cloaking, of ``logins``, which are pages probed without
    the login of their host, and of ``hosts`` probed for soft 404s; the ``cloaking`` sites, those with the most cloaked pages
    first; the hosts with ``soft_404`` pages and what they answer."""

    fetches: int = 0
    pages: Counter[str] = field(default_factory=Counter)
    logins: Counter[str] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)
    cloaking: list[ProbedSite] = field(default_factory=list)
    soft_404: list[tuple[str, str]] = field(default_factory=list)


def report(folder: Path, options: Options, threshold: float) -> dict[str, Any]:
    """``probed``: None when nothing was. Raises ``BadCrawlDir``."""
    return {"probed": read_probes(folder)}


def read_probes(folder: Path) -> ProbeFindings | None:
    """Summarise the findings; None when nothing was probed. Raises ``BadCrawlDir`` for a damaged file."""
    found = ProbeFindings()
    sites: dict[str, ProbedSite] = {}
    for finding in read_findings(folder):
        found.fetches += finding.at > 0
        if finding.step == MISSING:
            found.hosts[finding.verdict] += 1
            if finding.verdict == MADE_UP:
                found.soft_404.append((host_of(finding.url), describe_answer(finding)))
        elif finding.verdict != OPEN and finding.step in ABOUT_LOGINS:
            found.logins[finding.verdict] += 1
        elif finding.verdict != OPEN:
            found.pages[finding.verdict] += 1
            site = domain_of(finding.page)
            sites.setdefault(site, ProbedSite(site)).add(finding)
    found.cloaking = sorted((s for s in sites.values() if s.cloaked), key=lambda s: (-s.cloaked, s.honest, s.site))
    return found if found.pages or found.logins or found.hosts else None


def describe_answer(finding: Finding) -> str:
    """The answer of a host to a request for a page that does not exist."""
    return f"a redirect to {finding.redirect}" if finding.redirect else f"a page, “{finding.title[:80]}”"
