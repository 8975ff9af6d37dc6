"""What probes have found about a page, its site and its host."""

from __future__ import annotations

from collections.abc import Iterator

from crawlproject.parts.probes.probe_log import (
    ABOUT_LOGINS,
    CLOAKED,
    HONEST,
    MADE_UP,
    MISSING,
    OPEN,
    PERSONALISED,
    Finding,
    read_findings,
)
from crawlproject.parts.probes.report import ProbedSite, describe_answer
from crawlproject.reports.why.asked import Asked
from crawlproject.urls.hosts import domain_of, host_of


def sentences(asked: Asked) -> Iterator[str]:
    """The findings; none when nothing was probed. Raises ``BadCrawlDir``."""
    url = asked.found.url
    site = ProbedSite(domain_of(url))
    for finding in read_findings(asked.folder):
        if finding.step == MISSING:
            if finding.verdict == MADE_UP and host_of(finding.url) == host_of(url):
                yield f"Soft 404: its host answers {finding.url}, which does not exist, with {describe_answer(finding)}."
            continue
        if finding.verdict == OPEN:
            continue
        if domain_of(finding.page) == site.site and finding.step not in ABOUT_LOGINS:
            site.add(finding)
        if finding.page == url:
            yield _verdict(finding)
    if site.cloaked:
        yield (
            f"Probes of {site.site} found {site.cloaked:,} cloaked and {site.honest:,} honest pages; "
            f"the most cloaked one is {site.sample}, which hides {site.hidden:.0%} of its {site.why}."
        )


def _verdict(finding: Finding) -> str:
    if finding.verdict == CLOAKED:
        return f"Probed: cloaked. {finding.hidden:.0%} of its {finding.why} is shown to the crawler only, not to a browser."
    if finding.verdict == PERSONALISED:
        return (
            f"Probed: personalised. {finding.hidden:.0%} of its {finding.why} is shown only to those who are logged in."
        )
    if finding.verdict == HONEST and finding.step in ABOUT_LOGINS:
        return "Probed: without the login the same page is shown."
    if finding.verdict == HONEST:
        return "Probed: a browser is shown the same page."
    return f"Probed: undecided ({finding.why})."
