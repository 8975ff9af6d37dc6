"""Pages that need a browser are distinguished from others without a browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.scriptmade import NEED_A_BROWSER, NEED_NONE

from crawlproject.pages.content_features import is_script_made
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import NEEDS_BROWSER

EACH = 20
READER = Reader(Analyzer("en"), canonicalize=lambda href, base: href)


def found(body: str) -> bool:
    return NEEDS_BROWSER in READER.read("http://a.example/", body.encode()).signs


def test_precision_and_recall_over_a_dozen_kinds_of_each() -> None:
    assert len(NEED_A_BROWSER) >= 12 <= len(NEED_NONE)
    right = [found(make(Random(n))) for make in NEED_A_BROWSER.values() for n in range(EACH)]
    wrong = [found(make(Random(n))) for make in NEED_NONE.values() for n in range(EACH)]
    precision, recall = sum(right) / (sum(right) + sum(wrong)), sum(right) / len(right)
    assert precision >= 0.95 and recall >= 0.95, (precision, recall)


@pytest.mark.parametrize("kind", NEED_A_BROWSER)
def test_what_needs_a_browser(kind: str) -> None:
    assert found(NEED_A_BROWSER[kind](Random(99)))


@pytest.mark.parametrize("kind", NEED_NONE)
def test_what_needs_none(kind: str) -> None:
    assert not found(NEED_NONE[kind](Random(99)))


@pytest.mark.parametrize("make", NEED_A_BROWSER.values(), ids=NEED_A_BROWSER)
def test_with_its_text_in_place_it_needs_none(make: Callable[[Random], str]) -> None:
    """A page that the server sends with its text is read as it is, whatever its framework."""
    text = "<p>" + "coral reef and the fish that live there " * 30 + "</p>"
    assert not found(make(Random(1)).replace("<body", f"<body>{text}<div", 1))


def test_a_page_of_another_type_is_not_asked() -> None:
    body = '<title>Just a moment...</title><script src="/main.js"></script><div id="root"></div>Just a moment'
    signs = READER.read("http://a.example/", body.encode()).signs
    assert "block/captcha" in signs and NEEDS_BROWSER not in signs


@given(st.binary(max_size=300), st.integers(0, 400))
@settings(max_examples=60)
def test_any_bytes_are_judged(junk: bytes, at: int) -> None:
    body = NEED_A_BROWSER["react"](Random(2)).encode()
    is_script_made("", 0, body[:at] + junk + body[at:])
    is_script_made(junk.decode("latin-1"), 0, b"<script>" + junk)


@pytest.mark.parametrize(
    "piece",
    [
        b"<script>",
        b"<noscript>",
        b"<!--",
        b"<template><svg>",
        b"<div id=root>",
        b"<div ",
        b"{{",
        b"<a-b>",
        b"<head>",
        b"enable ",
        b"enabl",
        b"a-",
        b"<iframe ",
        b"<input ",
        b"<script src=main",
        b"<script src=x></script>",
        b"<div class=root id",
        b"<noscript ",
    ],
)
def test_a_hostile_megabyte_is_judged_in_time(piece: bytes) -> None:
    body = b"<script>1</script>" + piece * (1_000_000 // len(piece))
    began = time.process_time()
    is_script_made("", 0, body)
    assert time.process_time() - began < 1.0
