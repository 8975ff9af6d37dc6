"""What is known of a page that is visited again: its visits so far, and when the next one is due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from crawlproject.pages.text.printable import counted
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.outcomes import replay_policy
from crawlproject.parts.revisits.shared_records import SHARED, revisit_key
from crawlproject.records import SAME, CrawlUrl, Visit
from crawlproject.reports.console import in_words, moment
from crawlproject.reports.why.asked import Asked, options_of
from crawlproject.reports.why.lookup import UrlStatus
from crawlproject.storage.read import CrawlInfo

SHOWN = 10  # changes that are listed, the latest ones

_FAR = 5 * 365.25 * 86_400.0  # seconds: never


def sentences(asked: Asked) -> Iterator[str]:
    """The visits to a page, and the next one. Raises ``BadCrawlDir``."""
    folder, url, find = asked.folder, asked.found.url, asked.find
    coming = next_visit(folder, asked.info, url, find) if asked.found.visit and find else None
    yield from visit_sentences(asked.found, coming, asked.now)


@dataclass(frozen=True, slots=True)
class NextVisit:
    """``due`` in seconds since the epoch; ``evidence`` as the policy explains it."""

    due: float
    evidence: Mapping[str, float]


def next_visit(
    folder: Path, info: CrawlInfo, url: str, find: Callable[[str], tuple[str, CrawlUrl | None]]
) -> NextVisit | None:
    """When a page is visited again; None when no visit of it waits, or pages are not visited again. Raises ``BadCrawlDir``.

    ``find`` gives the state and the record of a key in the frontier.
    """
    options = options_of(info).of(RevisitOptions)
    if not options.crawl_revisit:
        return None
    replayed = replay_policy(folder, options)
    page = replayed.find(url)
    shared = options.frontier == "redis"
    state, record = find(revisit_key(url, SHARED if shared else str(page.row))) if page else ("", None)
    if page is None or record is None or state != "waiting":
        return None
    return NextVisit(record.not_before, replayed.policy.explain(page.row))


def visit_sentences(found: UrlStatus, coming: NextVisit | None, now: float) -> Iterator[str]:
    """The visits so far, the changes, and the next visit with its reasons."""
    if found.again:
        counts = Counter(visit.change or "failed" for visit in found.again)
        shown = ", ".join(f"{count:,} {change}" for change, count in counts.most_common())
        yield f"Visited again {counted(len(found.again), 'time')}: {shown}. Last: {moment(found.again[-1].at)}."
        changes = [visit for visit in found.again if visit.change not in ("", SAME)]
        yield from map(_change, changes[-SHOWN:])
    if coming is None:
        return
    if coming.due > now + _FAR:
        yield "Next visit: none is planned, other pages are worth more."
    elif coming.due <= now:
        yield "Next visit: due now."
    else:
        yield f"Next visit: {moment(coming.due)}, in {in_words(coming.due - now)}."
    if coming.evidence:
        facts = ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in coming.evidence.items())
        yield f"That rests on: {facts}."


def _change(visit: Visit) -> str:
    new = f", {visit.novelty:.0%} of the text" if visit.novelty else ""
    target = f" to {visit.redirect}" if visit.redirect else ""
    return f"  {moment(visit.at)}: {visit.change}{target}{new}"
