"""Every ordering compared with other crawlers: how much they find, and the cost of a page.

    python benchmarks/orderings.py WEB TOPIC... [--budgets 100 500 2000] [--rival-python PATH] [--json FILE]

Two groups. *Rehearsed*: every ordering on the web itself. *Over sockets*: rivals and our live crawls fetch the same web
through a proxy on loopback that notes what it sends, so that every crawler is counted alike. No crawler is polite. For each:

- recall of the targets that are reachable from the seeds, at each budget of pages (`scrapy compare --measure reachable`; mean
  over topics ± standard error), and the share of the omniscient curve;
- CPU a page: user and system time of its process, minus that of a run of one page;
- memory: peak of its process, minus that of a run of one page.

Crawls over sockets may be shorter than the rehearsals: --socket-pages. crawl4ai and trafilatura are not requirements of
the project: install them anywhere (`pip install crawl4ai trafilatura`) and pass that interpreter as --rival-python.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/orderings.py`

from rich.console import Console

from benchmarks.contenders import RIVALS, Contender, Live, titled, why_not
from benchmarks.ledger import Ledger
from benchmarks.race import Race
from benchmarks.rehearsed import rehearse
from benchmarks.side_by_side import REHEARSED, SOCKETS, Entry, document, rows_of, table
from crawlproject.adapters.subcommand import cache_dir
from crawlproject.configuration import read_options
from crawlproject.errors import BadInput
from crawlproject.evaluation.compare import compare
from crawlproject.evaluation.question import Question
from crawlproject.evaluation.runs import find_runs, load_run
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.topic.parse import load_topic
from crawlproject.webs.open import open_web

# The rivals fetch many pages of one host in a row if these are the best; our crawler rests a host for k others.
GREEDY = ",FRONTIER_BATCH_SIZE=1"


def main() -> None:
    chosen = _arguments()
    try:
        with TemporaryDirectory() as scratch:
            _compare(chosen, chosen.out or Path(scratch) / "runs")
    except BadInput as wrong:
        sys.exit(f"orderings.py: {wrong}")


def _compare(chosen: argparse.Namespace, out: Path) -> None:
    asked = {name: getattr(chosen, name) for name in ("web", "budgets", "socket_pages")}
    ledger = Ledger(out, {**asked, "topics": [str(path) for path in chosen.topics]})
    live = {crawl.title: crawl for crawl in map(Live.spelled, chosen.live)}
    rivals, missing = _rivals(chosen)
    _rehearse(chosen, out, ledger)
    _race(chosen, out, ledger, {**live, **rivals})
    entries = [ledger.entries[name] for name in (*chosen.orderings, *live, *rivals) if name in ledger.entries]
    runs = [run for run in find_runs(out) if run.ordering in {entry.name for entry in entries}]
    longest = max(load_run(run).pages for run in runs)
    comparison = compare(runs, Question("reachable", at=tuple(pages for pages in chosen.budgets if pages <= longest)))
    rows = rows_of(entries, comparison)
    left_out = [f"The topic {topic} is left out: {reason}" for topic, reason in comparison.left_out.items()]
    notes = [*missing, *ledger.notes, *left_out]
    console = Console(width=None if sys.stdout.isatty() else 240, highlight=False)
    title = f"{chosen.web}: mean over {len(comparison.topics)} topics"
    console.print(table(rows, comparison.checkpoints, chosen.base, title))
    for note in notes:
        console.print(note, markup=False)
    if chosen.json:
        found = {"web": chosen.web, "topics": comparison.topics, "base": chosen.base, "notes": notes}
        chosen.json.write_text(json.dumps({**found, "rows": document(rows, chosen.base)}, indent=1) + "\n")


def _rehearse(chosen: argparse.Namespace, out: Path, ledger: Ledger) -> None:
    pages = max(chosen.budgets)
    missing = [name for name in chosen.orderings if name not in ledger.entries]
    for name in missing:
        ledger.begin(name)
    for name, cost in rehearse(chosen.web, chosen.topics, missing, pages, out, say=_say):
        _say(f"{name}: {cost.ms_per_page:.2f} ms CPU a page")
        ledger.add(Entry(name, name, REHEARSED, cost, pages))


def _race(chosen: argparse.Namespace, out: Path, ledger: Ledger, contenders: Mapping[str, Contender]) -> None:
    topics = [(load_topic(path), path) for path in chosen.topics]
    pages = chosen.socket_pages or max(chosen.budgets)
    with closing(open_web(chosen.web, cache_dir=cache_dir())) as web:
        for name, contender in contenders.items():
            if name not in ledger.entries:
                ledger.begin(name)
                race = Race(web, read_options({}), out, seconds=chosen.seconds, say=_say)
                cost = race.run(name, contender, topics, pages)
                ledger.add(Entry(name, contender.title, SOCKETS, cost, pages), *race.notes)


def _rivals(chosen: argparse.Namespace) -> tuple[dict[str, Contender], list[str]]:
    """The rivals that can run, and the reasons why others cannot."""
    found: dict[str, Contender] = {}
    missing = []
    for name in chosen.rivals:
        rival = replace(RIVALS[name], python=chosen.rival_python)
        if reason := why_not(rival):
            missing.append(reason)
            _say(reason)
        else:
            found[name] = replace(rival, title=titled(rival))
    return found, missing


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web", help="a WARC, a folder of hosts, a crawl folder, or `sample`")
    parser.add_argument("topics", nargs="+", type=Path, metavar="TOPIC", help="topic files with targets")
    parser.add_argument("--orderings", nargs="*", choices=ORDERINGS, default=list(ORDERINGS), metavar="NAME")
    live = [f"{name}{rule}" for name in ("dom", "adaptive") if name in ORDERINGS for rule in ("", GREEDY)]
    parser.add_argument("--live", nargs="*", default=live, metavar="NAME[,SETTING=VALUE]", help=f"default: {live}")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=list(RIVALS), help="default: all")
    parser.add_argument(
        "--rival-python", default=sys.executable, metavar="PATH", help="interpreter that has the rivals"
    )
    parser.add_argument("--budgets", nargs="+", type=int, default=[100, 500, 2000], metavar="N", help="pages")
    parser.add_argument("--socket-pages", type=int, metavar="N", help="of a crawl over sockets (largest budget)")
    parser.add_argument("--seconds", type=float, default=900.0, help="of wall time for a crawl over sockets (900)")
    parser.add_argument("--base", default="dom", metavar="NAME", help="ordering that ratios are taken to (dom)")
    parser.add_argument("--out", type=Path, help="keep the runs here; the same command goes on")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    return parser.parse_args()


if __name__ == "__main__":
    main()
