"""Avoids a log line per page: that would be 300 lines per second, and the progress display shows more."""

from __future__ import annotations

from typing import Any

from scrapy.logformatter import LogFormatter


class QuietLogFormatter(LogFormatter):
    """Does not log crawled pages and scraped items; logs errors and drops as Scrapy does."""

    def crawled(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None

    def scraped(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None
