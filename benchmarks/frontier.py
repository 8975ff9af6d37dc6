"""Frontiers side by side: operations a second, memory and disk a URL, and how long it takes to reopen a killed one.

    python benchmarks/frontier.py [--urls 1e5 1e6 1e7] [--only NAME ...] [--revisits] [--folder DIR] [--json FILE]

Compared are the frontiers of this project (in memory, journaled, on disk), Scrapy's scheduler with its own disk queues, and
scrapy-redis, under the load that ``benchmarks/frontier_load.py`` describes, each in a separate process, one after another.
``--revisits``: each URL waits for its next visit, as the pages of a collection that is kept fresh do. Scrapy and scrapy-redis
neither lease nor rescore URLs, know neither times nor hosts and so no politeness, and have ten priorities or integers as
scores. They are left out above 10^6 URLs, where a load takes them minutes. A Redis server is started for scrapy-redis if
``redis-server`` is on the path. Several workers of one crawl have a frontier on disk each; ``benchmarks/worker_cost.py``
measures what Redis costs them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/frontier.py`

from benchmarks.redis_server import PROGRAM, redis_server

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("memory", "journaled", "disk", "scrapy", "scrapy-redis")
SERVED = {"scrapy-redis"}
LARGEST = {"scrapy": 1e6, "scrapy-redis": 1e6}
COLUMNS = {
    "puts_per_second": "puts/s",
    "first_tenth": "first tenth",
    "last_tenth": "last tenth",
    "takes_per_second": "takes/s",
    "take_p99_us": "p99 µs",
    "dones_per_second": "dones/s",
    "rescores_per_second": "rescores/s",
    "longest_ms": "longest ms",
    "resident_with_program_per_url": "memory B/URL",
    "disk_bytes_per_url": "disk B/URL",
    "reopen_seconds": "reopened s",
}


def measure(name: str, urls: int, folder: Path, load: Sequence[str]) -> dict[str, Any]:
    """The figures of one contender, which is loaded, killed, and opened again."""
    with server(name, folder) as environment:
        figures = child(name, urls, folder, environment, *load)
        if name != "memory":
            figures |= child(name, urls, folder, environment, "--reopen")
    operations = ("put", "take", "done", "rescore")
    figures["longest_ms"] = max(figures[f"{operation}_longest_ms"] for operation in operations)
    return figures


@contextmanager
def server(name: str, folder: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of the child process, with a Redis server if it needs one."""
    if name in SERVED:
        with redis_server(folder / "redis") as redis:
            yield {**os.environ, "REDIS_URL": redis.url}
    else:
        yield dict(os.environ)


def child(name: str, urls: int, folder: Path, environment: dict[str, str], *more: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.frontier_load", name, str(urls), str(folder), *more]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def table_of(results: Sequence[dict[str, Any]]) -> Table:
    table = Table("frontier", "URLs", *COLUMNS.values())
    for column in table.columns[1:]:
        column.justify = "right"
    for result in results:
        cells = [_shown(result.get(column)) if _does(result, column) else "–" for column in COLUMNS]
        table.add_row(result["frontier"], f"{result['urls']:.0e}".replace("e+0", "e"), *cells)
    return table


def _does(result: dict[str, Any], column: str) -> bool:
    return not (result["frontier"].startswith("scrapy") and column in ("dones_per_second", "rescores_per_second"))


def _shown(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", nargs="+", type=lambda text: int(float(text)), default=[10**5, 10**6, 10**7])
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--revisits", action="store_true", help="every URL waits for its next visit")
    parser.add_argument("--folder", type=Path, help="where the frontiers put their files (a temporary folder)")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 200)
    results: list[dict[str, Any]] = []
    for urls in options.urls:
        for name in options.only:
            cannot = options.revisits and name.startswith("scrapy")
            if cannot or urls > LARGEST.get(name, urls) or (name in SERVED and not PROGRAM):
                continue
            folder = Path(tempfile.mkdtemp(dir=options.folder))
            try:
                results.append(
                    {
                        "frontier": name,
                        "urls": urls,
                        **measure(name, urls, folder, ["--revisits"] if options.revisits else []),
                    }
                )
            finally:
                shutil.rmtree(folder)
            latest = results[-1]
            console.print(
                f"{name}, {urls:,} URLs: {latest['puts_per_second']:,} puts/s, {latest['takes_per_second']:,} takes/s"
            )
            if options.json:
                options.json.write_text(json.dumps(results, indent=1))
    console.print(table_of(results))


if __name__ == "__main__":
    main()
