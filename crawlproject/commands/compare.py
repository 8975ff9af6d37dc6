"""``scrapy compare DIR``: compares runs by measures, plots and significance tests."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, cache_dir, reporting_errors
from crawlproject.configuration import program
from crawlproject.errors import BadInput
from crawlproject.evaluation.compare import compare
from crawlproject.evaluation.importance import IMPORTANCE
from crawlproject.evaluation.question import MEASURES, TESTS, ClickLog, Question, Scorer
from crawlproject.evaluation.runs import RunFolder, find_runs, read_checkpoints
from crawlproject.pages.text.printable import visible
from crawlproject.reports.comparison import trajectories, write_comparison, write_csv, write_json, write_svg
from crawlproject.reports.terminal import print_comparison
from crawlproject.reports.verdict import heading
from crawlproject.storage.crawl_files import refuse_target


class CompareCommand(Subcommand):
    usage = "[options] DIR"
    summary = "Compare orderings over the runs of a rehearsal"
    description = (
        "Print the mean and standard error of each ordering over all topics, and the significant differences; "
        f"write compare.html into DIR. DIR contains crawl folders as written by `{program} rehearse`. "
        "Exit code 2: nothing to compare, or bad options."
    )
    examples = ("compare rehearsals --at 100 500 60s", "compare rehearsals --measure harvest --figure harvest.svg")

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        at = "numbers of pages, or seconds such as 60s (default: 100 250 500 1000 ... pages, up to the longest run)"
        parser.add_argument("--at", metavar="POINT", nargs="+", default=[], help=at)
        measure = "measure to compare by (default: recall; with --importance: precision)"
        parser.add_argument("--measure", choices=sorted(MEASURES), help=measure)
        importance = "importance to use instead of the recorded relevance; requires --web"
        parser.add_argument("--importance", choices=sorted(IMPORTANCE), help=importance)
        webs = "the webs of the crawls, from which --importance reads the pages"
        parser.add_argument("--web", metavar="WEB", nargs="+", help=webs)
        clicks = "lines of query, URL and clicks, separated by tabs (measures clicks and ndcg)"
        parser.add_argument("--clicks", metavar="FILE", type=Path, help=clicks)
        top = "number of top pages among all crawls (top; default 100)"
        parser.add_argument("--top", metavar="N", type=int, default=100, help=top)
        parser.add_argument(
            "--test",
            choices=sorted(TESTS),
            default="t",
            help="significance test, paired and one-tailed: Student or Wilcoxon (default: t)",
        )
        threshold = "relevance from which a page counts as relevant (harvest; default 0.1)"
        parser.add_argument("--threshold", metavar="X", type=float, default=0.1, help=threshold)
        window = "latest pages to average (relevance; default 50)"
        parser.add_argument("--window", metavar="N", type=int, default=50, help=window)
        parser.add_argument("--json", metavar="FILE", type=Path, help="also write all results as JSON")
        parser.add_argument(
            "--figure",
            metavar="FILE",
            type=Path,
            help="also write the plot of the means as SVG, over time if --at has only times",
        )
        parser.add_argument("--csv", metavar="FILE", type=Path, help="also write the values by topic as CSV")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one folder of runs", print_help=False)
        with reporting_errors(self):
            _compare(Path(args[0]), opts, self.agent)


def _compare(folder: Path, opts: argparse.Namespace, agent: str) -> None:
    runs = find_runs(folder, lambda warning: print(visible(warning), file=sys.stderr))
    question = Question(
        measure=opts.measure or ("precision" if opts.importance else _default_measure(runs)),
        at=read_checkpoints(opts.at),
        threshold=opts.threshold,
        window=_positive(opts.window, "--window"),
        top=_positive(opts.top, "--top"),
        test=opts.test,
        importance=opts.importance or "",
        clicks=ClickLog.read(opts.clicks) if opts.clicks else None,
    )
    for path in filter(None, (opts.json, opts.figure, opts.csv)):
        refuse_target(path)
    with _scorer(opts.importance, opts.web, agent, runs) as scorer:
        comparison = compare(runs, question, scorer)
    print_comparison(comparison, sys.stdout)
    if opts.json:
        write_json(comparison, opts.json)
    if opts.figure:
        write_svg(heading(comparison), trajectories(comparison, comparison.final), opts.figure)
    if opts.csv:
        write_csv(comparison, opts.csv)
    print(f"\nPlots and results by topic: {write_comparison(comparison, folder)}")


def _default_measure(runs: Sequence[RunFolder]) -> str:
    """``recall`` if any topic has targets, otherwise ``harvest``."""
    if any(run.info.targets for run in runs):
        return "recall"
    print("No topic has targets, so --measure harvest is used.", file=sys.stderr)
    return "harvest"


@contextmanager
def _scorer(
    importance: str | None, webs: Sequence[str] | None, agent: str, runs: Sequence[RunFolder]
) -> Iterator[Scorer | None]:
    """The scorer for ``--importance``, or None to use the relevance recorded by the crawls."""
    if importance is None and webs is None:
        yield None
        return
    if importance is None or webs is None:
        raise BadInput(
            "--importance and --web",
            "expected both or neither: one names the importance, the other where the pages are",
        )
    from crawlproject.evaluation.simulation.page_importance import WebScorer

    scorer = WebScorer(webs, IMPORTANCE[importance], cache_dir=cache_dir(), agent=agent, runs=runs)
    try:
        yield scorer
    finally:
        scorer.close()


def _positive(number: int, option: str) -> int:
    if number < 1:
        raise BadInput(f"{option} {number}", "expected a number of at least 1")
    return number
