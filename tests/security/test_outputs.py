"""The outputs of a crawl of an attacker's pages: text stays text, in HTML, terminals, tables and archives."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath

import pytest
from lxml import etree
from lxml import html as lxml_html
from support.attacker import PAYLOADS, Crawled
from support.crawling import scrapy

Output = Callable[[Path], str]


def done(*arguments: object) -> str:
    """Run a command, check that it succeeds, and return its output."""
    ended = scrapy(*arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def the_report(folder: Path) -> str:
    return (folder / "report.html").read_text()


def the_map(folder: Path) -> str:
    done("map", folder)
    return (folder / "map.html").read_text()


def the_drawn_map(folder: Path) -> str:
    done("map", folder, "--out", folder / "map.svg")
    return (folder / "map.svg").read_text()


def the_snippets(folder: Path) -> str:
    done("index", folder, "--with-duplicates")
    found = json.loads(done("search", folder, "coral", "--limit", 50, "--json"))
    return "".join(f"<p>{hit['snippet']}</p>" for hit in found["hits"])


HTML_OUTPUTS: list[Output] = [the_report, the_map, the_drawn_map, the_snippets]  # every output in HTML belongs here


@pytest.mark.parametrize("output", HTML_OUTPUTS, ids=lambda output: output.__name__)
def test_html_has_nothing_of_a_page_but_text(crawled: Crawled, output: Output) -> None:
    text = output(crawled.folder)
    tree = lxml_html.fromstring(text)
    assert ("relevance" if output is the_drawn_map else "coral reef") in tree.text_content()
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        assert element.tag not in ("iframe", "object", "embed", "base"), element.tag
        assert not [name for name in element.attrib if name.lower().startswith("on")], element.attrib
        for name in ("href", "src"):
            assert not element.get(name, "").lower().strip().startswith(("javascript:", "data:text", "file:"))
        if element.tag == "script" and element.get("type") != "application/json":
            assert "alert(1)" not in (element.text or "")
    assert not set(text) & {"\x1b", "\x07", "\u202e", "\0"}
    assert "49" not in [part.strip() for part in tree.xpath("//title/text()")], "a template in a template"


COMMANDS = (["why", "{folder}", "{page}"], ["frontier", "stats", "{folder}"], ["frontier", "why", "{folder}", "{page}"])


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:2]))
@pytest.mark.parametrize("path", ["/inject/7", "/type"])
def test_a_terminal_shows_text_and_is_not_steered(crawled: Crawled, arguments: list[str], path: str) -> None:
    chosen = [part.format(folder=crawled.folder, page=crawled.origin + path) for part in arguments]
    done = scrapy(*chosen)
    assert done.returncode == 0, done.stderr
    assert not set(done.stdout + done.stderr + crawled.output) & {"\x1b", "\x07", "\x9b", "\u202e"}


def export(folder: Path, kind: str) -> Path:
    target = folder / f"out.{kind}"
    done("export", folder, "--to", kind, target, "--with-duplicates")
    return target


def test_a_spreadsheet_finds_no_formula(crawled: Crawled, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(
        partial(csv.field_size_limit, csv.field_size_limit(2**24))
    )  # a page has up to a megabyte of text
    with export(crawled.folder, "csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) > len(PAYLOADS) and len({len(row) for row in rows}) == 1
    assert not [cell for row in rows for cell in row if cell[:1] in ("=", "+", "@", "\t", "\r")]
    assert not [cell for row in rows for cell in row if cell[:1] == "-" and not re.fullmatch(r"-?[\d.e-]+", cell)]


def test_a_graph_is_well_formed(crawled: Crawled) -> None:
    tree = etree.parse(export(crawled.folder, "graphml"), etree.XMLParser(resolve_entities=False))
    names = {etree.QName(element).localname for element in tree.iter()}
    assert names <= {"graphml", "graph", "key", "node", "edge", "data", "default", "desc"}


def test_an_archive_unpacks_into_its_folder(crawled: Crawled) -> None:
    with zipfile.ZipFile(export(crawled.folder, "wacz")) as packed:
        for name in packed.namelist():
            assert not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts, name
            assert re.fullmatch(r"[\w./-]+", name), name


def test_lines_stay_lines(crawled: Crawled) -> None:
    lines = [json.loads(line) for line in export(crawled.folder, "jsonl").read_bytes().splitlines() if line]
    assert {line["url"].startswith(crawled.origin) for line in lines} == {True}
