"""CPU time of a crawl from its first request to its last item, start-up and imports left out."""

from __future__ import annotations

import json
import os
import resource
import time
from pathlib import Path

from scrapy import signals


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

    def response(self, response):
        self.pages += response.status == 200 and not response.url.endswith("/robots.txt")

    def closed(self):
        found = {
            "pages": self.pages,
            "cpu_seconds": time.process_time() - self.cpu,
            "wall_seconds": time.perf_counter() - self.wall,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        Path(os.environ["METER_FILE"]).write_text(json.dumps(found))
