"""The folder of one topic follows the crawl: in steps of any size, and after any ending."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import StorageFailed
from crawlproject.parts.topics.topic_view import TopicView
from crawlproject.records import Page, Topic, Visit
from crawlproject.storage.append_log import AppendLog
from crawlproject.storage.history import History
from crawlproject.storage.page_files import item_fields, withdrawn
from crawlproject.urls.hosts import page_name

TOPIC = Topic("reefs", ("coral reef",), ("http://a.example/",))

lines = st.lists(st.tuples(st.booleans(), st.sampled_from([None, 0.0, 0.05, 0.1, 0.7]), st.booleans()), max_size=25)


def write(folder: Path, found: list[tuple[bool, float | None, bool]], start: int = 0) -> None:
    """Write history and items; ``found``: whether a fetch brought a page, its relevance, and whether one was withdrawn then."""
    history = History(folder / "history.jsonl")
    items = AppendLog(folder / "items.jsonl")
    for number, (stored, relevance, taken_back) in enumerate(found, start=start):
        url = f"http://a.example/{number}"
        topics = {} if relevance is None or not stored else {"reefs": relevance, "bread": 0.3}
        visit = Visit(
            url, 200 if stored else 404, 1.0, relevance=0.3, md5=page_name(url) if stored else "", topics=topics
        )
        if stored:
            items.append(item_fields(Page(url, relevance=0.3, topics=topics), visit))
        history.append(visit)
        if taken_back and stored:
            items.append(withdrawn(url, 2.0, 1, "retired"))
    items.close()
    history.close()


def read(folder: Path) -> tuple[list[tuple[str, float]], list[tuple[str, float, str]]]:
    history = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    return (
        [(line["url"], line["relevance"]) for line in history],
        [(line["url"], line["relevance"], line["state"]) for line in items],
    )


def view(folder: Path) -> TopicView:
    """Pages that were stored before the topic joined are judged by their number."""
    return TopicView(folder, TOPIC, relevant=0.1, judge=lambda visit: int(visit.url.rpartition("/")[2]) % 5 / 5)


def expected(
    found: list[tuple[bool, float | None, bool]],
) -> tuple[list[tuple[str, float]], list[tuple[str, float, str]]]:
    history, items = [], []
    for number, (stored, relevance, taken_back) in enumerate(found):
        url = f"http://a.example/{number}"
        own = 0.0 if not stored else number % 5 / 5 if relevance is None else relevance
        history.append((url, own))
        if stored and own >= 0.1:
            items.append((url, own, ""))
        if stored and taken_back:
            items.append((url, 0.0, "retired"))
    return history, items


@given(lines, st.lists(st.integers(1, 6), max_size=8), st.booleans())
def test_slices_and_sudden_ends_change_nothing(
    found: list[tuple[bool, float | None, bool]], slices: list[int], killed: bool
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        half = len(found) // 2
        write(folder, found[:half])
        own = view(folder)
        for most in slices:
            steps = count(1)
            own.catch_up(lambda most=most, steps=steps: next(steps) < most)  # type: ignore[misc]
            if killed:
                own = view(folder)  # lines since the last note are written again
            else:
                own.close()
                own = view(folder)
        write(folder, found[half:], half)
        own = own if killed else view(folder)
        assert own.catch_up()
        own.close()
        assert read(own.path) == expected(found)


def test_a_replaced_log_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, [(True, 0.7, False), (True, 0.7, False)])
    own = view(tmp_path)
    own.catch_up()
    own.close()
    log = AppendLog(tmp_path / "items.jsonl")
    line = withdrawn("http://a.example/9", 1.0, 1, "gone")
    log.replace_all([[line], [json.loads(text) for text in (tmp_path / "items.jsonl").read_text().splitlines()]])
    log.close()
    again = view(tmp_path)
    again.catch_up()
    again.close()
    _, items = read(again.path)
    assert [url for url, _, state in items if not state] == ["http://a.example/0", "http://a.example/1"]


def test_pages_are_not_copied(tmp_path: Path) -> None:
    own = view(tmp_path)
    own.describe({"version": 1, "topic": {"name": "all"}, "settings": {}})
    own.close()
    (tmp_path / "pages").mkdir()
    assert (own.path / "pages").samefile(tmp_path / "pages")
    assert json.loads((own.path / "crawl.json").read_text())["topic"]["name"] == "reefs"


@pytest.mark.parametrize("content", ["", "nonsense", "[]", '{"sizes": [0, 0]}'])
def test_without_a_note_of_how_far_it_came_all_is_read_again(tmp_path: Path, content: str) -> None:
    write(tmp_path, [(True, 0.7, False)] * 3)
    own = view(tmp_path)
    own.catch_up()
    own.close()
    (own.path / "view.json").write_text(content)
    again = view(tmp_path)
    again.catch_up()
    again.close()
    assert len(read(again.path)[0]) == 3


@pytest.mark.parametrize("sizes", [None, "ab", [0], [0, -1], ["0", "0"], [10**9, 0]])
def test_sizes_that_cannot_be_are_none(tmp_path: Path, sizes: object) -> None:
    write(tmp_path, [(True, 0.7, False)] * 3)
    own = view(tmp_path)
    own.catch_up()
    own.close()
    note = json.loads((own.path / "view.json").read_bytes())
    (own.path / "view.json").write_text(json.dumps({**note, "sizes": sizes}))
    again = view(tmp_path)
    again.catch_up()
    again.close()
    assert read(again.path) == expected([(True, 0.7, False)] * 3)


@pytest.mark.parametrize("name", ["history.jsonl", "items.jsonl"])
@pytest.mark.parametrize("damage", ["cut", "zeros", "gone"])
def test_what_a_power_failure_took_is_read_again(tmp_path: Path, name: str, damage: str) -> None:
    write(tmp_path, [(True, 0.7, False)] * 3)
    own = view(tmp_path)
    own.catch_up()
    own.close()
    lines = (own.path / name).read_bytes().splitlines(keepends=True)
    if damage == "gone":
        (own.path / name).unlink()
    else:
        (own.path / name).write_bytes(b"".join(lines[:2]) + (bytes(len(lines[2])) if damage == "zeros" else b""))
    again = view(tmp_path)
    again.catch_up()
    again.close()
    assert read(again.path) == expected([(True, 0.7, False)] * 3)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    own = view(tmp_path)
    own.close()
    (own.path / "items.jsonl").unlink()
    (own.path / "items.jsonl").mkdir()
    with pytest.raises(StorageFailed, match=r"cannot open .*items"):
        view(tmp_path)
