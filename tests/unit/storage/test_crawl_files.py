"""No files are overwritten: commands keep the files of a crawl, a crawl and its report keep the files of people."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings
from support.crawling import ROOT
from support.invoking import invoke
from support.items import a_crawl, an_item

from crawlproject.adapters.feeds import refuse_feeds
from crawlproject.commands.changes import ChangesCommand
from crawlproject.commands.compare import CompareCommand
from crawlproject.commands.export import ExportCommand
from crawlproject.commands.map import MapCommand
from crawlproject.commands.report import ReportCommand
from crawlproject.commands.seeds import SeedsCommand
from crawlproject.errors import BadInput
from crawlproject.records import Topic
from crawlproject.reports.report import write_report
from crawlproject.storage.crawl_files import refuse_crawl_file
from crawlproject.storage.crawl_folder import CrawlFolder

TOPIC = Topic("t", ("coral",), ("http://a.example/",))
TARGETS = ["items.jsonl", "pages/16/07/1607", "../crawl/history.jsonl", "frontier/journal.jsonl"]
SOMEBODYS = b"<!doctype html><title>Our quarterly report</title>"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return a_crawl(tmp_path / "crawl", an_item(0, "coral", relevance=0.5))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("command", "options"),
    [
        (ExportCommand, lambda crawl, target: [crawl, "--to", "jsonl", target]),
        (ChangesCommand, lambda crawl, target: [crawl, "--to", "jsonl", "--output", target]),
        (CompareCommand, lambda crawl, target: [crawl, "--csv", target]),
        (MapCommand, lambda crawl, target: [crawl, "--out", target]),
        (SeedsCommand, lambda crawl, target: ["sample", ROOT / "topics/demo.toml", "--min-hosts", 2, "--out", target]),
    ],
)
def test_no_command_writes_over_a_file_of_a_crawl(
    command: type[ScrapyCommand],
    options: Callable[[Path, Path], list[object]],
    target: str,
    crawl: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = contents(crawl)
    assert invoke(command(), *options(crawl, crawl / target)) == 2
    assert contents(crawl) == before
    assert "is for the crawl in" in capsys.readouterr().err


def test_other_names_in_a_crawl_folder_are_free(crawl: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert invoke(ExportCommand(), crawl, "--to", "jsonl", crawl / "mine.jsonl") == 0
    refuse_crawl_file(tmp_path / "items.jsonl")


def test_a_link_to_the_folder_is_the_folder(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(crawl)
    with pytest.raises(BadInput, match="is for the crawl"):
        refuse_crawl_file(tmp_path / "link" / "items.jsonl")


def test_every_file_that_the_docs_name_is_the_crawls() -> None:
    text = (ROOT / "docs/crawl-folder.md").read_text().partition("## pages/")[0]
    named = {name.partition("/")[0] for name in re.findall(r"`([a-z.]+(?:\.\w+|/)[^`]*)`", text)} - {
        "map.html",
        "crawls",
    }
    assert {"items.jsonl", "workers", "collection.sqlite", "index"} <= named
    for name in named:
        with pytest.raises(BadInput):
            refuse_crawl_file(Path("crawls/new") / name, crawl_dir=Path("crawls/new"))


def test_a_feed_is_no_file_of_its_crawl(tmp_path: Path) -> None:
    target = tmp_path / "new" / "items.jsonl"
    for uri in (str(target), target.as_uri()):
        with pytest.raises(BadInput, match=r"items\.jsonl"):
            refuse_feeds(Settings({"FEEDS": {uri: {"format": "jsonlines"}}}), tmp_path / "new")
    feeds = {"s3://bucket/new/items.jsonl": {}, str(tmp_path / "new" / "feed.jsonl"): {}, tmp_path / "items.jsonl": {}}
    refuse_feeds(Settings({"FEEDS": feeds}), tmp_path / "new")


@pytest.mark.parametrize("name", ["items.jsonl", "history.jsonl", "links.jsonl", "refused.json", "report.html"])
@pytest.mark.parametrize("bodies", [True, False])
def test_a_crawl_writes_over_nobodys_files(tmp_path: Path, name: str, bodies: bool) -> None:
    (tmp_path / name).write_bytes(SOMEBODYS)
    with pytest.raises(BadInput, match=re.escape(name)):
        CrawlFolder(tmp_path, TOPIC, "dom", {}, bodies=bodies)
    assert contents(tmp_path) == {name: SOMEBODYS}


def test_a_report_replaces_reports_only(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert write_report(crawl).read_bytes().startswith(b"<!doctype html>")
    older = (crawl / "report.html").read_bytes().replace(b'<meta name="generator" content="topical crawler">\n', b"")
    assert len(older) < len((crawl / "report.html").read_bytes())
    (crawl / "report.html").write_bytes(older)
    write_report(crawl)
    for name in ("report.json", "report.html"):
        (crawl / name).write_bytes(SOMEBODYS)
        assert invoke(ReportCommand(), crawl) == 2
        assert (crawl / name).read_bytes() == SOMEBODYS
        assert f"{name}: was not written by this crawler" in capsys.readouterr().err


def test_a_map_replaces_maps_only(crawl: Path) -> None:
    assert [invoke(MapCommand(), crawl) for _ in range(2)] == [0, 0]
    (crawl / "map.html").write_bytes(SOMEBODYS)
    assert invoke(MapCommand(), crawl) == 2
    assert (crawl / "map.html").read_bytes() == SOMEBODYS
    assert invoke(MapCommand(), crawl, "--out", crawl / "map.html") == 0, "it was named"
