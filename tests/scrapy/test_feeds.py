"""Scrapy's feed exports of a topical crawl: exactly the fields of ``items.jsonl``, and only pages that may be indexed."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from support.crawling import QUICK, scrapy, stored, topic_file
from support.webs import HTML, DictWeb, html, page

from crawlproject.http.virtual_web_server import running
from crawlproject.records import Reply
from crawlproject.storage.page_files import item_schema


def test_a_feed_has_the_fields_of_an_index_and_no_body(tmp_path: Path) -> None:
    links = ("http://b.example/", "http://b.example/gone", "http://b.example/hidden")
    web = DictWeb(dict([page("http://a.example/", *links, text="coral réef"), page("http://b.example/", text="cars")]))
    secret = html("http://c.example/", text="secret", title="Hidden")
    web.replies["http://b.example/hidden"] = Reply("", 200, {**HTML, "x-robots-tag": "noindex"}, secret)
    web.replies |= dict([page("http://c.example/", text="reef")])
    reserving = {**HTML, "x-robots-tag": "noai", "tdm-reservation": "1"}
    web.replies["http://c.example/"] = replace(web.replies["http://c.example/"], headers=reserving)
    feed, folder = tmp_path / "feed.jsonl", tmp_path / "crawl"
    topic = topic_file(tmp_path, "http://a.example/")
    with running(web) as server:
        chosen = {**QUICK, "CRAWL_DIR": folder}
        done = scrapy("crawl", "topical", "-a", f"topic={topic}", "-O", feed, port=server.port, **chosen)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    text = feed.read_text(encoding="utf-8")
    lines = {line["url"]: line for line in map(json.loads, text.splitlines())}
    assert set(lines) == stored(folder) == {"http://a.example/", "http://b.example/", "http://c.example/"}
    assert all(list(line) == list(item_schema()["properties"]) for line in lines.values())
    assert "coral réef" in text and "<p>" not in text and "Hidden" not in text
    items = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert {line["url"]: line for line in map(json.loads, items)} == lines, "items.jsonl says the same"
    assert lines["http://c.example/"]["parent"] == "http://b.example/hidden", "its links are followed all the same"
    assert (
        lines["http://c.example/"]["reserved"] == "noai tdm-reservation" and not lines["http://b.example/"]["reserved"]
    )
    child = lines["http://b.example/"]
    assert (child["parent"], child["depth"], child["status"]) == ("http://a.example/", 1, 200)


def test_a_feed_in_xml_is_well_formed(tmp_path: Path) -> None:
    web = DictWeb(dict([page("http://a.example/", "http://b.example/", text="coral reef")]))
    web.replies["http://b.example/"] = Reply(
        "", 200, HTML, html(title="A \x1b[1m reef", text="reef \x0c and \ufffe coral")
    )
    feed = tmp_path / "feed.xml"
    topic = topic_file(tmp_path, "http://a.example/")
    with running(web) as server:
        chosen = {**QUICK, "CRAWL_DIR": tmp_path / "crawl"}
        done = scrapy("crawl", "topical", "-a", f"topic={topic}", "-O", feed, port=server.port, **chosen)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    items = {item.findtext("url"): item for item in ElementTree.parse(feed).getroot()}
    child = items["http://b.example/"]
    assert child.findtext("title") == "A [1m reef"
    parts = {entry.get("name"): float(entry.text or "") for entry in child.iterfind("parts/value")}
    stored_items = map(json.loads, (tmp_path / "crawl" / "items.jsonl").read_text().splitlines())
    assert parts == {item["url"]: item["parts"] for item in stored_items}["http://b.example/"]
    assert any(" " in name for name in parts if name), "the names of parts are no names of elements"


def test_a_feed_that_cannot_be_opened_is_refused_before_the_crawl_begins(tmp_path: Path) -> None:
    topic = topic_file(tmp_path, "http://a.example/")
    (tmp_path / "file").touch()
    with running(DictWeb({})) as server:
        for feed in (tmp_path / "file" / "feed.jsonl", f"file://{tmp_path}/file/feed.jsonl", f"{tmp_path}:jsonl"):
            chosen = {**QUICK, "CRAWL_DIR": tmp_path / "crawl"}
            done = scrapy("crawl", "topical", "-a", f"topic={topic}", "-O", feed, port=server.port, **chosen)
            assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
            assert str(feed).removesuffix(":jsonl") in done.stderr and "cannot be written" in done.stderr
    assert not (tmp_path / "crawl").exists()


def test_a_feed_that_cannot_be_opened_any_more_ends_the_crawl(tmp_path: Path) -> None:
    topic = topic_file(tmp_path, "http://a.example/")
    (tmp_path / "topical").touch()
    with running(DictWeb(dict([page("http://a.example/", text="coral reef")]))) as server:
        chosen = {**QUICK, "CRAWL_DIR": tmp_path / "crawl"}
        feed = tmp_path / "%(name)s" / "feed.jsonl"
        done = scrapy("crawl", "topical", "-a", f"topic={topic}", "-O", feed, port=server.port, **chosen)
    assert done.returncode == 3 and "Traceback" not in done.stderr, done.stderr
    assert f"Cannot write the feed {tmp_path}/topical/feed.jsonl" in done.stderr


def test_a_feed_that_the_disk_does_not_take_ends_the_crawl_with_one_message(tmp_path: Path) -> None:
    web = DictWeb(dict([page("http://a.example/", text="coral reef")]))
    topic, folder = topic_file(tmp_path, "http://a.example/"), tmp_path / "crawl"
    with running(web) as server:
        chosen = {**QUICK, "CRAWL_DIR": folder}
        done = scrapy("crawl", "topical", "-a", f"topic={topic}", "-o", "/dev/full:jsonl", port=server.port, **chosen)
    assert done.returncode == 3 and "Traceback" not in done.stderr, done.stderr
    assert done.stderr.count("/dev/full") == 1 and "No space left" in done.stderr
    assert stored(folder) == {"http://a.example/"} and not (folder / "finished.json").exists()


def test_half_a_line_that_a_kill_left_is_cut_off_before_more_is_appended(tmp_path: Path) -> None:
    web = DictWeb(dict([page("http://a.example/", "http://a.example/b", text="coral reef")]))
    web.replies |= dict([page("http://a.example/b", text="coral")])
    topic, feed = topic_file(tmp_path, "http://a.example/"), tmp_path / "feed.jsonl"
    with running(web) as server:
        chosen = {**QUICK, "CRAWL_DIR": tmp_path / "crawl"}
        for pages in (1, 2):
            asked = ("crawl", "topical", "-a", f"topic={topic}", "-o", feed)
            done = scrapy(*asked, port=server.port, CRAWL_MAX_PAGES=pages, **chosen)
            assert done.returncode == 0, done.stderr
            if pages == 1:
                feed.open("a").write('{"url": "http://a.ex')
    assert [json.loads(line)["url"] for line in feed.open()] == ["http://a.example/", "http://a.example/b"]


def test_half_a_line_is_cut_off_each_file_of_a_feed_in_batches(tmp_path: Path) -> None:
    """A resumed crawl numbers its batches from 1 again, so it appends to those of before."""
    web = DictWeb(dict([page("http://a.example/", "http://a.example/b", text="coral reef")]))
    web.replies |= dict(
        [page("http://a.example/b", "http://a.example/c", text="coral"), page("http://a.example/c", text="coral")]
    )
    topic, feed, last = topic_file(tmp_path, "http://a.example/"), tmp_path / "%(batch_id)d.jsonl", tmp_path / "2.jsonl"
    with running(web) as server:
        chosen = {**QUICK, "CRAWL_DIR": tmp_path / "crawl", "FEED_EXPORT_BATCH_ITEM_COUNT": 1}
        for pages in (1, 3):
            asked = ("crawl", "topical", "-a", f"topic={topic}", "-o", feed)
            done = scrapy(*asked, port=server.port, CRAWL_MAX_PAGES=pages, **chosen)
            assert done.returncode == 0, done.stderr
            if pages == 1:
                last.write_text('{"url": "http://a.example/"}\n{"url": "http://a.ex')
    assert [json.loads(line)["url"] for line in last.open()] == ["http://a.example/", "http://a.example/c"]


def test_nothing_is_cut_off_a_compressed_feed(tmp_path: Path) -> None:
    web = DictWeb(dict([page("http://a.example/", "http://a.example/b", text="coral reef")]))
    web.replies |= dict([page("http://a.example/b", text="coral")])
    topic, feed = topic_file(tmp_path, "http://a.example/"), tmp_path / "feed.gz"
    compressed = {"format": "jsonlines", "postprocessing": ["scrapy.extensions.postprocessing.GzipPlugin"]}
    with running(web) as server:
        chosen = {**QUICK, "CRAWL_DIR": tmp_path / "crawl", "FEEDS": json.dumps({str(feed): compressed})}
        for pages in (1, 2):
            done = scrapy("crawl", "topical", "-a", f"topic={topic}", port=server.port, CRAWL_MAX_PAGES=pages, **chosen)
            assert done.returncode == 0, done.stderr
    with gzip.open(feed) as lines:
        assert [json.loads(line)["url"] for line in lines] == ["http://a.example/", "http://a.example/b"]
