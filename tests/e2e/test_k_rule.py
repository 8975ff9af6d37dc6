"""The k rule in a live crawl: 50 successive fetches go to 50 hosts while 50 hosts wait."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawling import crawl, history, stored, topic_file
from support.krule import broken_picks, hosts_of, picks_under_the_rule
from support.webs import HTML, DictWeb, page

from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.records import Reply

HOSTS, PAGES, K = 60, 4, 50
PORTAL = "http://portal.example/"


def wide_web() -> DictWeb:
    """A portal that links to every page, so that all waiting URLs are known after the first fetch.

    The pages of the first ten hosts look best: without the rule they would be fetched first.
    """
    urls = {
        f"http://h{h}.example/{p}": "coral reef" if h < 10 else "engine" for p in range(PAGES) for h in range(HOSTS)
    }
    links = "".join(f"<p>{text} <a href={url}>{text}</a></p>" for url, text in urls.items())
    portal = Reply(PORTAL, 200, HTML, links.encode())
    return DictWeb({PORTAL: portal, **dict(page(url, text=text, seconds=0.01) for url, text in urls.items())})


def taken(folder: Path) -> list[str]:
    """The URLs of the history in the order in which they were taken; the history is ordered by the ends of the fetches."""
    return [line["url"] for line in sorted(history(folder), key=lambda line: line["at"] - line["seconds"])]


def started(log: Path) -> list[str]:
    """The pages in the order in which the server received their requests."""
    requests = sorted(read_log(log), key=lambda access: access["start"])
    return [access["url"] for access in requests if not access["url"].endswith("/robots.txt")]


@pytest.mark.parametrize("concurrent", [1, 16])
def test_fifty_fetches_in_a_row_are_of_fifty_hosts(tmp_path: Path, concurrent: int) -> None:
    settings = {"FRONTIER_BATCH_SIZE": K, "CONCURRENT_REQUESTS": concurrent}
    with AccessLog(tmp_path / "log") as log, running(wide_web(), latency=True, log=log) as server:
        done = crawl(topic_file(tmp_path, PORTAL), tmp_path / "crawl", port=server.port, **settings)
    assert done.returncode == 0, done.stderr
    assert len(stored(tmp_path / "crawl")) == HOSTS * PAGES + 1
    waiting = {f"h{h}.example": PAGES for h in range(HOSTS)}
    # Requests that are in flight together may overtake each other on their way to the server.
    overtaken = concurrent - 1
    for urls, k in ((taken(tmp_path / "crawl"), K), (started(tmp_path / "log"), K - overtaken)):
        assert urls[0] == PORTAL
        picked = hosts_of(urls[1:])
        assert picks_under_the_rule(picked, waiting, K) > 150
        assert broken_picks(picked, waiting, K, k) == []
