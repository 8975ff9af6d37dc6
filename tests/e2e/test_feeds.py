"""Feeds over real sockets: named by pages and robots.txt, read, followed, and remembered after ``kill -9``."""

from __future__ import annotations

import json
from pathlib import Path

from support.crawling import QUICK, crawl, history, kill_after_growth, refusals, stored, topic_file
from support.webs import DictWeb, page, robots

from crawlproject.http.virtual_web_server import running
from crawlproject.records import PAGE, Reply

HOME = "http://a.example/"
POSTS = [f"http://a.example/post/{number}" for number in range(12)]
ELSEWHERE = "http://b.example/post"
XML = {"content-type": "application/xml"}


def rss(*urls: str) -> Reply:
    items = "".join(f"<item><title>Coral reef {n}</title><link>{url}</link></item>" for n, url in enumerate(urls))
    return Reply("", 200, XML, f'<?xml version="1.0"?><rss><channel>{items}</channel></rss>'.encode())


def atom(older: str, *urls: str) -> Reply:
    items = "".join(f"<entry><title>Coral</title><link href='{url}'/></entry>" for url in urls)
    text = f"<feed xmlns='http://www.w3.org/2005/Atom'><link rel='next' href='{older}'/>{items}</feed>"
    return Reply("", 200, XML, text.encode())


def web() -> DictWeb:
    """A blog whose front page links to no post: one feed is declared, one is linked to, one is in robots.txt."""
    replies = dict([page(ELSEWHERE, text="coral reef"), *(page(url, text="coral reef") for url in POSTS)])
    replies |= dict([robots("http://a.example", "User-agent: *\nDisallow: /post/7\nSitemap: /news.rss\n")])
    head = '<link rel="alternate" type="application/atom+xml" href="/atom">'
    home = f"<html><head>{head}</head><body><p>coral reef</p><a href='/comments.rss'>Comments</a></body></html>"
    replies[HOME] = Reply("", 200, {"content-type": "text/html"}, home.encode())
    replies[f"{HOME}atom"] = atom("/atom?page=2", *POSTS[:4], ELSEWHERE)
    replies[f"{HOME}atom?page=2"] = atom("/atom?page=2", *POSTS[4:8])
    replies[f"{HOME}comments.rss"] = rss(*POSTS[6:10])
    replies[f"{HOME}news.rss"] = rss(*POSTS[10:])
    return DictWeb(replies)


def test_nobody_reads_feeds_unless_asked_to(tmp_path: Path) -> None:
    with running(web()) as server:
        done = crawl(topic_file(tmp_path, HOME), tmp_path / "crawl", port=server.port)
    assert done.returncode == 0 and stored(tmp_path / "crawl") == {HOME}


def test_posts_are_found_through_feeds(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with running(web()) as server:
        done = crawl(topic_file(tmp_path, HOME), folder, port=server.port, CRAWL_FEEDS=3, CRAWL_SITEMAPS=1)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert stored(folder) == {HOME, ELSEWHERE, *POSTS} - {POSTS[7]}
    lines = {line["url"].removeprefix(HOME): line for line in history(folder)}
    kinds = {name: line["kind"] for name, line in lines.items() if line["kind"] != PAGE}
    assert kinds == {"atom": "feed", "atom?page=2": "feed", "comments.rss": "feed", "news.rss": "sitemap"}
    assert (lines["post/0"]["parent"], lines["post/0"]["anchor"], lines["post/0"]["depth"]) == (
        f"{HOME}atom",
        "Coral",
        2,
    )
    assert lines["post/0"]["context_score"] > 0.4, "the title is on topic"
    assert refusals(folder).keys() == {"robots/forbidden", "trap/extension"}


def test_a_host_has_only_so_many_feeds(tmp_path: Path) -> None:
    with running(web()) as server:
        crawl(topic_file(tmp_path, HOME), tmp_path / "crawl", port=server.port, CRAWL_FEEDS=1, CRAWL_SITEMAP_URLS=2)
    assert stored(tmp_path / "crawl") == {HOME, *POSTS[:2]}
    assert refusals(tmp_path / "crawl")["feed/surplus"] == 3


def test_a_killed_crawl_resumes_with_its_feeds(tmp_path: Path) -> None:
    topic, folder = topic_file(tmp_path, HOME), tmp_path / "crawl"
    settings = {"CRAWL_DIR": folder, "CRAWL_FEEDS": 9, "CRAWL_SITEMAPS": 9}
    with running(web()) as server:
        for lines in (2, 3):
            kill_after_growth(folder, lines, {**QUICK, **settings}, server.port, topic)
        done = crawl(topic, folder, port=server.port, ordering="adaptive", **settings)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert stored(folder) == {HOME, ELSEWHERE, *POSTS} - {POSTS[7]}
    assert len(history(folder)) == len({line["url"] for line in history(folder)})
    names = [json.loads(line)["sitemap"] for line in (folder / "sitemaps.jsonl").read_text().splitlines()]
    assert len(names) == len(set(names)) == 4
