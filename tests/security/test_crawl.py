"""A whole crawl that starts at an attacker's page: nothing leaks, escapes, or exceeds its limits."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.attacker import PAYLOADS, Crawled, bombs
from support.crawling import crawl, history, refusals, stored, topic_file
from support.webs import DictWeb, page

from crawlproject.http.virtual_web_server import AccessLog, read_log, running


def test_the_crawl_comes_to_its_end(crawled: Crawled) -> None:
    assert crawled.code == 0, crawled.output
    assert crawled.output.count("CRAWL_ALLOWED_ADDRESSES") == crawled.output.count("CRAWL_ALLOWED_PORTS") == 1, "a hint"
    assert "Traceback" not in crawled.output, crawled.output
    assert {line["url"] for line in history(crawled.folder)} >= {f"{crawled.origin}/inject/{n}" for n in range(11)}


def test_nobody_came_to_the_secret(crawled: Crawled) -> None:
    assert crawled.visits == 0
    assert not [line for line in history(crawled.folder) if not line["url"].startswith(f"{crawled.origin}/")]


def test_every_refusal_is_counted_with_its_reason(crawled: Crawled) -> None:
    counts = refusals(crawled.folder)
    document = json.loads((crawled.folder / "refused.json").read_text())
    assert counts["safety/address"] >= 10
    assert counts["safety/port"] >= 1
    assert counts["safety/decompression"] == len(bombs())
    refused = [url for url, _ in document["samples"]["safety/address"]]
    assert any("127.0.0.1" in url for url in refused) and any("[::1]" in url for url in refused)


def test_limits_end_what_has_no_end(crawled: Crawled) -> None:
    errors = {line["url"].removeprefix(crawled.origin): line["error"] for line in history(crawled.folder)}
    assert errors["/drip/body"] == errors["/drip/head"] == "flood/slow"
    assert errors["/flood/many"] and errors["/flood/long"]
    assert {errors[path] for path in bombs()} == {"safety/decompression"}
    assert len([path for path in errors if path.startswith("/loop/")]) == 4, "three redirects and then no more"
    seconds = {line["url"].removeprefix(crawled.origin): line["seconds"] for line in history(crawled.folder)}
    assert max(seconds.values()) < 10


@pytest.mark.parametrize("path", ["/long/declared", "/long/gzip"])
def test_what_is_too_long_is_cut_and_kept(crawled: Crawled, path: str) -> None:
    """Whatever its declared length, compressed or not."""
    (line,) = [line for line in history(crawled.folder) if line["url"] == crawled.origin + path]
    assert line["md5"] and not line["error"]
    (kept,) = (crawled.folder / "pages").rglob(f"{line['md5']}*")
    assert kept.stat().st_size == 1_048_576


def test_no_file_is_anywhere_but_in_the_folder(crawled: Crawled) -> None:
    assert {path.name for path in crawled.folder.parent.iterdir()} == {"topic.toml", "crawl"}
    pages = list((crawled.folder / "pages").rglob("*"))
    assert all(re.fullmatch(r"[0-9a-f]{2,32}(\.[a-z]+)?", path.name) for path in pages), pages
    assert not any(path.is_symlink() for path in crawled.folder.rglob("*"))


@pytest.mark.parametrize("name", ["history.jsonl", "items.jsonl", "links.jsonl"])
def test_a_page_cannot_forge_a_line(crawled: Crawled, name: str) -> None:
    lines = (crawled.folder / name).read_bytes().decode().split("\n")
    assert lines.pop() == ""
    for line in lines:
        read = json.loads(line)
        assert str(read.get("url") or read["source"]).startswith(crawled.origin)
        assert "\x1b" not in read.get("title", "")


def test_payloads_came_through_as_text(crawled: Crawled) -> None:
    titles = [line["title"] for line in history(crawled.folder) if "/inject/" in line["url"]]
    assert len(titles) == len(PAYLOADS)
    assert any("<script>alert(1)</script>" in title for title in titles)


def test_a_proxy_is_asked_for_nothing_that_is_spelled_out(tmp_path: Path) -> None:
    """The proxy belongs to the operator, and so may the hosts behind it."""
    inner = ["http://127.0.0.1/", "http://169.254.169.254/latest/", "http://10.0.0.1:8080/", "http://localhost/"]
    links = [*inner, "http://b.example/", "http://c.example:6379/"]
    web = DictWeb(
        dict([page("http://a.example:5000/", *links, text="reef"), *(page(url, text="reef") for url in links)])
    )
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        done = crawl(topic_file(tmp_path, "http://a.example:5000/"), tmp_path / "crawl", port=server.port)
    assert done.returncode == 0, done.stderr
    assert stored(tmp_path / "crawl") == {"http://a.example:5000/", "http://b.example/"}
    assert {access["host"] for access in read_log(tmp_path / "log")} == {"a.example:5000", "b.example"}
    assert refusals(tmp_path / "crawl") == {"safety/address": 5, "safety/port": 1}, "and the front page above /latest/"
