"""``scrapy compare DIR``: measures, plots and significance over the runs under a folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawlproject.commandline import reporting_errors
from crawlproject.errors import BadInput
from crawlproject.evaluation.comparison import MEASURES, Question, compare
from crawlproject.evaluation.runs import find_runs
from crawlproject.reports.comparison import write_comparison
from crawlproject.reports.exports import write_csv, write_json
from crawlproject.reports.terminal import print_comparison


class Command(ScrapyCommand):
    requires_project = False
    requires_crawler_process = False

    def syntax(self) -> str:
        return "[options] DIR"

    def short_desc(self) -> str:
        return "Compare orderings over the runs of a rehearsal"

    def long_desc(self) -> str:
        return (
            "Print the mean of every ordering over all topics with its standard error, and which differences are "
            "significant; write compare.html into DIR. DIR holds crawl folders, as `scrapy rehearse` leaves them. "
            "Exit code 2: nothing to compare, or bad options."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        at = "numbers of pages, separated by commas; by default 100,250,500,1000,... up to the longest run"
        parser.add_argument("--at", metavar="N,...", default="", help=at)
        parser.add_argument("--measure", choices=sorted(MEASURES), default="recall", help="default: recall")
        threshold = "relevance from which a page counts as relevant (harvest; default 0.1)"
        parser.add_argument("--threshold", metavar="X", type=float, default=0.1, help=threshold)
        window = "latest pages that are averaged (relevance; default 50)"
        parser.add_argument("--window", metavar="N", type=int, default=50, help=window)
        parser.add_argument("--json", metavar="FILE", type=Path, help="also write everything as JSON")
        parser.add_argument("--csv", metavar="FILE", type=Path, help="also write the values by topic as CSV")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one folder of runs", print_help=False)
        with reporting_errors(self):
            _compare(Path(args[0]), opts)


def _compare(folder: Path, opts: argparse.Namespace) -> None:
    question = Question(opts.measure, page_numbers(opts.at), opts.threshold, _positive(opts.window, "--window"))
    comparison = compare(find_runs(folder), question)
    print_comparison(comparison, sys.stdout)
    if opts.json:
        write_json(comparison, opts.json)
    if opts.csv:
        write_csv(comparison, opts.csv)
    print(f"\nPlots and results by topic: {write_comparison(comparison, folder)}")


def page_numbers(text: str) -> tuple[int, ...]:
    """``100,250`` as numbers; raises ``BadInput``."""
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise BadInput(f"--at {text}", "expected numbers of pages separated by commas, as in 100,250,500") from None
    return tuple(_positive(number, "--at") for number in numbers)


def _positive(number: int, option: str) -> int:
    if number < 1:
        raise BadInput(f"{option} {number}", "expected a number of at least 1")
    return number
