"""Why a host waits: it refused the crawler, or does not answer, or the budget of its site is spent."""

from __future__ import annotations

from pathlib import Path

from crawlproject.core.replay import InStep
from crawlproject.parts.sites.part import make_tracker
from crawlproject.records import FetchEvent, Visit
from crawlproject.reports.why.asked import options_of
from crawlproject.storage.read import read_info, read_links, read_visits
from crawlproject.urls.hosts import host_of, registrable_domain


def why_waits(folder: Path, host: str, now: float) -> str:
    """The reason, as the end of a sentence, or nothing: the accounts of sites are computed again, from history and links.

    A few tenths of a millisecond a fetch. Raises ``BadCrawlDir``.
    """
    info = read_info(folder)
    options = options_of(info)
    tracker = make_tracker(info.seeds, options, alone=options.frontier != "redis")
    links, latest = InStep(read_links(folder)), Visit("", 200, 0.0)
    for visit in read_visits(folder):
        event = FetchEvent(visit, links.of(visit.url))
        (tracker if visit.number == 1 else tracker.hosts).learn(event)
        if host_of(visit.url) == host:
            latest = visit
    if tracker.hosts.rests_until(f"http://{host}/") > now:
        return f"it refused the crawler ({latest.error}), and rests"
    if latest.status == 0:
        return f"it does not answer ({latest.error})" if latest.url else ""
    name = registrable_domain(host)
    site, sites = tracker.sites.site(f"http://{host}/"), tracker.sites
    if not sites.share:
        return ""
    used = site.fetches if site else 0.0
    if sites.is_rationed(site):
        return f"only one other site links to its site {name}, and such sites have had their part of the fetches"
    earned = sites.budget(site)
    if used < earned:
        return ""
    return f"its site {name} is over budget, with {used:.1f} fetches of the {earned:.1f} that it has earned"
