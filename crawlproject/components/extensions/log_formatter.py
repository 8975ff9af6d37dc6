"""One log line a page is 300 lines a second: the progress display tells more, for less."""

from __future__ import annotations

from typing import Any

from scrapy.logformatter import LogFormatter


class QuietLogFormatter(LogFormatter):
    """Says nothing about pages that were crawled and items that were scraped; errors and drops are logged as ever."""

    def crawled(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None

    def scraped(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None
