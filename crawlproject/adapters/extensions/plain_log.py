"""Makes control characters visible in log messages, which quote servers and pages."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals

from crawlproject.pages.text.printable import visible

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

_formatter = logging.Formatter()


class PlainLog:
    """Adds a filter to the handlers of the root logger while a spider runs."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls()
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.engine_stopped, signals.engine_stopped)
        return extension

    def spider_opened(self) -> None:
        for handler in logging.root.handlers:
            handler.addFilter(spell_out)  # adding the same function twice has no effect

    def engine_stopped(self) -> None:
        for handler in logging.root.handlers:
            handler.removeFilter(spell_out)


def spell_out(record: logging.LogRecord) -> bool:
    """A logging filter that passes every record, with control characters in message and traceback made ``visible``."""
    record.msg, record.args = visible(record.getMessage()), None
    if record.exc_info and not record.exc_text:
        record.exc_text = visible(_formatter.formatException(record.exc_info))
    return True
