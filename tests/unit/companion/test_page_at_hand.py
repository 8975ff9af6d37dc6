"""The terms of the HTML that a browser shows."""

from __future__ import annotations

from support.pages import ANALYZER

from crawlproject.companion.interests import spellings, terms_of
from crawlproject.pages.reader import Reader
from crawlproject.urls.canonical import Canonicalizer

READER = Reader(ANALYZER, canonicalize=Canonicalizer(), main_content=True)
ARTICLE = "Caching with an ETag saves what was fetched before; validators tell whether it is fresh. " * 12


def test_the_main_content_counts_and_the_menu_does_not():
    menu = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in ("imprint", "newsletter", "careers"))
    html = f"<html><body><nav><ul>{menu}</ul></nav><article><h1>ETags</h1><p>{ARTICLE}</p></article></body></html>"
    counts, words = terms_of(html, "http://a.example/", READER)
    assert counts["etag"] >= 12 and "newslett" not in counts
    assert words["etag"] == "ETag" and words["cach"] == "Caching"


def test_a_page_without_main_content_counts_as_a_whole():
    counts, _ = terms_of("<p>coral reefs</p>", "http://a.example/", READER)
    assert set(counts) == {"coral", "reef"}


def test_nothing_breaks_on_nonsense():
    for html in ("", "\x00", "<" * 10_000, "\ud800", "<title>" * 500):
        counts, words = terms_of(html, "http://a.example/", READER)
        assert set(words) <= set(counts)


def test_the_usual_spelling():
    assert spellings("reef Reef reef coral", {"reef": 3, "coral": 1}, ANALYZER) == {"reef": "reef", "coral": "coral"}
