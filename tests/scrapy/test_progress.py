"""The progress display: its content, and its behaviour on a terminal and in a pipe."""

import logging
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from scrapy.settings import Settings
from support.invoking import Terminal

from crawlproject.adapters.extensions import progress as progress_module
from crawlproject.adapters.extensions.progress import (
    Progress,
    Speed,
    StatusLine,
    clock_time,
    print_above,
    progress_line,
    summary_line,
)
from crawlproject.reports.console import console_for

ROOT = Path(__file__).parents[2]

CRAWL = """
import sys
from pathlib import Path
from types import SimpleNamespace
import scrapy
from scrapy.crawler import AsyncCrawlerProcess

source = SimpleNamespace(
    pages=1234, fetches=1300, recent_relevance=lambda: 0.25, frontier_size=5000, hosts_waiting=77,
    best_waiting=0.875, unfollowed=0, refused=12, errors=3,
    all_that_is_left="", is_endless=False, report_path=Path(sys.argv[1]), max_pages=2000,
)

class Quiet(scrapy.Spider):
    name = "quiet"
    start_urls = ["data:,nothing"]

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        if "plain" not in sys.argv:
            crawler.topical_crawl = SimpleNamespace(stats=source, parts=())
        return super().from_crawler(crawler, *args, **kwargs)

    async def parse(self, response):
        import asyncio
        self.logger.warning("a message in between")
        await asyncio.sleep(0.3)

settings = {
    "EXTENSIONS": {"crawlproject.adapters.extensions.progress.Progress": 10},
    "CRAWL_PROGRESS_SECONDS": float(sys.argv[2]), "LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False,
}
if len(sys.argv) > 3 and sys.argv[3] != "plain":
    settings.update(LOG_FILE=sys.argv[3], LOG_LEVEL="INFO")
process = AsyncCrawlerProcess(settings)
process.crawl(Quiet)
process.start()
"""


def source(**changes):
    values = {"pages": 10, "fetches": 12, "frontier_size": 3456, "hosts_waiting": 7, "best_waiting": 0.5}
    values |= {
        "refused": 1,
        "errors": 2,
        "unfollowed": 0,
        "all_that_is_left": "",
        "is_endless": False,
        "report_path": None,
        "max_pages": 0,
        "recent_relevance": lambda: 0.125,
    }
    return SimpleNamespace(**values | changes)


def crawl(*arguments, stderr=subprocess.PIPE):
    command = [sys.executable, "-c", CRAWL, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=stderr, text=True, timeout=60)


def test_a_line_names_every_number():
    line = progress_line(source(), speed=2.5, elapsed=75)
    assert line == (
        "1:15 · 10 pages · 2.5/s · relevance 0.125 · 2 errors · 1 refused · 3,456 waiting on 7 hosts · best 0.500"
    )


def test_errors_and_refusals_fit_into_80_columns():
    line = progress_line(source(pages=12_345, max_pages=20_000, errors=123, refused=123_456), speed=12.5, elapsed=3_700)
    assert line.startswith("1:01:40 · 12,345 of 20,000 pages · 12.5/s · relevance 0.125 · 123 errors · 123,4")
    assert line.index("refused") < 90


def test_visits_beyond_the_budget_are_not_counted_against_it():
    assert " · 214 pages · " in progress_line(source(pages=214, max_pages=200), speed=2.5, elapsed=75)


def test_the_last_class_is_named_only_when_nothing_else_is_left():
    line = progress_line(source(all_that_is_left="pages that say nothing new"), 2.0, 61.0)
    assert " · only pages that say nothing new are left: 3,456 URLs · " in line and "waiting on" not in line


@pytest.mark.parametrize(("reason", "resumable"), [("shutdown", True), ("no network", True), ("page budget", False)])
def test_whoever_stops_a_crawl_is_told_how_to_go_on(reason, resumable):
    assert ("Run the same command again to resume." in summary_line(source(), 10, 5.0, 2.0, reason)) == resumable


def test_an_empty_frontier_has_no_best():
    assert progress_line(source(best_waiting=None, frontier_size=0, hosts_waiting=0), 0.0, 0.0).endswith(
        "0 waiting on 0 hosts"
    )


def test_the_summary_names_the_report_only_when_there_is_one(tmp_path):
    report = tmp_path / "report.html"
    assert "Report" not in summary_line(source(report_path=report), 10, 5.0, 2.0, "finished")
    report.touch()
    summary = summary_line(source(report_path=report), 10, 5.0, 2.0, "finished")
    assert summary.splitlines() == [
        "Crawl ended (finished): 10 pages of 12 fetches in 0:05, 2.0 pages/s, 2 errors, 1 link refused.",
        f"Report: {report}",
    ]


def test_the_summary_of_a_crawl_without_pages_says_where_to_look():
    assert "No page was stored" in summary_line(source(pages=0), 0, 5.0, 0.0, "finished")
    assert "No page was stored" not in summary_line(source(), 10, 5.0, 2.0, "finished")


def test_the_summary_says_that_pages_ask_that_their_links_are_not_followed():
    assert "nofollow" not in summary_line(source(), 10, 5.0, 2.0, "finished")
    summary = summary_line(source(unfollowed=27), 10, 5.0, 2.0, "finished")
    assert "27 links of pages that ask for it (nofollow) not followed." in summary.splitlines()


def test_the_summary_of_one_page_has_no_plural():
    summary = summary_line(source(pages=1, fetches=1, errors=1, refused=0), 1, 5.0, 0.2, "finished")
    assert summary.startswith("Crawl ended (finished): 1 page of 1 fetch in") and "1 error, 0 links refused" in summary


def test_the_summary_of_a_resumed_crawl_counts_the_new_pages_apart():
    summary = summary_line(source(), 4, 2.0, 2.0, "finished")
    assert "10 pages (4 in this run)" in summary
    assert "2.0 pages/s" in summary


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.9, "0:59"), (3600, "1:00:00"), (36061, "10:01:01")])
def test_clock_time(seconds, text):
    assert clock_time(seconds) == text


def test_speed_is_taken_over_the_latest_window():
    speed = Speed(window=10)
    assert speed.update(0, 0) == 0
    assert speed.update(5, 10) == 2
    assert speed.update(10, 10) == 1
    assert speed.update(15, 10) == 0  # the pages of the first 5 seconds are forgotten


def test_in_a_pipe_it_prints_plain_lines_and_a_summary(tmp_path):
    (tmp_path / "report.html").touch()
    error = crawl(tmp_path / "report.html", 0.05).stderr
    assert "\x1b" not in error
    assert "\r" not in error
    assert "1,234 of 2,000 pages" in error
    assert "5,000 waiting on 77 hosts · best 0.875" in error
    assert error.splitlines()[-2].startswith("Crawl ended (finished): 1,234 pages (0 in this run)")
    assert error.splitlines()[-1] == f"Report: {tmp_path / 'report.html'}"


def test_zero_seconds_leave_only_the_end(tmp_path):
    error = crawl(tmp_path, 0).stderr
    assert "waiting on" not in error and "Crawl ended (finished): 1,234 pages" in error


def test_a_spider_that_is_not_topical_has_no_display(tmp_path):
    error = crawl(tmp_path, 0.05, "plain").stderr
    assert "pages" not in error
    assert "Traceback" not in error


def test_with_a_log_file_the_lines_go_there(tmp_path):
    log = tmp_path / "crawl.log"
    assert "pages" not in crawl(tmp_path / "report.html", 0.05, log).stderr
    assert "5,000 waiting on 77 hosts" in log.read_text()


def on_a_terminal(tmp_path):
    leader, follower = os.openpty()
    crawl(tmp_path / "report.html", 0.05, stderr=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            block = os.read(leader, 65536)
        except OSError:  # Linux reports the end of a pseudo terminal this way
            break
        if not block:
            break
        shown += block
    os.close(leader)
    return shown.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_on_a_dumb_terminal_plain_lines_are_printed(tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    text = on_a_terminal(tmp_path)
    assert "\x1b" not in text and "1,234 of 2,000 pages" in text and "Crawl ended" in text


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_on_a_terminal_one_line_is_rewritten_below_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    text = on_a_terminal(tmp_path)
    assert "\r\x1b[K" in text
    assert "1,234 of 2,000 pages" in text
    message = next(line for line in text.split("\n") if "a message in between" in line)
    assert message.rsplit("\x1b[K", 1)[-1].startswith("20"), "the message starts on a clean line, with its date"
    assert "Crawl ended (finished)" in text


class Screen(Terminal):
    def screen(self):
        """The lines as a terminal would show them, for the two control sequences in use."""
        lines = [""]
        for part in self.getvalue().replace("\r\x1b[K", "\0").replace("\n", "\n").split("\n"):
            lines[-1] = part.rsplit("\0", 1)[-1] if "\0" in part else lines[-1] + part
            lines.append("")
        return lines[:-1]


def test_log_messages_scroll_by_above_the_status_line():
    terminal = Screen()
    handler = logging.StreamHandler(terminal)
    logging.root.addHandler(handler)
    try:
        status = StatusLine(terminal)
        status.open()
        status.show("first")
        logging.getLogger("test").error("something happened")
        status.show("second")
        logging.getLogger("test").error("two\nlines")
        assert terminal.screen() == ["something happened", "two", "lines", "second"]
        status.close()
        logging.getLogger("test").error("afterwards")
        assert terminal.screen() == ["something happened", "two", "lines", "afterwards", ""]
        assert handler.stream is terminal
    finally:
        logging.root.removeHandler(handler)


def test_what_is_printed_meanwhile_is_above_the_status_line():
    terminal = Screen()
    status = StatusLine(terminal)
    status.open()
    status.show("12 pages")
    print_above("Dashboard: http://127.0.0.1:1/", terminal)
    assert terminal.screen() == ["Dashboard: http://127.0.0.1:1/", "12 pages"]
    status.close()
    print_above("afterwards", terminal)
    assert terminal.screen() == ["Dashboard: http://127.0.0.1:1/", "afterwards", ""]


@pytest.mark.parametrize("setting", [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colours_where_none_are_wanted(monkeypatch, setting):
    monkeypatch.setenv("TERM", "xterm-256color")
    with_colours, without = Terminal(), Terminal()
    console_for(with_colours).print("x", style="blue")
    monkeypatch.setenv(*setting)
    console_for(without).print("x", style="blue")
    assert (with_colours.getvalue(), without.getvalue()) == ("\x1b[34mx\x1b[0m\n", "x\n")


def test_a_long_line_is_cut_at_the_width_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    terminal = Screen()
    StatusLine(terminal).show("x" * 50)
    assert terminal.screen() == ["x" * 18 + "…"]
    StatusLine(terminal).show("1:15 · 12 pages · 1,234 refused")
    assert terminal.screen() == ["1:15 · 12 pages"]


def test_what_goes_on_for_ever_is_told_once_with_an_example_and_what_ends_it(monkeypatch):
    said = []
    monkeypatch.setattr(progress_module, "show", lambda crawler, message: said.append(message))
    late = source(
        all_that_is_left="pages that say nothing new", is_endless=True, taken_last="http://a.example/calendar/2031/05/"
    )
    crawler = SimpleNamespace(settings=Settings(), topical_crawl=SimpleNamespace(stats=late))
    display = Progress(crawler, 10.0, StringIO(), lambda: 100.0)
    display.tick()
    display.tick()
    assert len(said) == 1
    for words in (
        "nothing new",
        "http://a.example/calendar/2031/05/",
        "without end",
        "Ctrl-C",
        "CRAWL_MAX_PAGES",
        "CRAWL_MIN_HARVEST",
    ):
        assert words in said[0]
    late.is_endless, late.all_that_is_left = False, "sites over their budget"
    display.tick()
    assert len(said) == 1, "a budget ends it"


@pytest.mark.parametrize(("pages", "relevance", "is_told"), [(100, 0.001, True), (99, 0.0, False), (100, 0.02, False)])
def test_a_hundred_pages_that_say_nothing_on_the_topic_are_a_reason_to_look_at_it(
    monkeypatch, pages, relevance, is_told
):
    said = []
    monkeypatch.setattr(progress_module, "show", lambda crawler, message: said.append(message))
    stats = source(pages=pages, recent_relevance=lambda: relevance)
    crawler = SimpleNamespace(settings=Settings(), topical_crawl=SimpleNamespace(stats=stats))
    display = Progress(crawler, 10.0, StringIO(), lambda: 100.0)
    display.tick()
    display.tick()
    assert len(said) == is_told
    assert not said or ("language" in said[0] and "topic check" in said[0])


def test_a_crawl_that_ended_before_the_first_tick_says_so_too(monkeypatch):
    said = []
    monkeypatch.setattr(progress_module, "show", lambda crawler, message: said.append(message))
    stats = source(pages=120, recent_relevance=lambda: 0.0)
    crawler = SimpleNamespace(settings=Settings(), topical_crawl=SimpleNamespace(stats=stats, parts=()))
    display = Progress(crawler, 0.0, StringIO(), lambda: 100.0)
    display.begin()
    display.end()
    assert len(said) == 1 and "language" in said[0]
