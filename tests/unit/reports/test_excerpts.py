"""Descriptions of pages and refusals in a report."""

from __future__ import annotations

from pathlib import Path

from support.crawling import ROOT
from support.items import a_crawl, an_item
from support.markdown import first_cells, section

from crawlproject.orderings.adaptive.link_features import KINDS
from crawlproject.reports.evidence import LENGTH, WORDS, excerpt, excerpts
from crawlproject.reports.report import write_report
from crawlproject.reports.why.text import MEANINGS

TEXT = "Home About Contact\nWelcome to us. We sell steel. Bleached corals die when the reef is warm. More of it."


def test_an_excerpt_is_where_the_keywords_are() -> None:
    assert "Bleached corals die when the reef is warm." in excerpt(TEXT, ["coral reef", "bleaching"])
    assert excerpt(f"Steel. {'Of ships and men. ' * 20}Reefs are warm.", ["reef"]).endswith("Reefs are warm.")
    assert excerpt("", ["coral"]) == ""
    long = excerpt("word " * 500 + "coral", ["coral"])
    assert len(long) <= LENGTH + 2 and long.endswith("word …")


def test_only_stored_pages_have_excerpts(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, TEXT), an_item(1, "steel"))
    assert list(excerpts(crawl, ["http://a.example/0", "http://a.example/9"], ["coral"])) == ["http://a.example/0"]
    assert excerpts(tmp_path / "none", ["http://a.example/0"], ["coral"]) == {}


def test_every_reason_has_words() -> None:
    table = section((ROOT / "docs/crawl-folder.md").read_text(), "refused.json")
    listed = {name.strip(" `*") for cell in first_cells(table) for name in cell.replace("*", "").split(",")}
    assert listed | {"host/given_up"} == set(WORDS)
    assert set(MEANINGS) >= {*KINDS, "behind", "exploration", "learned since"}


def test_a_report_says_what_to_do_next(tmp_path: Path) -> None:
    text = write_report(a_crawl(tmp_path / "my crawl", an_item(0, TEXT))).read_text()
    assert "Run the command of the crawl again" in text and "scrapy topic check" in text
