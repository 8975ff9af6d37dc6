"""A calendar of short pages that differ only in month and year, next to honest hosts with new pages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from support.timedcrawl import TimedCrawl
from support.webs import HTML, DictWeb

from crawlproject.records import Reply, Topic
from crawlproject.urls.hosts import host_of

MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September"]
MONTHS += ["October", "November", "December"]
HONEST = [f"http://h{number}.example/" for number in range(4)]
CALENDAR = "http://calendar.example/"


def words(name: str, count: int) -> str:
    random = Random(name)
    pairs = ["".join(random.choice("bdfgklmnprst") + random.choice("aeiou") for _ in range(3)) for _ in range(count)]
    return " ".join(pairs)


class Web(DictWeb):
    """``length`` words on each page of the calendar; 120 on each of the honest hosts, none of them twice."""

    def __init__(self, length: int) -> None:
        super().__init__({})
        self._length = length

    def get(self, url: str) -> Reply:
        if url.endswith("/robots.txt"):
            return Reply(url, 404, HTML, b"")
        body = self._month(url) if url.startswith(CALENDAR) else self._article(url)
        return Reply(url, 200, HTML, f"<!doctype html>{body}".encode())

    def _month(self, url: str) -> str:
        path = url.removeprefix(CALENDAR).split("/")
        number = 12 * int(path[1]) + int(path[2]) - 1 if len(path) > 2 else 12 * 2024
        near = [divmod(number + step, 12) for step in (-1, 1, 12)]
        name = f"{MONTHS[number % 12]} {number // 12}"
        links = "".join(f'<a href="/events/{year}/{month + 1}/">Other</a> ' for year, month in near)
        about = f"<p>coral reef {words('club', self._length - 10)}</p><h1>{name}</h1><p>No events in {name}.</p>"
        return f"<title>{name}</title>{about}{links}"

    def _article(self, url: str) -> str:
        links = "".join(
            f'<a href="/a{Random(f"{url}{n}").randrange(400)}">{words(f"{url}{n}", 2)}</a> ' for n in range(6)
        )
        return f"<title>{words(url, 4)}</title><p>coral reef {words(f'{url}text', 120)}</p>{links}"


@pytest.mark.parametrize("length", [20, 45, 100])
def test_a_calendar_of_short_pages_gets_a_fraction_of_what_an_honest_host_gets(tmp_path: Path, length: int) -> None:
    """Five hosts, all of them seeds, take turns: 30 fetches each without a penalty. A few months reveal the pattern."""
    topic = Topic("reef", ("coral reef",), (*HONEST, CALENDAR))
    crawl = TimedCrawl(topic, tmp_path, Web(length), CRAWL_MAX_PAGES=150).run(1000.0)
    fetched = Counter(host_of(url) for _, url, _, _ in crawl.asked)
    crawl.close()
    assert fetched.total() == 150
    assert fetched["calendar.example"] <= 8
    assert min(fetched[host_of(url)] for url in HONEST) >= 35
