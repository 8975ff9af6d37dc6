"""``report.json``: the numbers of a report, how each is counted, and the lines of the crawl folder that were counted."""

from __future__ import annotations

from typing import Any, NamedTuple

from crawlproject.reports.problems import LINES, LineSample
from crawlproject.reports.summary import CrawlSummary

EVIDENCE = "report.json"
EVIDENCE_SIGNS = (b'{"numbers":[{"anchor":',)


class Number(NamedTuple):
    """A number of the report: anchor, name, value, ``how`` it is counted, and a shell command that counts it ``again``."""

    anchor: str
    name: str
    value: float | None
    how: str
    again: str = ""


def numbers(summary: CrawlSummary, threshold: float) -> list[Number]:
    """The headline numbers."""
    relevant = summary.relevant(threshold)
    stored = """select(.md5 != "" and (.number // 1) == 1)"""
    again = Number(
        "revisits", "fetches of known pages", summary.revisits, "lines of history.jsonl with a number above 1",
        "jq -r 'select((.number // 1) > 1) | .url' history.jsonl | wc -l",
    )  # fmt: skip
    return [
        Number(
            "pages", "pages stored", summary.pages, "lines of history.jsonl with an md5, each md5 once",
            f"jq -r '{stored} | .md5' history.jsonl | sort -u | wc -l",
        ),
        Number(
            "harvest", "relevant pages", relevant, f"those of them with a relevance of at least {threshold:g}",
            f"jq -r '{stored} | select(.relevance >= {threshold:g}) | .md5' history.jsonl | sort -u | wc -l",
        ),
        Number(
            "relevance", "mean relevance", summary.mean_relevance if summary.pages else None,
            "mean of relevance over these pages",
            f"jq -s 'map({stored} | .relevance) | add / length' history.jsonl",
        ),
        Number("fetches", "fetches", summary.fetches, "lines of history.jsonl", "wc -l < history.jsonl"),
        *([again] if summary.revisits else []),
        Number(
            "visited", "hosts visited", summary.hosts, "hosts of all URLs in history.jsonl",
            "jq -r .url history.jsonl | cut -d/ -f3 | cut -d: -f1 | sort -u | wc -l",
        ),
        Number(
            "time", "crawling time in seconds", summary.active if summary.fetches else None,
            "from the first fetch to the last, by at and seconds in history.jsonl, without breaks of more than ten minutes",
        ),
        Number("speed", "pages a second", summary.pages_per_second, "pages stored divided by the crawling time"),
        Number(
            "copies-counted", "duplicates of other pages", summary.problems.copies.count, "stored pages with a duplicate_of",
            f"""jq -r '{stored} | select((.duplicate_of // "") != "") | .md5' history.jsonl | sort -u | wc -l""",
        ),
    ]  # fmt: skip


def evidence(summary: CrawlSummary, threshold: float) -> dict[str, Any]:
    """Every count of the report, with the numbers (from 1) of the first ``LINES`` lines of ``history.jsonl`` behind it."""
    problems = summary.problems
    return {
        "numbers": [number._asdict() for number in numbers(summary, threshold)],
        "lines_listed": LINES,
        "best": [
            {"line": line, "url": visit.url, "relevance": visit.relevance}
            for line, visit in zip(summary.best_lines, summary.best, strict=True)
        ],
        "hosts": [host._asdict() for host in summary.every_host],
        "too_soon": _lines(summary.early),
        "failures": {failure.kind: _lines(failure.lines) for failure in problems.failures},
        "redirects": _lines(problems.redirects),
        "fetched_again": _lines(problems.refetched),
        "copies": {**_lines(problems.copies), "originals": dict(problems.originals)},
        "spam": {
            **_lines(problems.spam),
            "worst": [{"line": line, "url": visit.url, "spam": visit.spam} for line, visit in problems.spammy],
        },
        "farms": _lines(problems.farmed),
    }


def _lines(lines: LineSample) -> dict[str, Any]:
    return {"count": lines.count, "lines": lines.first}
