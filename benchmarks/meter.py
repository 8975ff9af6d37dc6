"""CPU time of a crawl: in total, from the opening of the spider to its end, and of its pages alone, from the ``WARM``-th
response to the last one, which excludes lazy loading and the final report.
"""

from __future__ import annotations

import json
import os
import resource
import time
from pathlib import Path

from scrapy import signals

WARM = 20  # pages


class Meter:
    """Scrapy extension: writes pages, CPU and wall seconds and peak memory to the file named by ``METER_FILE``."""

    def __init__(self, crawler):
        self.crawler = crawler
        self.pages = 0

    @classmethod
    def from_crawler(cls, crawler):
        meter = cls(crawler)
        crawler.signals.connect(meter.opened, signals.spider_opened)
        crawler.signals.connect(meter.response, signals.response_received)
        crawler.signals.connect(meter.closed, signals.spider_closed)
        return meter

    def opened(self):
        self.cpu, self.wall = time.process_time(), time.perf_counter()
        self.warm = self.last = self.cpu

    def response(self, response):
        if response.status == 200 and not response.url.endswith("/robots.txt"):
            self.pages += 1
            self.last = time.process_time()
            if self.pages == WARM:
                self.warm = self.last

    def closed(self):
        found = {
            "pages": self.pages,
            "cpu_seconds": time.process_time() - self.cpu,
            "cpu_seconds_a_page": (self.last - self.warm) / max(1, self.pages - WARM),
            "wall_seconds": time.perf_counter() - self.wall,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        Path(os.environ["METER_FILE"]).write_text(json.dumps(found))
