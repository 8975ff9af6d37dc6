"""One, two and four workers of one crawl on a slow web: how much faster, and are the pages the same?

    python benchmarks/workers.py [--pages 700] [--hosts 200] [--latency 2.0] [--concurrent 8] [--workers 1 2 4]

Every page takes ``--latency`` seconds, and a worker has ``--concurrent`` requests open, so a worker waits for the web and
hardly for the CPU. Time is counted from the first request for a page to the end of the last one, as the server saw them. It
includes the overhead of more workers: each reads robots.txt separately, and all share one Redis.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/workers.py`

from benchmarks.redis_server import redis_server
from benchmarks.worker_kills import Crew, known_web, served
from crawlproject.http.virtual_web_server import read_log


def crawl(workers: int, chosen: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run one crawl of the whole web."""
    folder.mkdir()
    web = known_web(chosen.hosts, chosen.pages, chosen.latency)
    settings = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "CONCURRENT_REQUESTS": chosen.concurrent}
    began = time.monotonic()
    with redis_server(folder / "redis") as server, served(web, folder / "log") as port:
        crew = Crew(folder, server.url, port, settings)
        for number in range(workers):
            crew.start(f"w{number}")
        for process in crew.running.values():
            process.wait()
    pages = [access for access in read_log(folder / "log") if not access["url"].endswith("/robots.txt")]
    return {
        "workers": workers,
        "seconds": max(access["end"] for access in pages) - min(access["start"] for access in pages),
        "wall_seconds": time.monotonic() - began,
        "fetches": len(pages),
        "stored": set(crew.stored()),
        "failed": crew.failed(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=700)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds the server takes for a page")
    parser.add_argument("--concurrent", type=int, default=8, help="CONCURRENT_REQUESTS of each worker")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        runs = [crawl(workers, chosen, Path(name) / str(workers)) for workers in chosen.workers]
    rows = [
        {
            **{key: value for key, value in found.items() if key != "stored"},
            "pages": len(found["stored"]),
            "same_pages": found["stored"] == runs[0]["stored"],
            "speed_up": runs[0]["seconds"] / found["seconds"],
        }
        for found in runs
    ]
    for row in rows:
        print(
            "  ".join(
                f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
            )
        )
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
