"""Seeds from a list, from OPML, from a sitemap."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from crawlproject.errors import BadInput
from crawlproject.topic.seed_lists import read_seed_list

TEXT = "\ufeff# reefs\nhttp://a.example/ the best\n\n  b.example/x\t2\nhttp://a.example/\n"
OPML = """<?xml version="1.0"?><opml version="2.0"><head><title>Reefs</title></head><body><outline text="News">
<outline text="A" type="rss" xmlUrl="http://a.example/feed" htmlUrl="http://a.example/"/>
<outline text="B" type="rss" xmlUrl="http://b.example/feed"/><outline text="C" type="link" url=" http://c.example/ "/>
</outline></body></opml>"""
SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> http://a.example/1 </loc>
<lastmod>2026-01-01</lastmod></url><url><loc>http://a.example/2</loc></url></urlset>"""


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        (TEXT, ["http://a.example/", "b.example/x"]),
        (OPML, ["http://a.example/", "http://b.example/feed", "http://c.example/"]),
        (SITEMAP, ["http://a.example/1", "http://a.example/2"]),
    ],
)
def test_what_people_have(tmp_path: Path, text: str, seeds: list[str]) -> None:
    (tmp_path / "list").write_text(text, "utf-8")
    assert read_seed_list(str(tmp_path / "list")) == seeds


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"http://a.example/\n")))
    assert read_seed_list("-") == ["http://a.example/"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# nothing\n", "it has no URL"),
        ("http://a.example/\n\nmy old list\n", "list, line 3: expected a URL to crawl, not 'my old list': "),
        (
            "<urlset><url><loc>mailto:a</loc></url></urlset>",
            "list: expected a URL to crawl, not 'mailto:a': neither http",
        ),
        ("<opml><outline", "expected OPML or a sitemap"),
        ('<?xml version="1.0" encoding="klingon"?><opml/>', "expected OPML or a sitemap: unknown encoding"),
        ('<?xml version="1.0" encoding="utf-7"?><opml/>', "expected OPML or a sitemap: multi-byte encodings"),
        ("<sitemapindex><sitemap><loc>http://a.example/s.xml</loc></sitemap></sitemapindex>", "index of sitemaps"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "list").write_text(text)
    with pytest.raises(BadInput, match=said):
        read_seed_list(str(tmp_path / "list"))


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="list of seeds none: cannot be read"):
        read_seed_list("none")
