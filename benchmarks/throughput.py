"""Pages per CPU second: the topical crawl against other crawlers, on the same server, in alternating runs.

    python benchmarks/throughput.py [--pages 3000] [--runs 3] [--rival-python PYTHON] [--json FILE]
    python benchmarks/throughput.py --flat 200000

All crawlers fetch the same endless web through the same proxy on loopback, with the same concurrency. ``default`` is the
topical crawl with its defaults (ordering, budgets, duplicates, templates and rules), but without politeness; ``dom`` is the
same with that ordering. Both store every page, its items, links and history. Plain Scrapy, tuned, and crawlee's ParselCrawler
follow links breadth-first; crawl4ai follows them best-first by words in URLs, with its HTTP strategy. None of these three
stores anything. ``plain, 2 MB`` is plain Scrapy with memory pages of 2 MB, which the topical crawl also has; two environment
variables set this. CPU is the user plus system time of the crawling process from the first request to the last, so the server
does not count. ``--rival-python`` is an interpreter with crawl4ai and crawlee[parsel]; without it, these two are left out.

``--flat`` runs the topical crawl alone (``--ordering``: the default one) for the given number of pages, and shows rate and
memory on the way (``benchmarks/longrun.py``)."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
SEEDS = [f"http://h{host}.example/" for host in range(20)]
KEYWORDS = ["coral reef fish"]
SLOW = {"crawl4ai": 10}  # divisor of the page budget of slow crawlers; their rate does not depend on it

OURS: dict[str, dict[str, str]] = {"default": {}, "dom": {"ORDERING": "dom"}}

HUGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}

Runs = dict[str, list[dict[str, float]]]

PLAIN = """
import sys
from scrapy.crawler import AsyncCrawlerProcess
from benchmarks.plain_spider import SETTINGS, PlainSpider
meter = {"EXTENSIONS": {"benchmarks.meter.Meter": 1}, "CLOSESPIDER_PAGECOUNT": int(sys.argv[1])}
process = AsyncCrawlerProcess({**SETTINGS, **meter})
process.crawl(PlainSpider, start_urls=sys.argv[2:])
process.start()
"""

TOPICAL = """
import sys
from scrapy.cmdline import execute
from crawlproject import settings
extension, topic, folder, pages, *more = sys.argv[1:]
settings.EXTENSIONS[extension] = 1
execute(["scrapy", "crawl", "topical", "-a", "topic=" + topic,
         "-s", "CRAWL_DIR=" + folder, "-s", "CRAWL_MAX_PAGES=" + pages,
         "-s", "POLITENESS_MIN_DELAY=0", "-s", "POLITENESS_FACTOR=0", "-s", "CONCURRENT_REQUESTS=100",
         "-s", "CRAWL_PROGRESS_SECONDS=0", "-s", "LOG_LEVEL=WARNING", *more])
"""


class Bench:
    """Runs crawls of the endless web behind ``proxy``; writes files to ``folder``."""

    def __init__(self, proxy: str, folder: Path, rival_python: str | None) -> None:
        self.proxy = proxy
        self.folder = folder
        self.rival_python = rival_python
        self.topic = folder / "topic.toml"
        self.topic.write_text(f"keywords = {json.dumps(KEYWORDS)}\nseeds = {json.dumps(SEEDS)}\n")
        self._crawls = 0

    def names(self) -> list[str]:
        """The crawls to compare: ours first, then the rivals."""
        rivals = ["crawlee", "crawl4ai"] if self.rival_python else []
        return [*OURS, "plain", "plain, 2 MB", *rivals]

    def run(self, name: str, pages: int) -> dict[str, float]:
        """Run one crawl in a separate process; return what its meter wrote."""
        report = self.folder / "meter.json"
        report.unlink(missing_ok=True)
        environment = self.environment(report)
        if name.startswith("plain"):
            environment |= HUGE_PAGES if name != "plain" else {}
            command = [sys.executable, "-c", PLAIN, str(pages), *SEEDS]
        elif name == "crawlee":
            command = self._rival("crawlee_parsel", pages, report)
        elif name == "crawl4ai":
            command = self._rival("crawl4ai_best_first", pages // SLOW[name], report)
        else:
            command = self.topical("benchmarks.meter.Meter", pages, OURS[name])
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if ran.returncode or not report.exists():
            raise SystemExit(f"{name}: exit code {ran.returncode}\n{ran.stderr[-2000:]}")
        found: dict[str, float] = json.loads(report.read_text())
        return found

    def topical(self, extension: str, pages: int, settings: Mapping[str, object]) -> list[str]:
        """The command of a topical crawl in a new folder, measured by a Scrapy extension."""
        self._crawls += 1
        place = self.folder / f"crawl{self._crawls}"
        more = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        return [sys.executable, "-c", TOPICAL, extension, str(self.topic), str(place), str(pages), *more]

    def environment(self, report: Path) -> dict[str, str]:
        # Every crawler reads the whole environment at each request, for its proxy: a large environment would blur the costs.
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
        return {**kept, "http_proxy": self.proxy, "METER_FILE": str(report), "PYTHONPATH": str(ROOT)}

    def _rival(self, module: str, pages: int, report: Path) -> list[str]:
        job = self.folder / "job.json"
        asked = {"seeds": SEEDS, "keywords": KEYWORDS, "proxy": self.proxy, "folder": str(self.folder), "pages": pages}
        job.write_text(json.dumps({**asked, "log": str(self.folder / "log.jsonl"), "report": str(report)}))
        return [str(self.rival_python), "-m", f"benchmarks.rivals.{module}", str(job)]


def measure(bench: Bench, pages: int, runs: int) -> Runs:
    """Run each crawl ``runs`` times, in turns, so that a drift in the machine's speed affects all crawls alike."""
    found: Runs = {name: [] for name in bench.names()}
    for _ in range(runs):
        for name in found:
            found[name].append(bench.run(name, pages))
    return found


def table(found: Runs) -> str:
    """The medians of each crawl, and our rate as a multiple of its rate: median and range over the runs."""
    heads = ("pages", "pages/CPU s", "ms CPU/page", "pages/s", "peak MB")
    lines = [
        f"{'crawl':12}" + "".join(f"{head:>13}" for head in heads) + "".join(f"{f'{ours} / it':>24}" for ours in OURS)
    ]
    for name, runs in found.items():
        rate = median(rates(runs))
        wall = median(run["pages"] / run["wall_seconds"] for run in runs)
        pages, peak = median(run["pages"] for run in runs), median(run["peak_mb"] for run in runs)
        ratios = "".join(f"{ratio(found[ours], runs):>24}" for ours in OURS)
        lines.append(f"{name:12}{pages:13.0f}{rate:13.0f}{1000 / rate:13.2f}{wall:13.0f}{peak:13.0f}{ratios}")
    return "\n".join(lines)


def ratio(ours: list[dict[str, float]], theirs: list[dict[str, float]]) -> str:
    """The ratio of the rates of two crawls, run by run."""
    ratios = [one / other for one, other in zip(rates(ours), rates(theirs), strict=True)]
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def rates(runs: list[dict[str, float]]) -> list[float]:
    """Pages per CPU second of each run."""
    return [run["pages"] / run["cpu_seconds"] for run in runs]


def run_flat(bench: Bench, pages: int, settings: Mapping[str, str], noted: Path) -> None:
    """Run one long crawl and print the table of its checkpoints."""
    from benchmarks import longrun

    noted.unlink(missing_ok=True)
    command = bench.topical("benchmarks.longrun.Checkpoints", pages, settings)
    try:
        subprocess.run(command, cwd=ROOT, env=bench.environment(noted), check=True)
    finally:
        print(longrun.table([json.loads(line) for line in noted.read_text().splitlines()]))


@contextmanager
def endless_web(hosts: int, inside: float = 0.0) -> Iterator[str]:
    """Serve the endless web behind a proxy in a separate process; yield the proxy's URL."""
    command = [sys.executable, "-m", "benchmarks.serve_endless", str(hosts), str(inside)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1]
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=3000, help="pages of a crawl (default: 3000)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--rival-python", metavar="PYTHON", help="an interpreter with crawl4ai and crawlee[parsel]")
    parser.add_argument(
        "--flat", type=int, metavar="PAGES", help="one long crawl instead, to see whether it stays flat"
    )
    parser.add_argument("--frontier", default="disk", help="of the long crawl (default: disk)")
    parser.add_argument("--ordering", default="", help="of the long crawl (default: that of the settings)")
    parser.add_argument("--hosts", type=int, help="of the web (default: 200; 1000 with --flat)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    hosts = arguments.hosts or (1000 if arguments.flat else 200)
    with tempfile.TemporaryDirectory() as folder, endless_web(hosts) as proxy:
        bench = Bench(proxy, Path(folder), arguments.rival_python)
        if arguments.flat:
            settings = {
                "FRONTIER": arguments.frontier,
                **({"ORDERING": arguments.ordering} if arguments.ordering else {}),
            }
            run_flat(bench, arguments.flat, settings, arguments.json or Path(folder) / "noted.jsonl")
            return
        found = measure(bench, arguments.pages, arguments.runs)
    print(table(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
