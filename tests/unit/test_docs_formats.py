"""What the documentation says of topic files and crawl folders is what these have."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest
from scrapy.settings import Settings
from support.crawling import ROOT
from support.markdown import doc, fences, first_cells, rows, section

from crawlproject import settings
from crawlproject.crawl.assembly import assemble
from crawlproject.frontier.changes import Change, Waits, to_json
from crawlproject.options import read_options
from crawlproject.records import CrawlUrl, Fetch, Topic
from crawlproject.reports.report import write_report
from crawlproject.storage.finished_marker import write_marker
from crawlproject.storage.items import item_schema
from crawlproject.storage.probe_log import Finding
from crawlproject.storage.robots_log import RobotsLog
from crawlproject.storage.warc.capture import IndexEntry
from crawlproject.topic.parse import Examples, TopicFile, load_topic
from crawlproject.webs.sample import SampleWeb

DEMO = load_topic(ROOT / "topics" / "demo.toml")


def test_every_field_of_a_topic_file_stands_in_the_table() -> None:
    shown = [row[0].strip("`") for row in rows(doc("topic-file.md"))]
    fields = [name for name in TopicFile.model_fields if name != "examples"]
    assert sorted(shown) == sorted([*fields, *(f"examples.{name}" for name in Examples.model_fields)])


def test_required_fields_are_told() -> None:
    shown = {row[0].strip("`") for row in rows(doc("topic-file.md")) if row[2] == "required"}
    assert shown == {name for name, field in TopicFile.model_fields.items() if field.is_required()} - {"name"}


@pytest.fixture(scope="module")
def crawl_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl folder as the steps of a live crawl leave it."""
    folder = tmp_path_factory.mktemp("crawl")
    topic = Topic(name="demo", keywords=DEMO.keywords, seeds=DEMO.seeds)
    web, now = SampleWeb(), 1_000_000.0
    crawl = assemble(topic, read_options({**DEMO.settings, "CRAWL_MAX_PAGES": 3}), clock=lambda: now, folder=folder)
    while url := crawl.take(now):
        body, fetch = web.get(url.url).body, Fetch(200, now, 0.1)
        page = crawl.steps.score_links(crawl.steps.score_page(crawl.steps.read(url, body, content_type="text/html")))
        crawl.steps.keep(page, crawl.steps.visit(url, page, body, fetch))
        crawl.steps.offer(page, fetch)
    crawl.close("finished", now)
    write_report(folder)
    write_marker(folder, crawl.folder.manifest.found, now)
    return folder


def test_every_file_of_a_crawl_stands_in_the_table(crawl_folder: Path) -> None:
    table = doc("crawl-folder.md").partition("\n## ")[0]
    left = {f"{path.name}/" if path.name == "pages" else path.name for path in crawl_folder.iterdir()}
    assert {name.replace("frontier/journal.jsonl", "frontier") for name in first_cells(table)} == left
    assert (crawl_folder / "frontier" / "journal.jsonl").exists()


@pytest.mark.parametrize("name", ["history.jsonl", "items.jsonl", "links.jsonl"])
def test_every_field_of_a_line_stands_in_the_table(crawl_folder: Path, name: str) -> None:
    line = json.loads((crawl_folder / name).read_text().splitlines()[0])
    assert first_cells(section(doc("crawl-folder.md"), name)) == list(line)


def test_every_field_of_the_manifest_stands_in_the_table(crawl_folder: Path) -> None:
    manifest = json.loads((crawl_folder / "crawl.json").read_text())
    assert first_cells(section(doc("crawl-folder.md"), "crawl.json")) == list(manifest)


def test_feeds_have_the_fields_of_the_items() -> None:
    assert first_cells(section(doc("crawl-folder.md"), "items.jsonl")) == settings.FEED_EXPORT_FIELDS


def test_every_change_of_the_journal_stands_in_the_table() -> None:
    table = rows(section(doc("crawl-folder.md"), "frontier/journal.jsonl"))
    shown = {row[0].strip("`"): len(row[1].split(",")) for row in table}
    others = [kind(*[0] * len(kind._fields)) for kind in get_args(Change) if kind is not Waits]
    changes = [Waits(CrawlUrl("http://a.example/", 0.0)), *others]
    assert shown == {code: len(fields) for code, *fields in map(to_json, changes)}


def test_python_about_the_crawl_folder_runs() -> None:
    for block in fences(doc("crawl-folder.md"), "python"):
        exec(block, {})


def test_the_index_without_a_server_works(crawl_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "crawls" / "mine"
    mine.mkdir(parents=True)
    (mine / "items.jsonl").write_bytes((crawl_folder / "items.jsonl").read_bytes())
    monkeypatch.chdir(tmp_path)
    exec(fences(doc("deploy.md"), "python")[0], {})
    found = sqlite3.connect("search.db").execute("SELECT url FROM pages WHERE pages MATCH 'reef'").fetchall()
    assert found


def test_every_field_of_the_marker_stands_in_the_table(crawl_folder: Path) -> None:
    marker = json.loads((crawl_folder / "finished.json").read_bytes())
    table = doc("crawl-folder.md").partition("## finished.json")[2].partition("\n## ")[0]
    assert first_cells(table) == list(marker)


def test_the_item_is_told_field_by_field() -> None:
    table = {row[0].strip("`"): row[1] for row in rows(section(doc("hand-over.md"), "The item"))}
    types = {name: said["type"] for name, said in item_schema()["properties"].items()}
    assert table == {name: said if isinstance(said, str) else " or ".join(said) for name, said in types.items()}
    assert list(table) == list(types)


def test_every_field_of_the_notes_beside_a_crawl_is_told(tmp_path: Path) -> None:
    log = RobotsLog(tmp_path)
    log.append("http://a.example/robots.txt", 200, 1.0, content_type="", location="", body=b"")
    line = json.loads((tmp_path / "robots.jsonl").read_text())
    assert first_cells(section(doc("crawl-folder.md"), "robots.jsonl")) == list(line)
    assert first_cells(section(doc("crawl-folder.md"), "warc/")) == [field.name for field in fields(IndexEntry)]


def test_every_field_of_a_finding_is_told() -> None:
    assert first_cells(section(doc("crawl-folder.md"), "probes.jsonl")) == [field.name for field in fields(Finding)]


def test_python_about_the_hand_over_runs(crawl_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crawls").mkdir()
    shutil.copytree(crawl_folder, tmp_path / "crawls" / "demo")
    monkeypatch.chdir(tmp_path)
    schema, searching, pipeline = fences(doc("hand-over.md"), "python")
    exec(schema, {})
    namespace: dict[str, object] = {}
    exec(searching, namespace)
    assert namespace["found"].hits  # type: ignore[attr-defined]
    exec(pipeline, namespace)
    item = SimpleNamespace(relevance=0.5, duplicate_of="", url="http://a.example/", title="A", md5="0" * 32)
    assert namespace["Announce"]().process_item(item) is item  # type: ignore[operator]
    assert json.loads((tmp_path / "announced.jsonl").read_text())["key"] == "0" * 32
    settings = Settings({"ITEM_PIPELINES": {"pipelines.frontier.FrontierPipeline": 900}})
    namespace["AddOn"]().update_settings(settings)  # type: ignore[operator]
    assert list(settings.getdict("ITEM_PIPELINES").values()) == [900, 950]
