"""Removed items and links are rebuilt from the pages, byte by byte, or their loss is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.randomweb import RandomWeb, crawl_on

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.records import GONE, Topic
from crawlproject.storage.page_files import withdrawn

WEB = RandomWeb(4)
LOGS = ("items.jsonl", "links.jsonl")


def opened(folder: Path) -> Crawl:
    options = read_options({"ORDERING": "dom", "POLITENESS_MIN_DELAY": 0, "CRAWL_SITE_BUDGET": 0})
    return assemble(Topic("reefs", ("coral reef",), WEB.seeds), options, clock=lambda: 1e6, folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    crawl = opened(tmp_path)
    crawl_on(crawl, WEB, 50)
    assert crawl.stats.pages > 15
    crawl.close("stopped", 1e6)
    return tmp_path


def resumed(folder: Path) -> list[str]:
    crawl = opened(folder)
    crawl.close("stopped", 1e6)
    return crawl.folder.warnings


@pytest.mark.parametrize("kept", [0, 1, 7])
@pytest.mark.parametrize("name", LOGS)
def test_lines_that_were_lost_are_made_again(folder: Path, name: str, kept: int) -> None:
    path = folder / name
    whole = path.read_bytes()
    unkept = [line for line in (folder / "history.jsonl").read_bytes().splitlines() if b'"error":"noindex"' in line]
    lines = whole.splitlines(keepends=True)
    if kept:
        path.write_bytes(b"".join(lines[:kept]))
    else:
        path.unlink()
    [warning] = resumed(folder)
    assert name in warning and "rebuilt" in warning
    if name == "items.jsonl" or not unkept:
        assert path.read_bytes() == whole
    else:
        made = path.read_bytes().splitlines(keepends=True)
        assert set(made) <= set(lines) and f"those of {len(unkept)} pages without a file" in warning
    if path.read_bytes() == whole:
        assert resumed(folder) == []


def test_lines_from_the_middle_are_put_back_in_their_place(folder: Path) -> None:
    for name in LOGS:
        path = folder / name
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:3] + lines[5:]))
        resumed(folder)
        assert path.read_bytes() == b"".join(lines)


def test_what_cannot_be_made_again_is_told_and_nothing_else_is_lost(folder: Path) -> None:
    lines = (folder / "items.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "items.jsonl").write_bytes(b"".join(lines[:5]))
    for path in (folder / "pages").rglob("*"):
        if path.is_file():
            path.unlink()
    [warning] = resumed(folder)
    assert f"those of {len(lines) - 5} pages without a file are lost" in warning
    assert (folder / "items.jsonl").read_bytes() == b"".join(lines[:5])


def test_a_crawl_goes_on_behind_the_lines_that_were_made_again(folder: Path) -> None:
    (folder / "items.jsonl").unlink()
    crawl = opened(folder)
    crawl_on(crawl, WEB, 30, begin=1e6)
    pages = crawl.stats.pages
    crawl.close("stopped", 1e6)
    assert (folder / "items.jsonl").read_bytes().count(b"\n") == pages
    assert resumed(folder) == []


@pytest.mark.parametrize("place", ["in a text", "in the URL", "in a quotation mark"])
def test_bits_that_a_disk_flipped_are_named_and_mended(folder: Path, place: str) -> None:
    path = folder / "items.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    at = {
        "in a text": lines[3].index(b'"text":"') + 12,
        "in the URL": len('{"url":"http://h'),
        "in a quotation mark": 1,
    }[place]
    lines[3] = lines[3][:at] + bytes([lines[3][at] ^ 4]) + lines[3][at + 1 :]
    path.write_bytes(b"".join(lines))
    [warning] = resumed(folder)
    assert f"{path} was damaged in 1 line (4): the items of 1 pages were rebuilt" in warning
    assert path.read_bytes() == whole
    assert resumed(folder) == []


def test_a_line_that_somebody_removed_makes_no_other_look_damaged(folder: Path) -> None:
    path = folder / "items.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.partition(b"\n")[2])
    [warning] = resumed(folder)
    assert "items.jsonl had lost lines: the items of 1 pages" in warning and path.read_bytes() == whole


@pytest.mark.parametrize("sums", [b"", bytes(400)])
def test_lines_without_a_sum_are_taken_as_they_are(folder: Path, sums: bytes) -> None:
    (folder / "items.sums").write_bytes(sums)
    assert resumed(folder) == []
    path = folder / "items.jsonl"
    path.write_bytes(path.read_bytes().replace(b"o", b"a", 1))
    assert "in 1 line (1)" in resumed(folder)[0], "they have one from then on"


def test_lines_without_their_history_line_are_removed_from_the_middle(folder: Path) -> None:
    path = folder / "history.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [(folder / name).read_bytes().splitlines(keepends=True) for name in LOGS]
    found = [json.loads(line) for line in lines]
    removed = next(place for place, line in enumerate(found) if place > 3 and line["md5"] and line["links"] > 1)
    path.write_bytes(b"".join(lines[:removed] + lines[removed + 1 :]))
    warnings = resumed(folder)
    assert [name for name in LOGS if any(f"{name} had lines of pages" in warning for warning in warnings)] == [*LOGS]
    url = found[removed]["url"]
    for name, before, key in zip(LOGS, kept, ("url", "source"), strict=True):
        assert (folder / name).read_bytes() == b"".join(line for line in before if json.loads(line)[key] != url)
    assert not [warning for warning in resumed(folder) if "had lines" in warning]


@pytest.mark.parametrize("visited_again", [False, True])
def test_lines_of_a_further_visit_that_a_kill_kept_out_of_the_history_are_cut_off(
    folder: Path, visited_again: bool
) -> None:
    """Otherwise a page that has come back since would count as gone."""
    history = (folder / "history.jsonl").read_bytes().splitlines()
    page = json.loads(next(line for line in history if b'"md5":"' in line and b'"md5":""' not in line))
    if visited_again:
        again = {**page, "number": 2, "at": 9e5, "md5": "", "links": 0, "change": "same"}
        (folder / "history.jsonl").open("a").write(f"{json.dumps(again)}\n")
    whole = {name: (folder / name).read_bytes() for name in LOGS}
    item = withdrawn(page["url"], 9.5e5, 1, GONE)
    link = {"source": page["url"], "target": "http://new.example/", "anchor": "", "context_score": 0.0}
    for name, line in zip(LOGS, (item, link), strict=True):
        (folder / name).open("a").write(f"{json.dumps(line)}\n")
    assert resumed(folder) == []
    assert {name: (folder / name).read_bytes() for name in LOGS} == whole


def test_counts_that_were_removed_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlproject.core.log_recovery.SAVE_EVERY", 20)
    (folder / "refused.json").unlink()
    [warning] = resumed(folder)
    assert "refused.json is missing" in warning
