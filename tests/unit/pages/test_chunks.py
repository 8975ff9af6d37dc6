"""Chunks of Markdown: complete, repeated only in the overlap, never too large, and cut where a reader would cut."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawlproject.pages.chunks import Chunk, chunks

words = st.text("abcdeé", min_size=1, max_size=9)
prose = st.lists(words, min_size=1, max_size=40).map(" ".join)
sentences = st.lists(prose.map(lambda text: f"{text}."), min_size=1, max_size=5).map(" ".join)
headings = st.builds(lambda level, text: f"{'#' * level} {text}", st.integers(1, 6), prose)
codes = st.lists(prose | st.just(""), min_size=1, max_size=12).map(
    lambda lines: "```python\nfirst\n" + "\n".join(lines) + "\n```"
)
tables = st.lists(st.lists(words, min_size=2, max_size=2), min_size=1, max_size=12).map(
    lambda rows: "\n".join(["|  |  |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows)])
)
lists = st.lists(sentences, min_size=1, max_size=6).map(lambda items: "\n".join(f"- {item}" for item in items))
quotes = lists.map(lambda text: "> " + text.replace("\n", "\n> "))
unspaced = st.text("海洋観測。、ー", min_size=1, max_size=60)
pages = st.lists(headings | sentences | codes | tables | lists | quotes | unspaced, max_size=12).map("\n\n".join)
wild = st.text(st.sampled_from("ab ..\n#|`->_*1 　。水\u0301") | st.characters(exclude_categories=["Cs"]), max_size=300)
sizes = st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def texts(text: str, found: list[Chunk]) -> list[str]:
    return [text[chunk.start : chunk.end] for chunk in found]


@given(pages | wild, sizes)
@example("、ー。。ーー", (3, 1))
def test_no_text_is_lost_and_none_is_twice_but_the_overlap(text: str, sizes: tuple[int, int]) -> None:
    found = chunks(text, *sizes)
    reached = 0
    for chunk in found:
        if chunk.start >= reached:
            assert not text[reached : chunk.start].strip() and chunk.overlap == 0
        assert 0 <= chunk.start < chunk.end <= len(text) and chunk.end > reached
        reached = chunk.end
    assert not text[reached:].strip()
    for before, after in pairwise(found):
        repeated = text[after.start : before.end].split()
        assert len(repeated) <= after.overlap <= sizes[1]
    if not sizes[1]:
        assert "".join("".join(texts(text, found)).split()) == "".join(text.split())


@given(pages | wild, sizes)
def test_no_chunk_is_too_large_or_blank(text: str, sizes: tuple[int, int]) -> None:
    for chunk in chunks(text, *sizes):
        said = text[chunk.start : chunk.end]
        assert 1 <= len(said.split()) <= chunk.words <= sizes[0]
        assert said == said.strip("\n").rstrip() and len(said.replace(" ", "")) <= 20 * sizes[0] + said.count("\n")


@settings(max_examples=30)
@given(pages, sizes)
def test_the_same_text_gives_the_same_chunks(text: str, sizes: tuple[int, int]) -> None:
    assert chunks(text, *sizes) == chunks(text, *sizes)


@given(pages, st.integers(1, 60))
def test_what_fits_is_never_cut(text: str, size: int) -> None:
    cuts = [chunk.start for chunk in chunks(text, size)][1:]
    for pattern in r"(?m)^```python\n(?:.*\n)*?```$", r"(?m)^\|.*$", r"(?m)^(?:> )?- .*$", r"[a-eé.]+":
        for thing in re.finditer(pattern, text):
            fits = len(thing[0].split()) <= size
            assert not fits or not any(thing.start() < cut < thing.end() for cut in cuts), thing[0]


@given(pages, sizes)
def test_a_chunk_tells_the_headings_above_it(text: str, sizes: tuple[int, int]) -> None:
    lines = [(found.start(), len(found[1]), found[2]) for found in re.finditer(r"(?m)^(#{1,6}) (.*)$", text)]
    for chunk in chunks(text, *sizes):
        own = chunk.start if not chunk.overlap else chunk.end - len(text[chunk.start : chunk.end].split()[-1])
        above = [(level, title) for at, level, title in lines if at <= own]
        path: list[tuple[int, str]] = []
        for level, title in above:
            path = [*(each for each in path if each[0] < level), (level, title)]
        remaining = iter([title for _, title in path])
        inside = {title for at, _, title in lines if chunk.start <= at < chunk.end}
        assert all(title in remaining or title in inside for title in chunk.headings)


def test_sections_share_a_chunk_while_they_fit() -> None:
    text = "# Reefs\n\nOne two.\n\n## Corals\n\nThree four.\n\n## Fish\n\nFive six seven.\n\n# Rocks\n\nEight."
    assert [(text[c.start : c.end], c.headings) for c in chunks(text, 50)] == [(text, ())]
    assert [(c.words, c.headings) for c in chunks(text, 13)] == [(13, ("Reefs",)), (3, ("Rocks",))]
    assert [(c.words, c.headings) for c in chunks(text, 8)] == [
        (8, ("Reefs",)),  # the beginning and Corals
        (5, ("Reefs", "Fish")),
        (3, ("Rocks",)),
    ]
    assert [(c.words, c.headings) for c in chunks(text, 5)] == [
        (4, ("Reefs",)),
        (4, ("Reefs", "Corals")),
        (5, ("Reefs", "Fish")),
        (3, ("Rocks",)),
    ]


def test_a_heading_stays_with_what_follows() -> None:
    text = "# Reefs\n\n## Corals\n\n" + "word " * 6 + "\n\n" + "more " * 6
    assert [(c.words, c.headings) for c in chunks(text, 10)] == [(10, ("Reefs", "Corals")), (6, ("Reefs", "Corals"))]


def test_text_before_an_empty_section_does_not_swallow_the_next_heading() -> None:
    text = "a b\n\n# A\n\n# B\n\nc d\n\ne f g"
    assert texts(text, chunks(text, 6)) == ["a b\n\n# A", "# B\n\nc d", "e f g"]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    text = "One two three. Four five! Six seven eight nine? Ten."
    assert texts(text, chunks(text, 5)) == ["One two three. Four five!", "Six seven eight nine? Ten."]


def test_the_overlap_is_whole_sentences_or_the_last_words() -> None:
    text = "One two three. Four five. Six seven eight. Nine ten."
    found = chunks(text, 5, 2)
    assert texts(text, found) == ["One two three. Four five.", "Four five. Six seven eight.", "seven eight. Nine ten."]
    assert [chunk.overlap for chunk in found] == [0, 2, 2]


def test_there_is_no_overlap_from_section_to_section() -> None:
    text = "# A\n\none two three\n\n# B\n\nfour five six"
    assert texts(text, chunks(text, 5, 3)) == ["# A\n\none two three", "# B\n\nfour five six"]


def test_code_and_tables_are_cut_between_lines_if_they_must() -> None:
    code = "```\none two\n\nthree. four\nfive\n```"
    assert texts(code, chunks(code, 4)) == ["```\none two", "three. four\nfive\n```"]
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert texts(table, chunks(table, 5)) == table.split("\n")


def test_a_hash_in_code_is_no_heading_and_code_in_a_list_stays_whole() -> None:
    text = "# Use\n\n- ```sh\n  # install\n\n  make all\n  ```\n- then run it"
    found = chunks(text, 9)
    assert texts(text, found) == ["# Use\n\n- ```sh\n  # install\n\n  make all\n  ```", "- then run it"]
    assert {chunk.headings for chunk in found} == {("Use",)}


def test_inline_code_at_the_beginning_of_a_line_opens_no_code_block() -> None:
    text = "``` a``b ``` is inline\n\n# Next\n\nmore"
    assert chunks(text, 6)[-1].headings == ("Next",)


def test_headings_are_without_markup() -> None:
    text = r"# **The** [`read\_all`](https://a.example/) \*call\*" + "\n\ntext"
    assert chunks(text)[0].headings == ("The read_all *call*",)


def test_scripts_without_spaces_are_counted_and_cut_by_letters() -> None:
    text = "海は広い。空は青い。"
    assert [(text[c.start : c.end], c.words) for c in chunks(text, 5)] == [("海は広い。", 4), ("空は青い。", 4)]
    assert texts("ที่นี่", chunks("ที่นี่", 1)) == ["ที่", "นี่"]  # marks stay with their letter


def test_a_long_address_counts_for_what_it_costs() -> None:
    text = "x" * 45
    assert [chunk.words for chunk in chunks(text)] == [3]
    assert texts(text, chunks(text, 2)) == ["x" * 40, "x" * 5]


@pytest.mark.parametrize("text", ["", " \n\n ", "\n"])
def test_a_blank_text_has_no_chunks(text: str) -> None:
    assert chunks(text) == []
