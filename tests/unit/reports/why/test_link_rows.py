"""Rows of links on a terminal."""

import io

import pytest
from rich.console import Console

from crawlproject.reports.why.text import LinkRows

ROWS = [("seed", "http://a.example/", ""), ("   1", "http://a.example/a/page", "“a page”")]


@pytest.mark.parametrize("width", [20, 38, 39, 80])
def test_no_url_is_broken(width):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(LinkRows(ROWS), soft_wrap=True)
    lines = console.export_text().splitlines()
    assert lines[0] == "seed  http://a.example/"
    if width < 39:
        assert lines[1:] == ["   1  http://a.example/a/page", "      “a page”"]
    else:
        assert lines[1:] == ["   1  http://a.example/a/page  “a page”"]
