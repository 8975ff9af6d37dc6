"""Text that pages share through the template of their site is no evidence for copies."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from crawlproject.pages.text.minhash import sketch
from crawlproject.parts.duplicates import template_text
from crawlproject.parts.duplicates.index import DuplicateIndex, original_of
from crawlproject.parts.duplicates.sketch_store import DiskSketchStore, MemorySketchStore, OriginalPage
from crawlproject.parts.duplicates.template_text import LEAST_PAGES, TemplateText
from crawlproject.records import Link, Page, Span

WORDS = [f"w{number}" for number in range(5000)]
A = "http://a.example"
B = "http://b.example"


def text(seed: int, length: int) -> list[str]:
    return Random(seed).choices(WORDS, k=length)


def known(url: str, terms: list[str], title: str, links: tuple[Link, ...] = ()) -> OriginalPage:
    page = Page(url, title=title, terms=terms, links=links)
    return original_of(page, sketch(page))


TEMPLATE = text(0, 270)
FIRST = known(f"{A}/get-1", TEMPLATE + text(1, 20), "Function get")
OVERLOAD = known(f"{A}/get-other", TEMPLATE + text(2, 20), "Function get")
COPY = known(f"{A}/old/get-1", TEMPLATE + text(1, 20), "Function get")


def manual(pages: int, store: Any = None) -> DuplicateIndex:
    index = DuplicateIndex(MemorySketchStore() if store is None else store)
    for number in range(pages):
        index.add(known(f"{A}/page-{number}", TEMPLATE + text(100 + number, 20), f"Function page{number}"))
    return index


def test_pages_that_share_the_template_of_their_site_are_no_copies() -> None:
    young, index = manual(0), manual(LEAST_PAGES)
    for each in (young, index):
        each.add(FIRST)
    assert young.first_with(OVERLOAD) == FIRST, "nothing is known of the site"
    assert index.first_with(OVERLOAD) is None and not index.is_duplicate(OVERLOAD, FIRST)
    assert index.first_with(COPY) == FIRST and index.is_duplicate(COPY, FIRST)


def test_a_resumed_crawl_knows_the_template(tmp_path: Any) -> None:
    path = tmp_path / "sketches.jsonl"
    manual(LEAST_PAGES, DiskSketchStore(path, lambda url: True, print)).close()
    again = DuplicateIndex(DiskSketchStore(path, lambda url: True, print))
    again.read_stored()
    again.add(FIRST)
    assert again.first_with(OVERLOAD) is None
    again.close()


def test_what_translations_share_that_are_half_done_is_no_template() -> None:
    index = manual(LEAST_PAGES)
    index.add(FIRST)
    for number in range(9):  # pages of one name, of which three quarters are not translated
        index.add(known(f"{A}/l{number}/get-1", text(1, 200) + text(20 + number, 80), f"Translated as {number}"))
    assert index.first_with(known(f"{A}/xx/get-1", text(1, 200) + text(20, 80), "Translated as 0")) is not None


def test_lists_of_links_alone_make_no_copies() -> None:
    """Two sites with the same hundred links on each page, but different text."""
    menu = text(3, 300)
    anchors = tuple(Link(f"http://c.example/{n}", "", Span(3 * n, 3 * n + 3), Span(0, 0)) for n in range(100))
    first, other, copy = (
        known(url, menu + text(seed, 100), title, anchors)
        for url, seed, title in ((f"{A}/1", 4, "Of reefs"), (f"{B}/2", 5, "Of fish"), (f"{B}/3", 4, "Of reefs"))
    )
    index = DuplicateIndex(MemorySketchStore())
    index.add(first)
    assert index.first_with(other) is None
    assert index.first_with(copy) == first


@pytest.mark.parametrize("seed", range(3))
def test_compiled_and_plain_code_count_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    pages = [random.integers(0, 3, 128, dtype=np.uint16).tobytes() for _ in range(60)]
    compiled, plain = TemplateText(), TemplateText()
    for table in (compiled, plain):
        table._table = table._table[:256]  # so that places are fought for
    assert template_text.key_slots is not None
    for number, minima in enumerate(pages):
        compiled.add(A, minima, number % 7)
    found = [compiled.resemblance(A, pages[0], A, minima) for minima in pages]
    monkeypatch.setattr(template_text, "key_slots", None)
    for number, minima in enumerate(pages):
        plain.add(A, minima, number % 7)
    assert plain._table == compiled._table
    assert found == [plain.resemblance(A, pages[0], A, minima) for minima in pages]
