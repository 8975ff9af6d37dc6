"""Every item conforms to the JSON Schema."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError
from support.crawling import ROOT
from support.livecrawl import crawl_web

from crawlproject.adapters.feeds import PageItem
from crawlproject.pages.html.parse import parse_document
from crawlproject.records import CrawlUrl, Fetch, Page, Visit
from crawlproject.storage.page_files import item_fields, item_schema
from crawlproject.topic.parse import load_topic
from crawlproject.webs.sample import SampleWeb

VALIDATOR = Draft202012Validator(item_schema())


def crawl_some(folder: Path) -> list[dict[str, object]]:
    topic = load_topic(ROOT / "topics" / "demo.toml")
    crawl_web(topic, SampleWeb(), folder, CRAWL_MAX_PAGES=30, ORDERING="adaptive")
    return [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(item_schema())


def test_items_of_a_crawl_are_valid(tmp_path: Path) -> None:
    items = crawl_some(tmp_path)
    assert len(items) == 30
    for item in items:
        VALIDATOR.validate(item)
    assert any(item["parts"] for item in items) and any(item["content_type"] for item in items)


def test_text_has_a_line_for_each_block_and_no_empty_ones() -> None:
    body = b"<ul>\n\n  <li>One <b>reef</b></li>\n  <li> </li>\n  <li>Two</li></ul><p>Three\t\x0b</p>\n\n<pre>a\n\n  b</pre>"
    page = Page(url="http://a.example/", text=parse_document(body, url="http://a.example/").text)
    assert page.text.count("\n") > 10
    assert item_fields(page, Visit(page.url, 200, 0.0))["text"] == "One reef\nTwo\nThree\na\nb"


def test_all_say_the_same_fields_in_the_same_order() -> None:
    names = list(item_schema()["properties"])
    assert names == item_schema()["required"]
    assert names == list(item_fields(Page("http://a.example/"), Visit("http://a.example/", 200, 0.0)))
    assert names == [field.name for field in fields(PageItem)]


def test_an_item_of_the_pipelines_has_what_is_written() -> None:
    page = Page("http://a.example/", title="T", published="2024-03-09", duplicate_of="http://b.example/")
    visit = Visit(
        page.url, 200, 5.0, md5="0" * 32, digest="1" * 32, parts={"anchor": 0.5}, duplicate_of="http://b.example/"
    )
    item = PageItem(page, b"", CrawlUrl(page.url, 0.0), Fetch(200, 5.0, 0.1))
    item.publish(visit)
    written = item_fields(page, visit)
    VALIDATOR.validate(written)
    assert {name: getattr(item, name) for name in written} == written


@pytest.mark.parametrize(
    ("name", "value"),
    [("status", 404), ("published", "9 March"), ("md5", "x"), ("url", "javascript:1"), ("relevance", 1.5), ("new", 1)],
)
def test_the_schema_refuses(name: str, value: object) -> None:
    visit = Visit("http://a.example/", 200, 5.0, md5="0" * 32)
    with pytest.raises(ValidationError):
        VALIDATOR.validate({**item_fields(Page("http://a.example/"), visit), name: value})


def test_a_package_has_the_schema_in_it() -> None:
    assert '"crawlproject.storage" = ["*.json"]' in (ROOT / "pyproject.toml").read_text()
