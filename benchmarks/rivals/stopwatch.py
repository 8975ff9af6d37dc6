"""CPU time of a crawl from its beginning to its last page, start-up and imports left out, as ``benchmarks.meter`` measures it."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Stopwatch:
    """Counts pages; ``report`` writes their cost to the file named by ``report`` in the job, if any."""

    def __init__(self) -> None:
        self.pages = 0
        self._cpu = self._wall = 0.0

    def start(self) -> None:
        """Record the start of the crawl."""
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def page(self) -> int:
        """Count a processed page; return the number so far."""
        self.pages += 1
        return self.pages

    def report(self, job: Mapping[str, Any]) -> None:
        """Write the report when the crawl has ended."""
        if "report" not in job:
            return
        found = {
            "pages": self.pages,
            "cpu_seconds": time.process_time() - self._cpu,
            "wall_seconds": time.perf_counter() - self._wall,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        Path(job["report"]).write_text(json.dumps(found))
