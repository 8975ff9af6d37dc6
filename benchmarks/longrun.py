"""A long crawl of the endless web: do the cost of a page and the memory stay constant from page 1,000 to the last?

Part of ``python benchmarks/throughput.py --flat 200000``. After each thousand pages the crawl notes its CPU time, its resident
memory and the size of its frontier, and reads one fixed page a few times, which shows how fast the machine is at that moment.
The cost of a crawled page is also shown in units of such readings, since other work on the machine changes the CPU time of
everything alike.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

EVERY = 1_000  # pages
CHECKPOINTS = (1_000, 10_000, 50_000, 100_000, 200_000)
READINGS = 20


class Checkpoints:
    """Scrapy extension: appends a JSON line to the file named by ``METER_FILE`` for every 1,000 pages stored."""

    def __init__(self, crawler: Any) -> None:
        from benchmarks.endless import EndlessWeb

        self.crawler = crawler
        self.noted = 0
        self.spent = 0.0  # CPU seconds spent on readings
        self.body = EndlessWeb().get("http://h0.example/").body

    @classmethod
    def from_crawler(cls, crawler: Any) -> Checkpoints:
        from scrapy import signals

        checkpoints = cls(crawler)
        crawler.signals.connect(checkpoints.item_scraped, signals.item_scraped)
        return checkpoints

    def item_scraped(self) -> None:
        crawl = self.crawler.topical_crawl
        if crawl.stats.pages >= self.noted + EVERY:
            self.noted += EVERY
            self.note(crawl)

    def note(self, crawl: Any) -> None:
        """Append a line with the present figures."""
        before = time.process_time()
        reading = self.reading()
        line = {
            "pages": crawl.stats.pages,
            "cpu_seconds": before - self.spent,
            "wall_seconds": time.perf_counter(),
            **memory(),
            "waiting": crawl.stats.frontier_size,
            "reading_seconds": reading,
        }
        with Path(os.environ["METER_FILE"]).open("a") as file:
            file.write(json.dumps(line) + "\n")
        self.spent += time.process_time() - before

    def reading(self) -> float:
        """The least CPU seconds that reading the fixed page took in a few tries."""
        from crawlproject.pages.html.parse import parse_document

        times = []
        for _ in range(READINGS):
            start = time.process_time()
            parse_document(self.body, content_type="text/html; charset=utf-8")
            times.append(time.process_time() - start)
        return min(times)


def memory() -> dict[str, float]:
    """Resident memory of this process in MB: the total, and the part that is private and not mapped from a file.

    The kernel reclaims mapped files, such as the frontier's, when it needs the room.
    """
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    resident, own = (int(status[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon"))
    return {"resident_mb": resident, "own_mb": own}


def table(lines: Sequence[dict[str, float]]) -> str:
    """Rate and memory at the checkpoints; a rate covers the pages since the checkpoint before, or the first 10,000."""
    heads = ("page", "pages/CPU s", "ms CPU/page", "in readings", "resident MB", "own MB", "waiting")
    shown = [f"{heads[0]:>9}" + "".join(f"{head:>14}" for head in heads[1:])]
    found = []
    for page in (page for page in CHECKPOINTS if page <= lines[-1]["pages"]):
        row = cost_at(lines, page)
        found.append(row)
        shown.append(
            f"{page:9,}{1 / row['cpu']:14.0f}{1000 * row['cpu']:14.2f}{row['readings']:14.2f}"
            f"{row['resident_mb']:14.0f}{row['own_mb']:14.0f}{row['waiting']:14,.0f}"
        )
    first, last = found[0], found[-1]
    shown.append(
        f"last / first: pages per CPU second {first['cpu'] / last['cpu']:.2f}, per reading"
        f" {first['readings'] / last['readings']:.2f}, resident memory {last['resident_mb'] / first['resident_mb']:.2f},"
        f" its own {last['own_mb'] / first['own_mb']:.2f}"
    )
    return "\n".join(shown)


def cost_at(lines: Sequence[dict[str, float]], page: int, around: int = 2_000) -> dict[str, float]:
    """The cost of a page around a checkpoint: mean CPU seconds and the equivalent in readings, over the lines up to it.

    The first checkpoint is measured over the pages after it, since no line precedes it.
    """
    ends = next(number for number, line in enumerate(lines) if line["pages"] >= page)
    starts = max((number for number in range(ends) if lines[number]["pages"] <= page - around), default=None)
    if starts is None:
        starts, upper = ends, min(len(lines) - 1, ends + around // EVERY)
    else:
        upper = ends
    window = lines[starts : upper + 1]
    pages = window[-1]["pages"] - window[0]["pages"]
    cpu = (window[-1]["cpu_seconds"] - window[0]["cpu_seconds"]) / pages if pages else float("nan")
    reading = sum(line["reading_seconds"] for line in window) / len(window)
    here = lines[ends]
    held = {name: here[name] for name in ("resident_mb", "own_mb", "waiting")}
    return {"cpu": cpu, "readings": cpu / reading, **held}
