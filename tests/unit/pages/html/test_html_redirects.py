"""Refreshes and scripts count as redirects only if they do nothing but lead elsewhere."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.html.head import refresh_of, script_target
from crawlproject.pages.html.parse import parse_document


def redirect(head: str, body: str = "") -> str:
    return parse_document(f"<html><head>{head}</head><body>{body}</body></html>".encode()).redirect


@pytest.mark.parametrize(
    "script",
    [
        "window.location = 'http://b.example/';",
        'location.href="http://b.example/"',
        "document.location.replace('http://b.example/');",
        "  <!-- \n top.location.assign( 'http://b.example/' ); \n // -->",
        "setTimeout(function(){ window.location.href = 'http://b.example/'; }, 3000);",
        "setTimeout(\"location.href='http://b.example/'\", 0)".replace('"location', '"location'),
        "'use strict'; self.location='http://b.example/'; return false;",
    ],
)
def test_scripts_that_do_nothing_else(script):
    assert script_target(script) == "http://b.example/"
    assert redirect(f"<script>{script}</script>") == "http://b.example/"


@pytest.mark.parametrize(
    "script",
    [
        "if (top != self) top.location = 'http://b.example/';",
        "function go() { window.location = 'http://b.example/'; }",
        "button.onclick = () => location.href = 'http://b.example/'",
        "var here = window.location;",
        "location = base + '/x'",
        "var a = 1; window.location = 'http://b.example/';",
        "window.location.hash = 'x'",
        "",
    ],
)
def test_scripts_that_do_more_or_less(script):
    assert script_target(script) == ""


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/b", "/b"),
        ("0;URL='b.html'", "b.html"),
        ("10; /b", "/b"),
        ("5 url=/b", "/b"),
        ("0 ", ""),
        ("0", ""),
        ("x; url=/b", ""),
    ],
)
def test_instant_refreshes(content, target):
    assert redirect(f'<meta http-equiv="refresh" content="{content}">') == target


def test_a_slow_refresh_is_a_link():
    document = parse_document(b'<meta http-equiv="refresh" content="60; url=/news"><p>News</p>')
    assert document.redirect == "" and [link.href for link in document.links] == ["/news"]


@pytest.mark.parametrize(
    ("ms", "target"), [(0, "/login"), (3000, "/login"), (10_000, "/login"), (60_000, ""), (99_999, "")]
)
def test_a_script_that_waits_for_a_session_to_end_is_no_redirect(ms, target):
    assert script_target(f"setTimeout(function() {{ location.href = '/login' }}, {ms})") == target


def test_what_is_for_browsers_without_scripts_is_no_redirect():
    assert redirect('<noscript><meta http-equiv="refresh" content="0; url=/plain"></noscript>', "<p>text</p>") == ""
    assert redirect('<noscript>x</noscript><meta http-equiv="refresh" content="0; url=/b">') == "/b"


@given(st.text(max_size=200))
def test_any_content_has_an_answer(text):
    refresh_of(text)
    script_target("location = '" + text)


@pytest.mark.parametrize("piece", [" ", "location", "window . ", "setTimeout(", "<!-- ", "location ='"])
def test_no_script_takes_long(piece):
    started = time.process_time()
    script_target("location" + piece * (580 // len(piece)))
    assert time.process_time() - started < 1.0
