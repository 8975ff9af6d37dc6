"""Detection of copies among pages."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from random import Random

import pytest

from crawlproject.errors import StorageFailed
from crawlproject.pages.text.minhash import sketch
from crawlproject.parts.duplicates.index import DuplicateIndex, leads_elsewhere, original_of
from crawlproject.parts.duplicates.sketch_store import DiskSketchStore, MemorySketchStore, OriginalPage
from crawlproject.records import Link, Page, Span

WORDS = [f"w{number}" for number in range(5000)]
A = "http://a.example"
B = "http://b.example"


def text(seed: int, length: int = 300) -> list[str]:
    return Random(seed).choices(WORDS, k=length)


def edited(terms: list[str], changes: int, seed: int = 1) -> list[str]:
    """``terms`` with ``changes`` of them replaced, far from each other."""
    random = Random(seed)
    places = random.sample(range(0, len(terms), 4), changes)
    return [random.choice(WORDS) if place in places else term for place, term in enumerate(terms)]


def known(url: str, terms: list[str], title: str = "", links: tuple[str, ...] = ()) -> OriginalPage:
    page = Page(url, title=title, terms=terms, links=tuple(Link(link, "", Span(0, 0), Span(0, 0)) for link in links))
    return original_of(page, sketch(page))


TEMPLATE = text(0, 270)  # nine tenths of the text of a site


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (known(f"{A}/reef", text(1), "Coral reefs now"), known(f"{A}/v2/reef", edited(text(1), 12), "Coral reefs now")),
        (known(f"{A}/reef", text(1), "Coral reefs now"), known(f"{A}/p?id=7", edited(text(1), 5), "Coral reefs now")),
        (
            known(f"{A}/x/LICENSE", text(1), "Reef: licence"),
            known(f"{A}/y/LICENSE", edited(text(1), 3), "Fish: licence"),
        ),
        (known(f"{A}/part-1", text(1), "News, part 1"), known(f"{A}/part-2", text(1), "News, part 2")),
        (known(f"{A}/reef", text(1), "Reefs | A Times"), known(f"{B}/2024/x", edited(text(1), 14), "Reefs | B Post")),
        (known(f"{A}/reef", text(1), "Reefs are dying"), known(f"{B}/story", edited(text(1), 7), "Death of the reefs")),
        (known(f"{A}/a", text(1), "Reefs one"), known(f"{A}/b", text(1), "Fish two")),
        (
            known(f"{A}/LICENSE", text(1) + text(2, 100), "MIT License | A"),
            known(f"{B}/LICENSE", text(1) + text(3, 100), "MIT License | B"),
        ),
    ],
    ids=[
        "version",
        "other URL",
        "licence",
        "series",
        "agency",
        "agency, other headline",
        "same text",
        "licence between menus",
    ],
)
def test_copies_are_found(first, second):
    index = DuplicateIndex(MemorySketchStore())
    for number in range(50):
        index.add(known(f"{A}/other/{number}", text(100 + number), f"Other page {number}"))
    index.add(first)
    assert index.first_with(second) == first
    assert index.is_duplicate(second, first)
    assert index.is_duplicate(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (known(f"{A}/sin", TEMPLATE + text(1, 30), "Sine of x"), known(f"{A}/log", TEMPLATE + text(2, 30), "Log of x")),
        (
            known(f"{A}/i?id=1", TEMPLATE + text(1, 60), "A shop"),
            known(f"{A}/i?id=2", TEMPLATE + text(2, 60), "A shop"),
        ),
        (known(f"{A}/reef", text(1), "Coral reefs now"), known(f"{A}/reef/2", text(2), "Coral reefs now")),
        (known(f"{A}/reef", text(1), "Coral reefs now"), known(f"{B}/reef", edited(text(1), 60), "Coral reefs now")),
        (
            known(f"{A}/join", text(1) + text(2, 100), "Take part | A"),
            known(f"{B}/help", text(1) + text(3, 100), "Take part | B"),
        ),
        (known(f"{A}/go", text(1, 40), "It has moved"), known(f"{A}/went", edited(text(1, 40), 1), "It has moved")),
        (known(f"{A}/go", [], "It has moved"), known(f"{A}/went", [], "It has moved")),
        (known(f"{A}/1", ["under", "construction"]), known(f"{B}/2", ["under", "construction"])),
        (known(f"{A}/", ["reef"] * 50, "Reef of reefs"), known(f"{B}/", ["reef"] * 50, "Reef of reefs")),
        (known(f"{A}/1", text(1, 60), "Slides of one"), known(f"{A}/2", text(1, 60), "Slides of two")),
    ],
    ids=[
        "template",
        "shop",
        "title alone",
        "rewritten",
        "a short headline between menus",
        "short",
        "empty",
        "a word",
        "one word again and again",
        "same text, too short to tell",
    ],
)
def test_other_pages_are_not(first, second):
    index = DuplicateIndex(MemorySketchStore())
    index.add(first)
    assert index.first_with(second) is None
    assert not index.is_duplicate(first, second)


def test_a_short_text_is_a_copy_when_it_has_the_same_links():
    links = (f"{A}/start", f"{A}/end")
    index = DuplicateIndex(MemorySketchStore())
    index.add(known(f"{A}/1", ["go", "on"], links=links))
    assert index.first_with(known(f"{A}/2", ["go", "on"], links=links)) is not None
    assert index.first_with(known(f"{A}/3", ["go", "on"], links=(f"{A}/else", f"{A}/end"))) is None


def test_a_page_is_no_copy_of_itself():
    index = DuplicateIndex(MemorySketchStore())
    index.add(known(f"{A}/reef", text(1), "Coral reefs now"))
    assert index.first_with(known(f"{A}/reef", text(1), "Coral reefs now")) is None


def test_links_of_other_names_lead_elsewhere():
    here = tuple(f"{A}/v1/{number}.html" for number in range(30))
    copied = tuple(f"{B}/v2/{number}.html?sid=9" for number in range(30))
    other = tuple(f"{B}/{number}/" for number in range(100, 140))
    assert not leads_elsewhere(known(f"{B}/x", text(1), links=copied), known(f"{A}/x", text(1), links=here))
    assert leads_elsewhere(known(f"{B}/x", text(1), links=other), known(f"{A}/x", text(1), links=here))


def test_what_is_known_is_limited():
    index = DuplicateIndex(MemorySketchStore(), most=1)
    index.add(known(f"{A}/1", text(1)))
    index.add(known(f"{A}/2", text(2)))
    assert len(index) == 1
    assert index.first_with(known(f"{B}/2", text(2))) is None


# ------------------------------------------------------------ on disk


def test_an_index_on_disk_is_there_again(tmp_path: Path):
    path = tmp_path / "sketches.jsonl"
    index = DuplicateIndex(DiskSketchStore(path, lambda url: True, print))
    firsts = [known(f"{A}/{number}", text(number), f"Page {number}", (f"{A}/next",)) for number in range(20)]
    for first in firsts:
        index.add(first)
    index.close()
    again = DuplicateIndex(DiskSketchStore(path, lambda url: True, print))
    again.read_stored()
    assert len(again) == 20
    assert again.last_url == f"{A}/19"
    assert [again.first_with(known(f"{B}/{n}", edited(text(n), 5), f"Page {n}")) for n in range(20)] == firsts
    again.add(known(f"{A}/21", text(21)))
    assert again.first_with(known(f"{B}/21", text(21))).url == f"{A}/21"
    again.close()


def test_originals_that_are_gathered_are_found_as_those_that_are_written(tmp_path: Path):
    path = tmp_path / "sketches.jsonl"
    store, lines = DiskSketchStore(path, lambda url: True, print, gathered=4), []
    firsts = [known(f"{A}/{number}", text(number)) for number in range(9)]
    for number, first in enumerate(firsts):
        store.append(first)
        lines.append(path.read_bytes().count(b"\n"))
        assert [store[n] for n in range(len(store))] == firsts[: number + 1]
    assert lines == [0, 0, 0, 4, 4, 4, 4, 8, 8]
    store.close()


def test_a_store_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = tmp_path / "sketches.jsonl"
    store = DiskSketchStore(path, lambda url: True, print)
    store.append(known(f"{A}/1", text(1)))
    with monkeypatch.context() as patched:
        patched.setattr(os, "pread", broken)
        with pytest.raises(StorageFailed, match=f"^cannot read {path}: "):
            store[0]
        with pytest.raises(StorageFailed, match=f"^cannot read {path}: "):
            store.set_learned(store.learned(), f"{A}/1")
    path.unlink()
    with pytest.raises(StorageFailed, match=f"^cannot read {path}: "):
        list(store.stored())
    store.close()


def test_a_torn_line_and_pages_that_are_not_in_the_history_are_gone(tmp_path: Path):
    path = tmp_path / "sketches.jsonl"
    index = DuplicateIndex(DiskSketchStore(path, lambda url: True, print))
    for number in range(3):
        index.add(known(f"{A}/{number}", text(number)))
    index.close()
    with path.open("ab") as file:
        file.write(b'{"url": "http://a.exa')
    again = DuplicateIndex(DiskSketchStore(path, lambda url: url != f"{A}/2", print))
    again.read_stored()
    assert len(again) == 2
    again.close()


@pytest.mark.parametrize("line", [b"[]\n", b'{"url": "http://a.example/"}\n', b"no JSON\n", b'{"ur\xff": 1}\n'])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_damaged_line_and_those_behind_it_are_told_and_made_again(tmp_path: Path, line: bytes, place: int) -> None:
    path, said = tmp_path / "sketches.jsonl", list[str]()
    index = DuplicateIndex(DiskSketchStore(path, lambda url: True, said.append))
    for number in range(4):
        index.add(known(f"{A}/{number}", text(number)))
    index.close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:place], line, *lines[place + 1 :]]))
    again = DuplicateIndex(DiskSketchStore(path, lambda url: True, said.append))
    assert again.read_stored() == (f"{A}/{place - 1}" if place else "")
    assert len(said) == 1 and f"sketches.jsonl, line {place + 1} is damaged" in said[0]
    for number in range(place, 4):
        again.add(known(f"{A}/{number}", text(number)))
    again.close()
    assert path.read_bytes() == b"".join(lines)


def test_sketches_of_older_crawls_are_read(tmp_path: Path) -> None:
    path = tmp_path / "sketches.jsonl"
    index = DuplicateIndex(DiskSketchStore(path, lambda url: True, print))
    index.add(known(f"{A}/reef", text(1), "Coral reefs now"))
    index.close()
    line = json.loads(path.read_text())
    del line["language"], line["prose"]
    path.write_text(json.dumps(line) + "\n")
    again = DuplicateIndex(DiskSketchStore(path, lambda url: True, print))
    again.read_stored()
    assert again.first_with(known(f"{A}/v2/reef", text(1), "Coral reefs now")) is not None
    again.close()
