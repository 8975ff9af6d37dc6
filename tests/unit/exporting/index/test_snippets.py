"""Snippets: whole sentences where they fit, with the matches in bold."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.items import a_crawl, an_item

from crawlproject.exporting.index import search, update
from crawlproject.exporting.index.search import snippet


def marked(text: str, *words: str, language: str = "en", size: int = 40) -> str:
    matches = sorted(found.span() for word in words for found in re.finditer(word, text))
    return snippet(text, matches, language, size)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was dark. Dr. Ray saw a reef. Then he slept.", "Dr. Ray saw a <b>reef</b>. Then he slept."),
        ("Home\nReefs\n\nNo reef & no rail", "No <b>reef</b> &amp; no rail"),
        ("One reef, and nothing else. A reef by a reef!", "A <b>reef</b> by a <b>reef</b>!"),
        ("x " * 60 + "reef " + "y " * 60, "x x x x <b>reef</b> y y y y y y y y y y y y y"),
        ("reef" * 30, "<b>reef</b>" * 10),
        ("A page. Of other words, as many as there may be.", "A page."),
    ],
)
def test_snippet(text: str, expected: str) -> None:
    assert marked(text, r"reef\b" if " " in text else "reef") == expected


def test_languages_have_their_own_ends_of_sentences() -> None:
    assert marked("今天很热。我们看到珊瑚。" + "他" * 30, "珊瑚", language="zh", size=10) == "我们看到<b>珊瑚</b>。"
    assert marked("यह बड़ा है। वह reef है।", "reef", language="hi", size=15) == "वह <b>reef</b> है।"
    assert marked("A reef. B", "reef", language="th") == "A <b>reef</b>. B"


@given(st.text(alphabet="ab. \n&<中é!"), st.integers(1, 60))
def test_of_any_text_a_part_no_longer_than_asked_for(text: str, size: int) -> None:
    matches = [found.span() for found in re.finditer("a+", text)]
    found = snippet(text, matches, "en", size)
    plain = html.unescape(found.replace("<b>", "").replace("</b>", ""))
    assert len(plain) <= max(size, max((end - start for start, end in matches), default=0))
    assert plain in " ".join(text.split())
    if matches and all(end - start <= size for start, end in matches):
        assert "<b>a" in found


def test_search_shows_the_best_sentences(tmp_path: Path) -> None:
    filling = "Über Dampf und Eisenbahnen, höher. " * 20
    crawl = a_crawl(tmp_path, an_item(0, f"{filling}Ein Riff aus Korallen lebt. {filling}", language="de"))
    update(crawl)
    [hit] = search(crawl, "Korallen").hits
    assert hit.snippet.startswith("Ein Riff aus <b>Korallen</b> lebt. Über Dampf")
    assert hit.snippet.endswith("höher.") and len(hit.snippet) <= 240 + len("<b></b>")
