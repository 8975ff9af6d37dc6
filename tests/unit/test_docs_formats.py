"""The documentation of topic files and crawl folders lists exactly their fields."""

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
from support.livecrawl import finish
from support.markdown import doc, fences, first_cells, rows, section

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.frontier.changes import Change, Waits, to_json
from crawlproject.parts.judgments.judgments import Judgment
from crawlproject.parts.probes.probe_log import Finding
from crawlproject.records import CrawlUrl, Fetch, Topic
from crawlproject.reports.report import write_report
from crawlproject.storage.crawl_files import write_marker
from crawlproject.storage.logs import RobotsLog
from crawlproject.storage.page_files import item_schema
from crawlproject.storage.warc.capture import IndexEntry
from crawlproject.topic.parse import Examples, TopicFile, load_topic
from crawlproject.webs.sample import SampleWeb

DEMO = load_topic(ROOT / "topics" / "demo.toml")


def test_fields_of_a_topic_file() -> None:
    required = {row[0].strip("`"): row[2] == "required" for row in rows(doc("topic-file.md"))}
    fields = {name: field.is_required() and name != "name" for name, field in TopicFile.model_fields.items()}
    del fields["examples"]
    assert required == fields | {f"examples.{name}": False for name in Examples.model_fields}


@pytest.fixture(scope="module")
def crawl_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl folder written by the steps of a live crawl."""
    folder = tmp_path_factory.mktemp("crawl")
    topic = Topic(name="demo", keywords=DEMO.keywords, seeds=DEMO.seeds)
    web, now = SampleWeb(), 1_000_000.0
    crawl = assemble(topic, read_options({**DEMO.settings, "CRAWL_MAX_PAGES": 3}), clock=lambda: now, folder=folder)
    while url := crawl.take(now):
        body, fetch = web.get(url.url).body, Fetch(200, now, 0.1)
        finish(crawl, url, crawl.steps.read(url, body, content_type="text/html"), body, fetch)
    crawl.close("finished", now)
    write_report(folder)
    write_marker(folder, crawl.folder.manifest.found, now)
    return folder


def test_files_of_a_crawl(crawl_folder: Path) -> None:
    table = doc("crawl-folder.md").partition("\n## ")[0]
    left = {f"{path.name}/" if path.is_dir() else path.name for path in crawl_folder.iterdir()}
    assert set(first_cells(table)) == left


def fields_in(heading: str) -> list[str]:
    """The fields that the table below a heading of docs/crawl-folder.md lists."""
    return first_cells(section(doc("crawl-folder.md"), heading))


@pytest.mark.parametrize("name", ["history.jsonl", "links.jsonl"])
def test_fields_of_a_line(crawl_folder: Path, name: str) -> None:
    line = json.loads((crawl_folder / name).read_text().splitlines()[0])
    assert fields_in(name) == list(line)


@pytest.mark.parametrize("name", ["crawl.json", "finished.json"])
def test_fields_of_a_file(crawl_folder: Path, name: str) -> None:
    assert fields_in(name) == list(json.loads((crawl_folder / name).read_text()))


def test_fields_of_robots_archives_and_probes(tmp_path: Path) -> None:
    log = RobotsLog(tmp_path)
    log.append("http://a.example/robots.txt", 200, 1.0, content_type="", location="", body=b"")
    assert fields_in("robots.jsonl") == list(json.loads((tmp_path / "robots.jsonl").read_text()))
    assert fields_in("warc/") == [field.name for field in fields(IndexEntry)]
    assert fields_in("probes.jsonl") == [field.name for field in fields(Finding)]
    assert fields_in("judgments.jsonl") == [field.name for field in fields(Judgment)]


def test_fields_and_types_of_an_item(crawl_folder: Path) -> None:
    table = {row[0].strip("`"): row[1] for row in rows(section(doc("hand-over.md"), "The item"))}
    types = {name: said["type"] for name, said in item_schema()["properties"].items()}
    assert table == {name: said if isinstance(said, str) else " or ".join(said) for name, said in types.items()}
    line = json.loads((crawl_folder / "items.jsonl").read_text().splitlines()[0])
    assert list(table) == list(types) == list(line)


def test_changes_of_the_journal() -> None:
    table = rows(section(doc("crawl-folder.md"), "frontier/journal.jsonl"))
    shown = {row[0].strip("`"): len(row[1].split(",")) for row in table}
    others = [kind(*[0] * len(kind._fields)) for kind in get_args(Change) if kind is not Waits]
    changes = [Waits(CrawlUrl("http://a.example/", 0.0)), *others]
    assert shown == {code: len(fields) for code, *fields in map(to_json, changes)}


def test_python_of_crawl_folder_runs() -> None:
    for block in fences(doc("crawl-folder.md"), "python"):
        exec(block, {})


def test_the_index_of_deploy_works(crawl_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "crawls" / "mine"
    mine.mkdir(parents=True)
    (mine / "items.jsonl").write_bytes((crawl_folder / "items.jsonl").read_bytes())
    monkeypatch.chdir(tmp_path)
    exec(fences(doc("deploy.md"), "python")[0], {})
    found = sqlite3.connect("search.db").execute("SELECT url FROM pages WHERE pages MATCH 'reef'").fetchall()
    assert found


def test_python_of_hand_over_runs(crawl_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crawls").mkdir()
    shutil.copytree(crawl_folder, tmp_path / "crawls" / "demo")
    monkeypatch.chdir(tmp_path)
    schema, searching, *_, pipeline, redis_items = fences(doc("hand-over.md"), "python")
    exec(schema, {})
    namespace: dict[str, object] = {}
    exec(searching, namespace)
    assert namespace["found"].hits  # type: ignore[attr-defined]
    exec(pipeline, namespace)
    item = SimpleNamespace(relevance=0.5, duplicate_of="", url="http://a.example/", title="A", md5="0" * 32)
    assert namespace["Announce"]().process_item(item) is item  # type: ignore[operator]
    assert json.loads((tmp_path / "announced.jsonl").read_text())["key"] == "0" * 32
    settings = Settings({"ITEM_PIPELINES": {"pipelines.steps.FrontierPipeline": 900}})
    namespace["AddOn"]().update_settings(settings)  # type: ignore[operator]
    assert list(settings.getdict("ITEM_PIPELINES").values()) == [900, 950]
    exec(redis_items, namespace)
    namespace["AddOn"]().update_settings(settings)  # type: ignore[operator]
    assert settings.getdict("ITEM_PIPELINES")["scrapy_redis.pipelines.RedisPipeline"] == 950
