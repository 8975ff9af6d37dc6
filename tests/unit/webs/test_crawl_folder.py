"""The folder of an earlier crawl as a web."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawlproject.errors import BadCrawlDir, BadWeb
from crawlproject.records import Visit
from crawlproject.storage.logs import RobotsLog
from crawlproject.storage.page_files import PageRepository
from crawlproject.urls.hosts import page_name
from crawlproject.webs.open import Web, open_web

HOME, MOVED, GONE, SLOW, PICTURE = (f"http://reef.example/{name}" for name in ("", "old", "gone", "slow", "coral"))


@pytest.fixture
def folder(tmp_path: Path, write_crawl) -> Path:
    visits = [
        Visit(HOME, 200, 1.0, seconds=0.25, md5=page_name(HOME)),
        Visit(MOVED, 302, 2.0, redirect=HOME),
        Visit(GONE, 404, 3.0, error="http 404"),
        Visit(SLOW, 0, 4.0, error="DownloadTimeoutError"),
        Visit(PICTURE, 200, 5.0, error="content type image/png"),
    ]
    root = write_crawl(tmp_path / "crawl", visits)
    PageRepository(root / "pages").store(HOME, b"\n<p>Coral reefs")
    return root


@pytest.fixture
def web(folder: Path) -> Web:
    return open_web(folder, cache_dir=folder.parent / "cache")


def test_a_stored_page_is_served_as_it_came(web: Web) -> None:
    reply = web.get("http://REEF.example/index.html")
    assert (reply.status, reply.body, reply.seconds) == (200, b"\n<p>Coral reefs", 0.25)
    assert reply.headers == {"content-type": "text/html"}


def test_the_content_type_and_robots_txt_are_those_that_came(tmp_path: Path, write_crawl) -> None:
    latin = "text/html; charset=iso-8859-1"
    root = write_crawl(tmp_path / "crawl", [Visit(HOME, 200, 1.0, md5=page_name(HOME), content_type=latin)])
    PageRepository(root / "pages").store(HOME, b"<p>caf\xe9")
    robots = RobotsLog(root)
    for body in (b"Disallow: /old", b"Disallow: /\xe9"):
        url = "http://reef.example/robots.txt"
        robots.append(url, 200, 1.0, content_type="text/plain", location="", body=body)
    robots.close()
    web = open_web(root, cache_dir=tmp_path)
    assert web.get(HOME).headers == {"content-type": latin}
    assert (web.get(url).status, web.get(url).body) == (200, b"Disallow: /\xe9")
    assert url in web and "http://other.example/robots.txt" not in web
    (root / "robots.jsonl").write_text('{"url": 1}\n')
    with pytest.raises(BadCrawlDir, match=r"robots\.jsonl, line 1"):
        open_web(root, cache_dir=tmp_path)


def test_other_ends_of_a_fetch(web: Web) -> None:
    assert (web.get(MOVED).status, web.get(MOVED).headers["location"]) == (302, HOME)
    assert web.get(GONE).status == 404
    assert (web.get(SLOW).status, web.get(SLOW).error) == (0, "timeout")
    assert web.get(PICTURE).status == 410


def test_what_was_never_fetched_is_not_held(web: Web) -> None:
    assert web.get("http://reef.example/other").status == 404
    assert "http://reef.example/other" not in web and SLOW in web
    assert sorted(web.urls()) == [HOME, MOVED]


def test_a_page_whose_file_is_gone_is_a_404(folder: Path, web: Web) -> None:
    PageRepository(folder / "pages").path(HOME).unlink()
    assert web.get(HOME).status == 404


def test_a_rehearsal_keeps_no_pages(tmp_path: Path, write_crawl, page) -> None:
    with pytest.raises(BadWeb, match="without pages"):
        open_web(write_crawl(tmp_path, [page(HOME)]), cache_dir=tmp_path)


def test_a_damaged_history_is_reported(folder: Path) -> None:
    with (folder / "history.jsonl").open("a") as file:
        file.write(json.dumps({"url": HOME}) + "\n")
    with pytest.raises(BadCrawlDir, match="line 6"):
        open_web(folder, cache_dir=folder)
