"""A web in which scripts generate half of the sites, crawled with and without a real Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import CHROMIUM
from support.crawling import crawl, history, scrapy, stored, topic_file
from support.webs import robots

from benchmarks.scripted_web import ScriptWeb
from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.records import Reply

KEYWORDS = "coral reef fish"


class Web(ScriptWeb):
    """Adds three pages, each with another kind of redirect by script; and a robots.txt that forbids a script."""

    def get(self, url: str) -> Reply:
        html = {"content-type": "text/html"}
        if url == "http://s1.example/0":
            return Reply(url, 200, html, b"<script>location.replace(['','3'].join('/'))</script>")
        if url == "http://s3.example/robots.txt":
            return robots("http://s3.example", "User-agent: *\nDisallow: /static/")[1]
        return super().get(url)


def items(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Web, list[Any]]]:
    """A crawl with ``CRAWL_RENDER=needed``: its folder, the web, and the requests."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: scripts/install-chromium installs one")
    place, web = tmp_path_factory.mktemp("rendering"), Web(sites=4, pages=4)
    topic = topic_file(place, *web.seeds, "http://s1.example/0", keywords=KEYWORDS)
    with AccessLog(place / "log") as log, running(web, log=log) as server:
        done = crawl(topic, place / "crawl", port=server.port, CRAWL_RENDER="needed", CRAWL_SITEMAPS=0)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    yield place / "crawl", web, list(read_log(place / "log"))


def test_pages_that_need_a_browser_are_read(rendered: tuple[Path, Web, list[Any]]) -> None:
    folder, web, _ = rendered
    reachable = {url for url in web.targets if not url.startswith("http://s3.example/")}
    assert reachable <= stored(folder)
    lines = {line["url"]: line for line in history(folder)}
    page = lines["http://s1.example/1"]
    assert page["signs"]["rendered"] == 4.0 and page["links"] >= 4 and page["error"] == "", (
        "links that scripts add are in"
    )
    assert "rendered" not in lines["http://s0.example/1"]["signs"], "only what needs it"
    shown = {item["url"]: item["rendered"] for item in items(folder)}
    assert shown["http://s1.example/1"] and not shown["http://s0.example/1"]


def test_what_is_stored_is_what_was_rendered(rendered: tuple[Path, Web, list[Any]]) -> None:
    folder, _, _ = rendered
    line = next(line for line in history(folder) if line["url"] == "http://s1.example/1")
    body = (folder / "pages" / line["md5"][:2] / line["md5"][2:4] / line["md5"]).read_bytes()
    assert body.startswith(b'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">')
    assert b"<script" not in body and b"<noscript" not in body and b"<li><a href=" in body and line["size"] == len(body)
    assert line["content_type"] == "text/html; charset=utf-8"


def test_redirects_by_script_are_followed(rendered: tuple[Path, Web, list[Any]]) -> None:
    lines = {line["url"]: line for line in history(rendered[0])}
    assert lines["http://s1.example/0"]["redirect"] == "http://s1.example/3"
    assert lines["http://s1.example/3"]["md5"]


def test_robots_txt_holds_for_the_browser_and_one_probe_is_enough(rendered: tuple[Path, Web, list[Any]]) -> None:
    """A site whose script is forbidden shows nothing: only its first page is rendered."""
    folder, _, log = rendered
    assert not [access for access in log if access["host"] == "s3.example" and "static" in access["url"]]
    unread = [line for line in history(folder) if line["url"].startswith("http://s3.example/")]
    assert unread and {line["error"] for line in unread} == {"needs_browser"}
    assert ["rendered" in line["signs"] for line in unread].count(True) == 1


def test_a_site_is_asked_for_its_script_once(rendered: tuple[Path, Web, list[Any]]) -> None:
    asked = [access["url"] for access in rendered[2] if "/static/" in access["url"]]
    assert len(asked) == len(set(asked)) == 1
    assert not [access for access in rendered[2] if "favicon" in access["url"]]


def test_why_names_the_price(rendered: tuple[Path, Web, list[Any]]) -> None:
    done = scrapy("why", rendered[0], "http://s1.example/1")
    assert "rendered in a browser, which costs its site 4 fetches more" in done.stdout, done.stdout


def test_without_a_browser_the_crawl_says_so_in_one_line_and_goes_on(tmp_path: Path) -> None:
    web = Web(sites=2, pages=3)
    topic = topic_file(tmp_path, *web.seeds, keywords=KEYWORDS)
    with running(web) as server:
        done = crawl(
            topic, tmp_path / "crawl", port=server.port, CRAWL_RENDER="needed", CRAWL_BROWSER="no-such-browser"
        )
    assert done.returncode == 0 and done.stderr.count("not rendered") == 1, done.stderr
    assert {line["error"] for line in history(tmp_path / "crawl")} == {"", "needs_browser"}
