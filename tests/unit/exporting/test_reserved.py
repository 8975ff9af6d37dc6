"""Pages that reserve rights of use can be left out of every export but archives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.invoking import invoke
from support.items import a_crawl, an_item

from crawlproject.commands.export import ExportCommand
from crawlproject.storage.page_files import PageRepository

PARTS = ["http://a.example/list?page=2", "http://a.example/list?page=3"]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    folder = a_crawl(
        tmp_path / "crawl",
        an_item(0, "first", url="http://a.example/list"),
        an_item(1, "second", url=PARTS[0], reserved="noai"),
        an_item(2, "third", url=PARTS[1]),
        an_item(3, "alone", reserved="noai tdm-reservation"),
    )
    pages = PageRepository(folder / "pages")
    for url, text in zip(
        ["http://a.example/list", *PARTS, "http://a.example/3"], ("first", "second", "third", "alone"), strict=True
    ):
        pages.store(url, f"<p>{text}".encode())
    ways = [("http://a.example/list", PARTS[0]), tuple(PARTS)]
    lines = [json.dumps({"source": a, "target": b, "anchor": "next", "context_score": 0.0}) for a, b in ways]
    (folder / "links.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("kind", ["csv", "jsonl", "graphml", "chunks", "markdown"])
def test_they_are_left_out(crawl: Path, tmp_path: Path, kind: str) -> None:
    for option, there in ([], True), (["--without-reserved"], False):
        target = tmp_path / f"{there}.jsonl"
        assert invoke(ExportCommand(), crawl, target, "--to", kind, *option) == 0
        text = "".join(each.read_text() for each in ([target] if target.is_file() else target.rglob("*.md")))
        assert ("http://a.example/3" in text) == (PARTS[0] in text) == there and PARTS[1] in text


@pytest.mark.parametrize("kind", ["jsonl", "chunks", "markdown"])
def test_their_text_is_left_out_of_series_too(crawl: Path, tmp_path: Path, kind: str) -> None:
    for option, there in ([], True), (["--without-reserved"], False):
        target = tmp_path / f"{there}.jsonl"
        assert invoke(ExportCommand(), crawl, target, "--to", kind, "--join-series", *option) == 0
        text = "".join(each.read_text() for each in ([target] if target.is_file() else target.rglob("*.md")))
        assert ("second" in text) == there and "third" in text


@pytest.mark.parametrize("kind", ["warc", "wacz"])
def test_an_archive_is_whole(crawl: Path, tmp_path: Path, kind: str) -> None:
    assert invoke(ExportCommand(), crawl, tmp_path / "out", "--to", kind, "--without-reserved") == 2
