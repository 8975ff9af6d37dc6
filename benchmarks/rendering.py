"""A web in which scripts make half of the sites: what each value of ``CRAWL_RENDER`` finds, and what it costs.

    python -m benchmarks.rendering [--sites 12] [--pages 12] [--ways WAY ...] [--browser EXECUTABLE ...] [--json FILE]

Each value gets one crawl to the end of the web (``benchmarks/scripted_web.py``), without pauses, on loopback. ``recall`` is
the share of the pages about the topic that were stored, ``rendered`` the pages that were rendered, ``asked`` the requests to
the web. CPU is that of the crawl with its browser; memory is the peak of the sum of their proportional set sizes, sampled five
times a second. ``never`` is the control. ``--ways`` says how scripts get their pages: by ``get``, ``post`` or in a ``frame``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.scripted_web import WAYS, ScriptWeb
from crawlproject.http.virtual_web_server import AccessLog, read_log, running

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")


class Meter:
    """CPU seconds and peak memory of a process and all processes that it has started."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seconds: dict[int, float] = {}
        self.peak = 0  # bytes

    def look(self) -> None:
        memory = 0
        for pid in self._family():
            with suppress(OSError, IndexError, ValueError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
                self._seconds[pid] = (int(fields[11]) + int(fields[12])) / TICKS
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                memory += next(int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:"))
        self.peak = max(self.peak, memory)

    @property
    def seconds(self) -> float:
        return sum(self._seconds.values())

    def _family(self) -> Iterator[int]:
        children: dict[int, list[int]] = {}
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, IndexError, ValueError):
                parent = int(process.joinpath("stat").read_text().rpartition(") ")[2].split()[1])
                children.setdefault(parent, []).append(int(process.name))
        found = [self._pid]
        for pid in found:
            found += children.get(pid, ())
        yield from found


def run(web: ScriptWeb, folder: Path, mode: str, browser: str) -> dict[str, Any]:
    """The figures of one crawl."""
    folder.mkdir(parents=True)
    topic = folder / "topic.toml"
    topic.write_text(f'keywords = ["coral reef fish"]\nseeds = {json.dumps(web.seeds)}\n')
    settings = {
        "CRAWL_DIR": folder / "crawl",
        "CRAWL_RENDER": mode,
        "CRAWL_BROWSER": browser,
        "CRAWL_RENDER_POSTS": 10,
        "CRAWL_PROGRESS_SECONDS": 0,
    }
    settings |= {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "LOG_LEVEL": "ERROR"}
    chosen = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "topical", "-a", f"topic={topic}", *chosen]
    with AccessLog(folder / "log") as log, running(web, log=log) as server:
        proxy = f"http://127.0.0.1:{server.port}"
        began = time.monotonic()
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "http_proxy": proxy, "https_proxy": proxy})
        meter = Meter(process.pid)
        while process.poll() is None:
            meter.look()
            time.sleep(0.2)
        seconds = time.monotonic() - began
    visits = [json.loads(line) for line in (folder / "crawl" / "history.jsonl").read_text().splitlines()]
    stored = {visit["url"] for visit in visits if visit["md5"]}
    return {
        "mode": mode,
        "browser": Path(browser).name,
        "recall": round(len(web.targets & stored) / len(web.targets), 3),
        "pages": len(stored),
        "rendered": sum("rendered" in visit["signs"] for visit in visits),
        "asked": sum(1 for _ in read_log(folder / "log")),
        "seconds": round(seconds, 1),
        "cpu": round(meter.seconds, 1),
        "megabytes": meter.peak >> 20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=12)
    parser.add_argument("--pages", type=int, default=12, help="of a site")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=["get"], help="of one site after the other")
    parser.add_argument("--browser", action="append", default=[], help="executable; may be repeated")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    web = ScriptWeb(asked.sites, asked.pages, ways=asked.ways)
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for browser in asked.browser or [""]:
            for mode in ("never", "needed", "always"):
                runs.append(run(web, Path(folder) / f"{len(runs)}", mode, browser))
                print(json.dumps(runs[-1]), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(runs, indent=1))


if __name__ == "__main__":
    main()
