"""A site with an endless calendar: its other pages come first, and the operator is told about the calendar."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from random import Random

import pytest
from support.crawling import QUICK, history, scrapy, start, topic_file
from support.httpserver import HtmlHandler, listening, local

ARTICLES = 40
MONTHS = ("January", "February", "March", "April", "May", "June", "July")


def words(name: str, count: int) -> str:
    random = Random(name)
    return " ".join(
        "".join(random.choice("bdfgklmnprst") + random.choice("aeiou") for _ in range(3)) for _ in range(count)
    )


class _Club(HtmlHandler):
    """Articles that link from one to the next, short notices, and a calendar with an event in every ninth month."""

    def do_GET(self) -> None:
        _, kind, *rest = self.path.split("/")
        match kind, *rest:
            case "", *_:
                body = '<p>Coral reef club</p><a href="/calendar/2031/5/">Calendar</a> <a href="/article/1">News</a>'
            case "article", number:
                body = f"<h1>Reef {words(number, 3)}</h1><p>{words(f'a{number}', 120)}</p>"
                body += f'<a href="/notice/{number}">Notice</a>'
                if int(number) < ARTICLES:
                    body += f'<a href="/article/{int(number) + 1}">Next</a>'
            case "notice", number:
                body = f"<p>Notice: {words(f'n{number}', 12)}</p>"
            case "calendar", year, month, "":
                body = self.month(12 * int(year) + int(month) - 1)
            case _:
                self.answer(404, "<p>There is nothing here")
                return
        self.answer(200, f"<title>Reef club</title><nav><a href=/>Home</a></nav>{body}")

    def month(self, number: int) -> str:
        year, month = divmod(number, 12)
        days = "".join(f"<td><a href=/calendar/{year}/{month + 1}/>{day}</a></td>" for day in range(1, 29))
        event = f"<p>{words(f'e{number}', 30)}</p>" if number % 9 == 0 else "<p>No appointments this month.</p>"
        around = [divmod(near, 12) for near in (number - 1, number + 1)]
        links = " ".join(f'<a href="/calendar/{y}/{m + 1}/">Another month</a>' for y, m in around)
        return f"<h1>{MONTHS[number % 7]} {year}</h1><table>{days}</table>{event}{links}"


@pytest.mark.slow
def test_an_endless_calendar_comes_last_says_so_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with listening(_Club) as port:
        topic = topic_file(tmp_path, f"http://127.0.0.1:{port}/")
        settings = {**QUICK, **local(port), "CRAWL_PROGRESS_SECONDS": 1, "CRAWL_MAX_PAGES": 0, "CRAWL_DIR": folder}
        with start("crawl", "topical", "-a", f"topic={topic}", **settings) as process:
            until = time.monotonic() + 240
            while "For half a minute" not in process.said()[1]:
                assert process.poll() is None and time.monotonic() < until, process.said()[1]
                time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 3
        said = process.said()[1]
    assert said.count("For half a minute") == 1
    assert "only pages that say nothing new were fetched, such as http://127.0.0.1" in said
    assert "Ctrl-C" in said and "CRAWL_MAX_PAGES" in said and "only pages that say nothing new are left" in said

    fetched = [line["url"].partition(f":{port}")[2] for line in history(folder)]
    honest = [place for place, path in enumerate(fetched) if not path.startswith("/calendar/")]
    assert len(honest) == 2 * ARTICLES + 1, "the start page, the articles and the notices"
    before = [path for path in fetched[: honest[-1]] if path.startswith("/calendar/")]
    assert len(before) <= 30, "while honest pages waited"
    assert len(fetched) > 300, "it went on"

    stats = json.loads((folder / "crawl.json").read_text())["stats"]
    assert stats["waiting/uninformative"] > 0
    assert "brought nothing new (a calendar" in (folder / "report.html").read_text()
    late = next(
        line for line in reversed(history(folder)) if line["signs"].get("new_text", line["signs"].get("novelty")) == 0
    )
    assert "It said nothing new: 0% of its text" in scrapy("why", folder, late["url"]).stdout
