"""The message after a second signal has ended a crawl."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.utils.test import get_crawler
from support.items import a_crawl, an_item

from crawlproject.adapters.ending import tell_of_forced_end


def test_a_report_that_was_written_is_not_said_to_lack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawler = get_crawler(settings_dict={"EXTENSIONS": {"crawlproject.adapters.extensions.report.ReportWriter": 20}})
    folder = SimpleNamespace(path=a_crawl(tmp_path, an_item(0, "coral")))
    crawler.topical_crawl = SimpleNamespace(folder=folder)  # type: ignore[attr-defined]
    tell_of_forced_end(crawler)
    assert capsys.readouterr().err.startswith("Stopped at once, without a report. ")
    crawler.signals.send_catch_log(signals.spider_closed, spider=None, reason="shutdown")
    assert (tmp_path / "report.html").exists()
    tell_of_forced_end(crawler)
    assert capsys.readouterr().err.startswith("Stopped at once. ")


def test_a_crawl_may_be_ended_while_it_is_put_together(capsys: pytest.CaptureFixture[str]) -> None:
    """For example during the replay of a long history, when there are no extensions yet."""
    crawler = Crawler(Spider)
    tell_of_forced_end(crawler)
    assert capsys.readouterr().err.startswith("Stopped at once, without a report. ")
