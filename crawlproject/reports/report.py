"""Writes ``report.html`` and ``report.json`` of a crawl folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from crawlproject.evaluation.measures import final_url, search_length, target_recall
from crawlproject.evaluation.runs import RunFolder, load_run
from crawlproject.parts.registry import modules_beside
from crawlproject.reports import html, plots
from crawlproject.reports.evidence import EVIDENCE, EVIDENCE_SIGNS, evidence, excerpts, numbers
from crawlproject.reports.plots import Chart
from crawlproject.reports.summary import CrawlSummary, summarise
from crawlproject.reports.tallies import SPAM
from crawlproject.reports.why.asked import options_of
from crawlproject.reports.why.lookup import paths_to
from crawlproject.storage.crawl_files import REPORT, REPORT_SIGNS, replace_signed
from crawlproject.storage.read import CrawlInfo, read_info, read_refused, read_visits

_TARGETS = 100  # targets listed
_VIRTUAL = 86_400.0  # seconds; the clock of a rehearsal starts at 0, on the first day of 1970

_ENDINGS = {
    "": "the crawl is running, or was killed and can be resumed",
    "finished": "nothing was left to fetch",
    "page budget": "the page budget was spent",
    "round over": "the round of visits to known pages was done",
    "topics have enough": "each topic has as many relevant pages as it wanted",
    "topic left": "the topic left the crawl, which may go on with others",
    "time budget": "the time budget was spent",
    "saturated": "the crawl was saturated: it found little, and the waiting URLs promised little",
    "frontier empty": "nothing was left to fetch",
    "shutdown": "it was interrupted, and can be resumed",
    "no network": "no host answered any more; the crawl can be resumed",
    "storage_failed": "a write to the disk failed, or the server of the frontier; the crawl can be resumed",
    "output_failed": "the items could not be written out any more; the crawl can be resumed",
    "out_of_memory": "its memory was used up; the crawl can be resumed",
    "memusage_exceeded": "it used more memory than MEMUSAGE_LIMIT_MB; the crawl can be resumed",
    "failed": "the program failed, as the console said; the crawl can be resumed",
    "closespider_pagecount": "the limit of responses was reached",
    "closespider_itemcount": "the limit of items was reached",
    "closespider_timeout": "the time limit was reached",
    "closespider_errorcount": "the limit of errors was reached",
}
_WAITING = {
    "in_turn": "in the order of their scores",
    "held": "until a time that their servers asked for",
    "again": "to be visited again when they are due",
    "over_budget": "behind these: their sites have used up the fetches that they have earned (those that waste time: last)",
    "uninformative": "behind these: their like brought nothing new (a calendar may go on so for ever), or they are copies by a "
    "learned rule, older versions, or links of copies",
    "not_counted": "not looked at",
}  # the kinds of waiting URLs in ``CrawlStats.waiting_by_class``, in the order in which they are fetched
CUT_SHORT = {
    "",
    "shutdown",
    "no network",
    "storage_failed",
    "output_failed",
    "out_of_memory",
    "memusage_exceeded",
    "failed",
}  # finish reasons of crawls that can be resumed


@dataclass(frozen=True, slots=True)
class TargetReport:
    """Target recall of one crawl. ``found`` holds pairs of position in the crawl and target, in crawl order.

    ``reachable`` is the number of targets that the seeds lead to, if that is known, else of all targets.
    """

    total: int
    reachable: int
    found: Sequence[tuple[int, str]]
    missing: Sequence[str]
    search_lengths: Mapping[float, int | None]
    chart: Chart | None

    @property
    def recall(self) -> float:
        return len(self.found) / self.total


def write_report(crawl_dir: Path) -> Path:
    """Write ``report.html`` and ``report.json`` into a crawl folder from its files; return the path of ``report.html``.

    Works at any time: during the crawl, after a crash, on an empty history. Raises ``BadCrawlDir`` for a folder without
    a crawl or a damaged one, ``StorageFailed`` if a write fails.
    """
    info = read_info(crawl_dir)
    summary = summarise(read_visits(crawl_dir), info)
    threshold = info.threshold
    found = orjson.dumps(evidence(summary, threshold), option=orjson.OPT_APPEND_NEWLINE)
    budget = int(info.number("CRAWL_MAX_PAGES", 0))
    page = html.render(
        "report.html.j2",
        info=info,
        ending=ending(info, summary.pages >= budget > 0),
        cut_short=info.reason in CUT_SHORT,
        numbers=numbers(summary, threshold),
        of_parts=_of_parts(crawl_dir, info, threshold),
        spam_from=SPAM,
        summary=summary,
        virtual=info.started is not None and info.started < _VIRTUAL,
        threshold=threshold,
        budget=budget,
        folder=shlex.quote(str(crawl_dir)),
        excerpts=excerpts(crawl_dir, [visit.url for visit in summary.best], info.keywords),
        paths=paths_to(crawl_dir, [visit.url for visit in summary.best]),
        charts=_charts(summary, threshold),
        refused=read_refused(crawl_dir),
        waiting=_waiting(info),
        targets=_targets(crawl_dir, info),
    )
    path = crawl_dir / REPORT
    replace_signed(path, page, REPORT_SIGNS)
    replace_signed(crawl_dir / EVIDENCE, found, EVIDENCE_SIGNS)
    return path


def _of_parts(crawl_dir: Path, info: CrawlInfo, threshold: float) -> dict[str, Any]:
    """Return what the parts show in the report, by the names that the template uses."""
    options = options_of(info)
    return {
        name: shown
        for module in modules_beside("report")
        for name, shown in module.report(crawl_dir, options, threshold).items()
    }


def _waiting(info: CrawlInfo) -> list[tuple[str, int]]:
    """Return the kinds of waiting URLs in words, with their numbers."""
    counts = [(words, info.stats.get(f"waiting/{why}")) for why, words in _WAITING.items()]
    return [(words, number) for words, number in counts if isinstance(number, int) and number]


def ending(info: CrawlInfo, spent: bool) -> str:
    """Return the finish reason in words; ``spent``: the page budget was spent."""
    if spent and info.reason in ("", "finished"):
        return _ENDINGS["page budget"]
    return _ENDINGS.get(info.reason, info.reason.replace("_", " "))


def _charts(summary: CrawlSummary, threshold: float) -> list[tuple[str, Chart]]:
    """Return headings and charts; none for a crawl of fewer than two pages."""
    if summary.pages < 2:
        return []
    charts = [
        ("Harvest rate", plots.harvest_chart(summary.relevance, threshold)),
        ("Mean relevance", plots.relevance_chart(summary.relevance)),
    ]
    score_chart = plots.score_chart(summary.scores, summary.relevance)
    return [*charts, ("Did high scores lead to relevant pages?", score_chart)] if score_chart else charts


def _targets(crawl_dir: Path, info: CrawlInfo) -> TargetReport | None:
    """Return the target recall; None if the topic has no targets."""
    if not info.targets:
        return None
    run = load_run(RunFolder(crawl_dir, info.topic, info.ordering, info))
    finals = {final_url(target, run.redirects) for target in run.targets}
    found = [(position, url) for position, url in enumerate(run.urls, start=1) if url in finals]
    recall = target_recall(run.urls, run.targets, run.redirects)
    return TargetReport(
        total=len(finals),
        reachable=len({final_url(target, run.redirects) for target in run.reachable}),
        found=found,
        missing=sorted(finals.difference(url for _, url in found))[:_TARGETS],
        search_lengths={share: search_length(recall, share) for share in (0.25, 0.5, 0.75, 1.0)},
        chart=plots.recall_chart(recall) if run.pages > 1 else None,
    )
