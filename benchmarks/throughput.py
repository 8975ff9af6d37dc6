"""Pages per CPU second: the topical crawl against tuned plain Scrapy, same server, same run, in turns.

    python benchmarks/throughput.py [--pages 3000] [--runs 3] [--json FILE]

Both crawl the same endless web through the same proxy on loopback. The topical crawl orders by ``dom``, stores every page, its
items, links and history, and keeps a journal; the plain one follows links breadth-first and stores nothing. CPU is user
plus system time of the crawling process from the first request to the last, so the server does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
SEEDS = [f"http://h{host}.example/" for host in range(20)]

PLAIN = """
import sys
from scrapy.crawler import AsyncCrawlerProcess
from benchmarks.plain_spider import SETTINGS, PlainSpider
from scrapy.utils.reactor import install_reactor
meter = {"EXTENSIONS": {"benchmarks.meter.Meter": 1}, "CLOSESPIDER_PAGECOUNT": int(sys.argv[1])}
process = AsyncCrawlerProcess({**SETTINGS, **meter})
process.crawl(PlainSpider, start_urls=sys.argv[2:])
process.start()
"""

TOPICAL = """
import sys
from scrapy.cmdline import execute
from crawlproject import settings
settings.EXTENSIONS["benchmarks.meter.Meter"] = 1
execute(["scrapy", "crawl", "topical", "-a", "topic=" + sys.argv[1], "-a", "ordering=dom",
         "-s", "CRAWL_DIR=" + sys.argv[2], "-s", "CRAWL_MAX_PAGES=" + sys.argv[3],
         "-s", "POLITENESS_MIN_DELAY=0", "-s", "POLITENESS_FACTOR=0", "-s", "CONCURRENT_REQUESTS=100",
         "-s", "CRAWL_PROGRESS_SECONDS=0", "-s", "LOG_LEVEL=WARNING"])
"""

TOPIC = """
keywords = ["coral reef fish"]
seeds = {seeds}
"""


def run(code: str, arguments: list[str], proxy: str) -> dict[str, float]:
    """One crawl in a process of its own; what its meter wrote."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "meter.json"
        environment = {**os.environ, "http_proxy": proxy, "METER_FILE": str(report), "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, env=environment, check=True)
        return json.loads(report.read_text())


def measure(pages: int, runs: int, proxy: str, folder: Path) -> dict[str, list[dict[str, float]]]:
    """``runs`` runs of each crawl, in turns, so that a drifting machine hits both."""
    topic = folder / "topic.toml"
    topic.write_text(TOPIC.format(seeds=json.dumps(SEEDS)))
    found: dict[str, list[dict[str, float]]] = {"plain": [], "topical": []}
    for number in range(runs):
        found["plain"].append(run(PLAIN, [str(pages), *SEEDS], proxy))
        found["topical"].append(run(TOPICAL, [str(topic), str(folder / f"crawl{number}"), str(pages)], proxy))
    return found


def table(found: dict[str, list[dict[str, float]]]) -> str:
    """Medians of each crawl and the ratio of their rates, run by run."""
    lines = [f"{'crawl':10}{'pages':>8}{'pages/CPU s':>14}{'ms CPU/page':>14}{'pages/s':>10}{'peak MB':>10}"]
    for name, runs in found.items():
        rate = median(run["pages"] / run["cpu_seconds"] for run in runs)
        wall = median(run["pages"] / run["wall_seconds"] for run in runs)
        pages, peak = median(run["pages"] for run in runs), median(run["peak_mb"] for run in runs)
        lines.append(f"{name:10}{pages:8.0f}{rate:14.0f}{1000 / rate:14.2f}{wall:10.0f}{peak:10.0f}")
    ratios = [ours / plain for ours, plain in zip(rates(found["topical"]), rates(found["plain"]), strict=True)]
    lines.append(
        f"topical / plain, pages per CPU second: median {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    )
    return "\n".join(lines)


def rates(runs: list[dict[str, float]]) -> list[float]:
    """Pages per CPU second of each run."""
    return [run["pages"] / run["cpu_seconds"] for run in runs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=3000, help="pages of a crawl (default: 3000)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.serve_endless"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        proxy = server.stdout.readline().split()[-1]
        with tempfile.TemporaryDirectory() as folder:
            found = measure(arguments.pages, arguments.runs, proxy, Path(folder))
    finally:
        server.terminate()
    print(table(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
