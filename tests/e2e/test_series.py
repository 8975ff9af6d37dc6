"""Page series in a real crawl: fetched in order although better pages wait, and joined by the export."""

from __future__ import annotations

import json
from pathlib import Path

from support.crawling import crawl, history, scrapy, topic_file
from support.webs import DictWeb, page

from crawlproject.http.virtual_web_server import running
from crawlproject.records import Reply

HOME = "http://a.example/"
STORY = ["http://a.example/story", *(f"http://a.example/story?page={n}" for n in range(2, 7))]
OTHERS = [f"http://a.example/reef{n}" for n in range(12)]


def part(number: int) -> Reply:
    """A part of the story that links to all parts and to the next one, but says little about the topic."""
    row = "".join(f"<a href='{url}'>{n}</a> " for n, url in enumerate(STORY, start=1))
    following = f"<a href='{STORY[number]}'>Next page</a>" if number < len(STORY) else ""
    text = f"<main><p>Part {number} of a long story that mentions a coral once, and tells of much else.</p></main>"
    body = f"<title>Story</title><body>{text}<p>{row}</p>{following}</body>"
    return Reply("", 200, {"content-type": "text/html"}, body.encode())


def own_words(url: str) -> str:
    """Words that occur on no other page."""
    number = int(url.rpartition("reef")[2])
    return " ".join(chr(97 + number) * length for length in range(3, 20))


def web() -> DictWeb:
    replies = dict(
        [
            page(HOME, STORY[0], *OTHERS, text="coral reef"),
            *(page(url, text=f"coral reef {own_words(url)}") for url in OTHERS),
        ]
    )
    return DictWeb(replies | {url: part(number) for number, url in enumerate(STORY, start=1)})


def test_a_series_is_fetched_in_order_and_joined(tmp_path: Path) -> None:
    topic = topic_file(tmp_path, HOME)
    with running(web()) as server:
        for folder, settings in (("off", {}), ("on", {"CRAWL_SERIES": 5})):
            done = crawl(topic, tmp_path / folder, port=server.port, PAGE_DUPLICATES="False", **settings)
            assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    order = [line["url"] for line in history(tmp_path / "on")]
    start = order.index(STORY[0])
    assert order[start : start + 5] == STORY[:5], "to the fifth page, one after the other"
    assert STORY[5] in order, "later, as any link"
    assert {line["url"] for line in history(tmp_path / "off")} == set(order)
    depths = {line["url"]: line["depth"] for line in history(tmp_path / "on")}
    assert depths[STORY[0]] == depths[STORY[4]] == 1, "parts are as deep as the first page"

    for kind in ("jsonl", "markdown"):
        done = scrapy("export", tmp_path / "off", tmp_path / kind, "--to", kind, "--join-series")
        assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "jsonl").read_text().splitlines()]
    assert {line["url"] for line in lines} == {HOME, STORY[0], *OTHERS}
    (story,) = [line for line in lines if line["url"] == STORY[0]]
    assert [f"Part {n} of" in story["text"] for n in range(1, 8)] == [True] * 6 + [False]
    text = (tmp_path / "markdown" / story["md5"][:2] / f"{story['md5']}.md").read_text()
    assert [text.index(f"Part {n} of") for n in range(1, 7)] == sorted(text.index(f"Part {n} of") for n in range(1, 7))
    assert scrapy("export", tmp_path / "off", tmp_path / "x", "--to", "graphml", "--join-series").returncode == 2
