"""CPU time of a crawl from its beginning to its last page, start-up and imports left out, as ``benchmarks.meter`` has it."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Stopwatch:
    """Counts pages; ``report`` writes what they cost to the file that a job names as ``report``, if it does."""

    def __init__(self) -> None:
        self.pages = 0
        self._cpu = self._wall = 0.0

    def start(self) -> None:
        """The crawl begins."""
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def page(self) -> int:
        """A page has been processed; how many there are now."""
        self.pages += 1
        return self.pages

    def report(self, job: Mapping[str, Any]) -> None:
        """The crawl has ended."""
        if "report" not in job:
            return
        found = {
            "pages": self.pages,
            "cpu_seconds": time.process_time() - self._cpu,
            "wall_seconds": time.perf_counter() - self._wall,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        Path(job["report"]).write_text(json.dumps(found))
