"""Sitemaps over real sockets: found in robots.txt, fetched politely, followed, and remembered after ``kill -9``."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest
from support.crawling import QUICK, crawl, history, kill_after_growth, refusals, stored, topic_file
from support.webs import DictWeb, page, robots

from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.records import SITEMAP, Reply

HOME = "http://a.example/"
PAGES = [f"http://a.example/coral/{number}" for number in range(30)]
ELSEWHERE = "http://victim.example/page"


def xml(kind: str, *urls: str) -> bytes:
    items = "".join(
        f"<{kind}><loc>{url}</loc><lastmod>2024-06-0{n % 9 + 1}</lastmod></{kind}>" for n, url in enumerate(urls)
    )
    return f'<?xml version="1.0"?><root xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{items}</root>'.encode()


def web() -> DictWeb:
    """A host with an index, a compressed sitemap behind a redirect, and a broken one; its front page has no links."""
    replies = dict([page(HOME, text="coral reef"), page(ELSEWHERE), *(page(url, text="coral reef") for url in PAGES)])
    rules = "User-agent: *\nDisallow: /coral/7\nSitemap: /index.xml.gz\nSitemap: http://a.example/gone.xml\n"
    replies |= dict([robots("http://a.example", rules)])
    packed = {"content-type": "application/x-gzip"}
    index = xml("sitemap", "http://a.example/old.xml", "http://a.example/broken.xml")
    replies["http://a.example/index.xml.gz"] = Reply("", 200, packed, gzip.compress(index))
    replies["http://a.example/old.xml"] = Reply("", 301, {"location": "/pages.xml.gz"}, b"")
    replies["http://a.example/pages.xml.gz"] = Reply("", 200, packed, gzip.compress(xml("url", *PAGES, ELSEWHERE)))
    replies["http://a.example/broken.xml"] = Reply("", 200, {"content-type": "text/xml"}, b"<urlset><url><loc>")
    return DictWeb(replies)


def test_pages_of_sitemaps_are_crawled(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with AccessLog(tmp_path / "log") as log, running(web(), log=log) as server:
        done = crawl(topic_file(tmp_path, HOME), folder, port=server.port, CRAWL_SITEMAPS=9, POLITENESS_MIN_DELAY=0.02)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert stored(folder) == {HOME, *PAGES} - {"http://a.example/coral/7"}
    lines = {line["url"].removeprefix(HOME): line for line in history(folder)}
    assert {name for name, line in lines.items() if line["kind"] == SITEMAP} == {
        *("index.xml.gz", "pages.xml.gz", "broken.xml", "gone.xml", "old.xml")
    }
    assert (lines["gone.xml"]["error"], lines["old.xml"]["redirect"]) == ("http 404", f"{HOME}pages.xml.gz")
    assert lines["coral/1"]["parent"] == f"{HOME}pages.xml.gz" and lines["coral/1"]["depth"] == 2
    assert lines["coral/1"]["score"] > 0, "the words of the URL are on topic"
    assert refusals(folder) == {"robots/forbidden": 1, "sitemap/foreign": 1}
    kept = [json.loads(line) for line in (folder / "sitemaps.jsonl").read_text().splitlines()]
    assert {line["sitemap"]: len(line["pages"]) for line in kept}[f"{HOME}pages.xml.gz"] == len(PAGES)
    visits = sorted(read_log(tmp_path / "log"), key=lambda access: access["start"])
    assert {access["host"] for access in visits} == {"a.example"}
    assert all(later["start"] >= earlier["start"] + 0.02 for earlier, later in pairwise(visits)), (
        "sitemaps are visits, too"
    )


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_a_killed_crawl_resumes_with_its_sitemaps(tmp_path: Path, frontier: str) -> None:
    topic = topic_file(tmp_path, HOME)
    folder = tmp_path / "crawl"
    settings = {"CRAWL_DIR": folder, "CRAWL_SITEMAPS": 9, "FRONTIER": frontier}
    with running(web()) as server:
        for lines in (1, 2, 3):
            kill_after_growth(folder, lines, {**QUICK, **settings}, server.port, topic)
        done = crawl(topic, folder, port=server.port, ordering="adaptive", **settings)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert stored(folder) == {HOME, *PAGES} - {"http://a.example/coral/7"}
    assert len(history(folder)) == len({line["url"] for line in history(folder)})
    names = [json.loads(line)["sitemap"] for line in (folder / "sitemaps.jsonl").read_text().splitlines()]
    assert len(names) == len(set(names)) == 3
