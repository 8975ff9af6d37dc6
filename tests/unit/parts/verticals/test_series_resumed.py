"""A resumed crawl reads no more of a series in order than the setting says."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.livecrawl import crawl_on
from support.webs import HTML, DictWeb, page

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.records import Reply, Topic
from crawlproject.storage.read import read_visits

HOME = "http://a.example/"
OTHERS = [f"{HOME}reef{number}" for number in range(9)]


def story(urls: list[str]) -> dict[str, Reply]:
    """Parts of a story with a row of numbers, which mention the topic once."""
    row = "".join(f"<p><a href='{url}'>{number}</a></p>" for number, url in enumerate(urls, start=1))
    parts = {}
    for number, url in enumerate(urls, start=1):
        following = f"<p><a href='{urls[number]}'>Next page</a></p>" if number < len(urls) else ""
        text = f"<p>Part {number} of a long story that mentions a coral once, and tells of much else.</p>"
        parts[url] = Reply(url, 200, HTML, f"<title>Story</title>{text}{row}{following}".encode())
    return parts


@pytest.mark.parametrize(
    "urls",
    [
        [f"{HOME}story", *(f"{HOME}story?page={number}" for number in range(2, 8))],
        [f"{HOME}story/", *(f"{HOME}story/{number}/" for number in range(2, 8))],
    ],
)
def test_the_limit_of_a_series_holds_over_resumes(tmp_path: Path, urls: list[str]) -> None:
    texts = (page(url, text=f"coral reef {chr(97 + number) * 9}") for number, url in enumerate(OTHERS))
    web = DictWeb(dict([page(HOME, urls[0], *OTHERS, text="coral reef"), *texts]) | story(urls))
    settings = {"CRAWL_SERIES": 4, "PAGE_DUPLICATES": False, "POLITENESS_MIN_DELAY": 0, "CRAWL_FRONT_PAGES": False}
    topic = Topic("reefs", ("coral reef",), (HOME,))
    for run in range(4):
        options = read_options({**settings, "ORDERING": "breadth_first"})
        crawl = assemble(topic, options, clock=lambda: 1.0, folder=tmp_path)
        crawl_on(crawl, web, 2 if run < 3 else 20, begin=1000.0 * (run + 1))
        crawl.close("shutdown", 1000.0 * (run + 1) + 500)
    order = [visit.url for visit in read_visits(tmp_path)]
    start = order.index(urls[0])
    assert order[start : start + 5] == [*urls[:4], OTHERS[0]]
    assert set(order) == {HOME, *OTHERS, *urls}
