"""Attributes of any length and form are read in linear time."""

from __future__ import annotations

import time

import pytest

from crawlproject.pages.html.document import conceals
from crawlproject.pages.html.head import related_in
from crawlproject.pages.html.parse import parse_document
from crawlproject.pages.html.statements import license_in

LONG = 1_000_000
STYLES = [
    "opacity:0",
    "opacity:" + "0" * 50,
    "font-size:0",
    "font-size:  ",
    "left:-99",
    "clip:rect( ",
    "color:",
    "height:0",
]


@pytest.mark.parametrize("style", STYLES)
def test_no_style_takes_long(style: str) -> None:
    began = time.process_time()
    conceals(style + style[-1] * LONG + "x")
    parse_document(f"<p style='{style}{style[-1] * LONG}x'>{style * 1000}".encode())
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    ("style", "hides"),
    [("opacity: 0", True), ("opacity:.0;", True), ("opacity:0.00 !important", True), ("opacity:0.1", False), ("opacity:1", False),
     ("font-size:0px", True), ("font-size: 1px;", True), ("font-size:10px", False), ("font-size:.1em", True),
     ("height:0", True), ("max-height: 0;", True), ("flex:1;min-width:0", False), ("border-width:0", False),
     ("line-height:0", False)],
)  # fmt: skip
def test_what_a_style_hides(style: str, hides: bool) -> None:
    assert conceals(style) == hides


@pytest.mark.parametrize("piece", ["a", "a =", "a ", "rel=x ", "='", "-"])
def test_no_link_takes_long(piece: str) -> None:
    markup = "".join(f"<link {(piece * 4_000)[:3_900]}>" for _ in range(200))
    began = time.process_time()
    license_in(markup.encode(), "utf-8", "http://a.example/", "")
    related_in(markup)
    assert time.process_time() - began < 1.0
