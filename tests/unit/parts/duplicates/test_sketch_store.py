"""The file of sketches: what is no sketch is cut off, and its pages are sketched again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crawlproject.pages.text.minhash import sketch
from crawlproject.parts.duplicates.index import DuplicateIndex, original_of
from crawlproject.parts.duplicates.sketch_store import NAME, DiskSketchStore, written_original
from crawlproject.records import Page

PAGE = Page("http://a.example/x", title="Reefs of the sea", terms=tuple(f"word{number}" for number in range(300)))


def stored(folder: Path, **damage: Any) -> tuple[DuplicateIndex, list[str]]:
    """An index that reads two lines, the second with this damage; and what it warned of."""
    line = written_original(original_of(PAGE, sketch(PAGE)))
    (folder / NAME).write_text(f"{json.dumps(line)}\n{json.dumps({**line, **damage})}\n")
    warnings: list[str] = []
    index = DuplicateIndex(DiskSketchStore(folder / NAME, lambda url: True, warnings.append))
    index.read_stored()
    index.close()
    return index, warnings


def test_what_was_written_is_read(tmp_path: Path) -> None:
    index, warnings = stored(tmp_path)
    assert (len(index), warnings) == (2, [])


@pytest.mark.parametrize(
    "damage",
    [
        {"text": "x"},
        {"text": -1},
        {"shingles": None},
        {"url": 5},
        {"url": "x"},
        {"minima": ""},
        {"menu": "AAAA"},
        {"prose": "AAAA"},
        {"language": 5},
    ],
    ids=str,
)
def test_a_line_that_is_no_sketch_is_cut_off(tmp_path: Path, damage: dict[str, Any]) -> None:
    index, warnings = stored(tmp_path, **damage)
    assert len(index) == 1
    assert len(warnings) == 1 and "sketches.jsonl, line 2 is damaged" in warnings[0]
    assert len((tmp_path / NAME).read_text().splitlines()) == 1
