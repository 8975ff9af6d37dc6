"""``scrapy rehearse WEB TOPIC... --ordering NAME... --pages N --out DIR``: crawls a virtual web.

``scrapy rehearse HISTORIES --revisit POLICY... --days D``: simulates revisits of pages with recorded changes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlproject.adapters.extensions.progress import is_interactive
from crawlproject.adapters.subcommand import (
    INTERRUPTED,
    Subcommand,
    cache_dir,
    reporting_errors,
    require_part,
    settings_for,
)
from crawlproject.configuration import program
from crawlproject.errors import BadWeb

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.evaluation.simulation.plan import Line, Plan


class RehearseCommand(Subcommand):
    requires_project = True
    usage = "WEB TOPIC... --ordering NAME... --pages N --out DIR"
    summary = "Crawl a virtual web with one ordering or several, without a network"
    description = (
        "Crawl WEB (a WARC file, a folder of hosts, a crawl folder, or `sample`) on each topic with each ordering. "
        "Each run writes DIR/<topic>/<ordering>/ and prints a line, JSON in a pipe; finished runs are kept. "
        f"Host rotation and politeness are those of a live crawl, on a virtual clock. Next: {program} compare DIR. "
        "With --revisit, and without topics: print how fresh each revisit policy keeps the pages of HISTORIES, a folder of "
        "change histories or a crawl folder with a week of revisits, as a line of JSON each. "
        "Exit code 2: a web, topic, ordering or setting is wrong."
    )
    examples = ("rehearse sample demo --ordering dom adaptive --pages 500 --out rehearsals",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--ordering", metavar="NAME", nargs="+", action="extend", help="orderings (default: the setting ORDERING)"
        )
        parser.add_argument("--judge", metavar="NAME", help="judge of pages (default: the setting TOPIC_RELEVANCE)")
        parser.add_argument(
            "--pages", metavar="N", type=int, default=1000, help="pages that each run stores (default: 1000)"
        )
        parser.add_argument(
            "--out",
            metavar="DIR",
            type=Path,
            default=Path("rehearsals"),
            help="folder of the runs, DIR/<topic>/<ordering>/ (default: rehearsals)",
        )
        parser.add_argument(
            "--repeat",
            metavar="R",
            type=int,
            default=1,
            help="runs per topic and ordering, with CRAWL_SEED, CRAWL_SEED + 1, ... (default: 1)",
        )
        split = (
            "run each twice, from disjoint halves of the seeds, into half-1 and half-2 (for compare --measure overlap)"
        )
        parser.add_argument("--split-seeds", action="store_true", help=split)
        parser.add_argument(
            "--concurrency",
            metavar="N",
            type=int,
            default=1,
            help="fetches at a time (default: 1, where each choice uses all that is known; a live crawl: 64)",
        )
        parser.add_argument("--jobs", metavar="J", type=int, default=1, help="processes, one topic each (default: 1)")

        parser.add_argument(
            "--revisit",
            metavar="POLICY",
            nargs="+",
            action="extend",
            help="compare these revisit policies on recorded changes instead",
        )
        parser.add_argument(
            "--days",
            metavar="D",
            type=float,
            default=30.0,
            help="with --revisit: average days between two visits of a page (default: 30)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.revisit:
            self._revisit(args, opts)
            return
        if len(args) < 2:
            raise UsageError("expected a web and at least one topic", print_help=False)
        if opts.judge:
            self.settings.set("TOPIC_RELEVANCE", opts.judge, priority="cmdline")
        for option in ("pages", "repeat", "jobs", "concurrency"):
            if getattr(opts, option) < 1:
                raise UsageError(f"--{option}: expected at least 1", print_help=False)
        from crawlproject.evaluation.simulation.plan import split

        with reporting_errors(self):
            plan = self._plan(args[0], args[1:], opts)
            self._rehearse(split(plan) if opts.split_seeds else [plan], opts.jobs)

    def _revisit(self, args: list[str], opts: argparse.Namespace) -> None:
        require_part("revisits")
        from crawlproject.evaluation.freshness.comparison import compare_policies, open_collection
        from crawlproject.parts.revisits.registry import make_policy

        if len(args) != 1:
            raise UsageError("--revisit: expected one folder, of change histories or of a crawl", print_help=False)
        if not 0.0 < opts.days < inf:
            raise UsageError("--days: expected a finite number above 0", print_help=False)
        with reporting_errors(self):
            for name in opts.revisit:
                make_policy(name)  # reports a wrong name before the work starts
            for line in compare_policies(open_collection(Path(args[0])), opts.revisit, opts.days):
                print(json.dumps(line), flush=True)

    def _plan(self, web: str, topic_names: list[str], opts: argparse.Namespace) -> Plan:
        from crawlproject.configuration import read_options
        from crawlproject.evaluation.simulation.plan import Plan
        from crawlproject.orderings.registry import ordering_class
        from crawlproject.topic.folder import find_topic
        from crawlproject.webs.open import open_web

        names = opts.ordering or [read_options(self.settings).ordering]
        for name in names:
            ordering_class(name)
        topics = tuple(find_topic(name) for name in topic_names)
        open_web(web, cache_dir=cache_dir()).close()  # reports a wrong name and builds indexes before the workers start
        return Plan(
            web=web,
            topics=topics,
            settings=tuple(settings_for(self, topic) for topic in topics),
            orderings=tuple(dict.fromkeys(names)),
            pages=opts.pages,
            out=opts.out,
            cache_dir=cache_dir(),
            agent=self.agent,
            repeats=opts.repeat,
            concurrency=opts.concurrency,
        )

    def _rehearse(self, plans: Sequence[Plan], jobs: int) -> None:
        from crawlproject.core.process_tuning import tune_process
        from crawlproject.evaluation.simulation.plan import WorkerFailed, rehearse_here, rehearse_with_workers

        def warn(sentence: str) -> None:
            print(f"{program}: web {plans[0].web}: {sentence}", file=sys.stderr)

        def lines() -> Generator[Line]:
            for plan in plans:
                yield from rehearse_with_workers(plan, jobs, warn) if jobs > 1 else rehearse_here(plan, warn)

        tune_process()
        done = lines()
        empty: dict[str, None] = {}
        try:
            with _progress(sum(plan.runs for plan in plans)) as advance:
                for line in done:
                    print(_readable(line) if sys.stdout.isatty() else json.dumps(line), flush=True)
                    advance(line)
                    if line.get("pages") == 0:
                        empty.setdefault(line["topic"], None)
        except KeyboardInterrupt:
            done.close()
            print(f"{program}: interrupted; run the same command to continue, finished runs are kept", file=sys.stderr)
            self.exitcode = INTERRUPTED
        except WorkerFailed as failure:
            print(f"{program}: {failure}", file=sys.stderr)
            self.exitcode = 1
        if empty:
            what = f"no page of it was stored for {', '.join(empty)}; expected a web that has the seeds of the topic"
            raise BadWeb(f"web {plans[0].web!r}", what)


def _readable(line: Line) -> str:
    """The outcome of a run for a terminal, which would wrap JSON in the middle of words."""
    run = f"{line['topic']} {line['ordering']}" + (f" {line['repeat']}" if "repeat" in line else "")
    if "kept" in line:
        return f"{run}: kept"
    return f"{run}: {line['pages']:,} pages of {line['fetches']:,} fetches in {line['seconds']:.1f} s"


@contextmanager
def _progress(runs: int) -> Iterator[Callable[[Line], None]]:
    """Show a progress bar if standard error is a terminal; yield the function to call with the line of each finished run."""
    if not is_interactive(sys.stderr):
        yield lambda line: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # In a terminal, lines are printed above the progress bar; lines for a pipe must bypass it.
    shown = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty())
    with shown:
        task = shown.add_task("rehearsing", total=runs)
        yield lambda line: shown.update(task, advance=1, description=f"{line['topic']} {line['ordering']}")
