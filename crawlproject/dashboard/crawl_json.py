"""What the dashboard shows of a crawl, as plain values for JSON. It shows texts of the web as text, never as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from crawlproject.reports.html import clip, is_web
from crawlproject.reports.live_summary import FoundPage, LiveSummary
from crawlproject.storage.logs import PageChange
from crawlproject.storage.read import CrawlInfo

if TYPE_CHECKING:
    from crawlproject.adapters.seed_search import SeedsFound

KINDS = 12  # kinds of failures and reasons of refusals that are listed
_TITLE, _URL = 200, 500  # characters


def crawl_document(info: CrawlInfo, trail: LiveSummary) -> dict[str, Any]:
    """The topic, the ordering, and the numbers of the history so far."""
    return {
        "topic": clip(info.topic, _TITLE),
        "keywords": [clip(keyword, _TITLE) for keyword in info.keywords[:20]],
        "ordering": info.ordering,
        "budget": int(info.number("CRAWL_MAX_PAGES", 0)),
        "started": info.started,
        "finished": info.finished,
        "reason": info.reason,
        "pages": trail.pages,
        "fetches": trail.fetches,
        "relevant": trail.relevant,
        "harvest": trail.harvest,
        "recent": trail.recent,
        "mean_relevance": trail.relevance / trail.pages if trail.pages else None,
        "duplicates": trail.duplicates,
        "redirects": trail.redirects,
        "hosts": trail.hosts,
        "bytes": trail.size,
        "last_at": trail.last_at,
        "curve": [(pages, round(so_far, 4), round(latest, 4)) for pages, so_far, latest in trail.curve],
        "best": [_page(found) for found in trail.best()],
        "latest": [_fetch(found) for found in reversed(trail.latest)],
        "busiest": [
            {"host": clip(line.host, 100), "pages": line.pages, "fetches": line.fetches, "relevance": line.mean_relevance,
             "gap": line.smallest_gap, "too_soon": line.too_soon, "crawl_delay": line.crawl_delay, "blocks": line.blocks}
            for line in trail.busiest()
        ],
        "failures": counted(trail.failures),
        "failed": trail.failures.total(),
        "politeness": {
            "gaps": trail.gaps, "too_soon": trail.too_soon, "smallest": trail.smallest_gap,
            "min_delay": info.number("POLITENESS_MIN_DELAY", 0.0), "factor": info.number("POLITENESS_FACTOR", 0.0),
        },
        "agents": [
            {"number": agent.number, "pages": agent.pages, "relevant": agent.relevant,
             "relevance": agent.relevance / agent.pages, "best": [_page(found) for found in agent.best]}
            for agent in trail.agents()
        ],
    }  # fmt: skip


def seeds_document(found: SeedsFound) -> dict[str, Any]:
    """Seeds that were found, each with its title and where it is from."""
    return {
        "seeds": [
            {
                "url": seed.url,
                "web": is_web(seed.url),
                "title": clip(seed.title, _TITLE),
                "source": clip(seed.source, 100),
            }
            for seed in found.seeds
        ],
        "notes": [clip(note, _URL) for note in found.notes],
    }


def changes_document(found: Iterable[PageChange]) -> list[dict[str, Any]]:
    """What has become of pages that were visited again, with the first passage that was added and the first removed."""
    return [
        {
            "url": clip(change.url, _URL),
            "web": is_web(change.url) and len(change.url) <= _URL,
            "title": clip(change.title, _TITLE),
            "change": clip(change.change, 40),
            "at": change.at,
            "novelty": change.novelty,
            "target": clip(change.target, _URL),
            "added": clip(next(iter(change.added), ""), _TITLE),
            "removed": clip(next(iter(change.removed), ""), _TITLE),
        }
        for change in found
    ]


def counted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent kinds with their counts, the rest as one."""
    ranked: Iterable[tuple[str, int]] = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ranked = [(clip(kind, 120), count) for kind, count in ranked]
    rest = sum(count for _, count in ranked[KINDS:])
    return ranked[:KINDS] + ([("other", rest)] if rest else [])


def _page(found: FoundPage) -> dict[str, Any]:
    visit = found.visit
    return {
        **_fetch(found),
        "parent": clip(visit.parent, _URL) if visit.parent else None,
        "anchor": clip(visit.anchor, _TITLE),
        "depth": visit.depth,
    }


def _fetch(found: FoundPage) -> dict[str, Any]:
    visit = found.visit
    outcome = "" if visit.md5 else visit.error or ("redirect" if visit.redirect else f"http {visit.status}")
    return {
        "number": found.number,
        "url": clip(visit.url, _URL),
        "web": is_web(visit.url) and len(visit.url) <= _URL,
        "title": clip(visit.title, _TITLE),
        "relevance": visit.relevance,
        "at": visit.at,
        "agent": found.agent,
        "outcome": clip(outcome, 120),
    }
