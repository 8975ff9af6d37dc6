"""A reader of items returns to a file that has grown, was cut, or was rewritten."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadCrawlDir
from crawlproject.storage.append_log import TailPosition, TailReader


def line(number: int, pad: int = 0) -> bytes:
    return orjson.dumps({"number": number, "pad": "x" * pad}) + b"\n"


def numbers(follower: TailReader) -> list[int]:
    return [record["number"] for record in follower]


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items.jsonl"
    path.write_bytes(b"".join(line(n) for n in range(5)))
    return path


def test_only_what_is_new_is_read(items: Path) -> None:
    first = TailReader(items)
    assert numbers(first) == [0, 1, 2, 3, 4]
    place = TailPosition.from_json(orjson.loads(orjson.dumps(first.place.as_json())))
    assert numbers(TailReader(items, place)) == []
    with items.open("ab") as file:
        file.write(line(5) + b'{"torn')
    later = TailReader(items, place)
    assert numbers(later) == [5] and not later.restarted
    assert later.place.lines == 6


def test_a_place_in_the_middle(items: Path) -> None:
    follower = TailReader(items)
    lines = iter(follower)
    next(lines), next(lines)
    assert follower.place.lines == 2
    assert numbers(TailReader(items, follower.place)) == [2, 3, 4]
    assert 0 < follower.share < 1


@pytest.mark.parametrize(
    "content",
    [
        b"".join(line(n) for n in range(4)),  # a resume cut the last line off
        b"".join(line(n) for n in (0, 1, 2, 3, 9, 5)),  # and another one took its place
        b"".join(line(n) for n in (7, 0, 1, 2, 3, 4)),  # merged anew
        b"",
    ],
)
def test_a_file_that_is_another_one_is_read_from_its_start(items: Path, content: bytes) -> None:
    first = TailReader(items)
    numbers(first)
    items.write_bytes(content)
    again = TailReader(items, first.place)
    assert again.restarted
    assert b"".join(line(n) for n in numbers(again)) == content


def test_no_file_and_a_damaged_line(tmp_path: Path) -> None:
    assert numbers(TailReader(tmp_path / "none")) == []
    assert TailReader(tmp_path / "none").place == TailPosition()
    (tmp_path / "items").write_bytes(line(1) + b"{oops\n")
    with pytest.raises(BadCrawlDir, match="items, line 2"):
        numbers(TailReader(tmp_path / "items"))


@pytest.mark.parametrize(
    "found",
    [
        None,
        [],
        {"offset": 1},
        {"offset": "x", "lines": 0, "tail": ""},
        {"offset": -2, "lines": 1, "tail": ""},
        {"offset": 2, "lines": -1, "tail": ""},
        {"offset": 2**63, "lines": 1, "tail": ""},
        {"offset": float("inf"), "lines": 1, "tail": ""},
    ],
)
def test_what_is_no_place_is_the_start(found: object) -> None:
    assert TailPosition.from_json(found) == TailPosition()


@given(st.lists(st.integers(0, 9_000), max_size=8), st.integers(0, 8))
def test_two_readings_are_one(tmp_path_factory: pytest.TempPathFactory, pads: list[int], cut: int) -> None:
    path = tmp_path_factory.mktemp("follow") / "items"
    written = [line(n, pad) for n, pad in enumerate(pads)]
    path.write_bytes(b"".join(written[:cut]))
    first = TailReader(path)
    seen = numbers(first)
    with path.open("ab") as file:
        file.writelines(written[cut:])
    second = TailReader(path, first.place)
    assert seen + numbers(second) == list(range(len(pads)))
    assert not second.restarted
