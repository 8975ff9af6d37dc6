"""The log of searches, and files of queries."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.storage.searches import SEARCHES, Searched, note_search, read_queries, read_searches, words_of


def test_a_search_is_a_line_of_time_query_and_hits_for_its_owner_alone(tmp_path: Path) -> None:
    note_search(tmp_path, "Coral  +reef", 3, 1_700_000_000.1239)
    log = tmp_path / SEARCHES
    assert json.loads(log.read_text()) == {"at": 1_700_000_000.124, "query": "Coral  +reef", "hits": 3}
    assert log.stat().st_mode & 0o777 == 0o600


def test_searches_add_up_whatever_their_operators_and_the_last_hits_count(tmp_path: Path) -> None:
    for query, hits in (("coral reef", 2), ("tides", 9), ("+Coral +reef -aquarium", 5), ("*", 100)):
        note_search(tmp_path, query, hits, 0.0)
    assert read_searches(tmp_path) == [Searched("coral reef", 2, 5), Searched("tides", 1, 9)]


@pytest.mark.parametrize("line", ["[]", "3", '{"query": "reef", "hits": "many"}', '{"query": "reef", "hits": null}'])
def test_a_line_that_is_no_search_is_named(tmp_path: Path, line: str) -> None:
    note_search(tmp_path, "coral", 1, 0.0)
    log = tmp_path / SEARCHES
    log.write_text(f"{log.read_text()}{line}\n")
    for read in (read_searches, lambda folder: read_queries(folder / SEARCHES)):
        with pytest.raises(BadCrawlDir, match="line 2"):
            read(tmp_path)


def test_a_folder_that_cannot_be_written_has_no_log(tmp_path: Path) -> None:
    note_search(tmp_path / "nowhere", "coral", 1, 0.0)
    (tmp_path / SEARCHES).symlink_to(tmp_path / "elsewhere")
    note_search(tmp_path, "coral", 1, 0.0)
    assert not (tmp_path / "elsewhere").exists()


def test_a_search_that_a_full_disk_took_half_of_leaves_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    note_search(tmp_path, "coral", 1, 0.0)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda file, data: write(file, data[: len(data) // 2]))
        note_search(tmp_path, "fish", 2, 0.0)
    note_search(tmp_path, "tides", 3, 0.0)
    assert read_searches(tmp_path) == [Searched("coral", 1, 1), Searched("tides", 1, 3)]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('title:reef "coral fish" -"red sea"', "reef coral fish"),
        ("tide AND (spring OR neap)", "tide spring neap"),
        ("co-op", "co-op"),
    ],
)
def test_the_words_of_a_query(query: str, words: str) -> None:
    assert words_of(query) == words


def test_queries_of_a_file_and_of_a_log_with_their_shares(tmp_path: Path) -> None:
    file = tmp_path / "queries.tsv"
    file.write_text("# asked in May\ncoral reef\t6\n\nTides\ncoral reef\n")
    assert read_queries(file) == {"coral reef": 7 / 8, "tides": 1 / 8}
    file.write_text("coral reef\t6\n", encoding="utf-8-sig")  # as a spreadsheet writes it
    assert read_queries(file) == {"coral reef": 1.0}
    for _ in range(3):
        note_search(tmp_path, "coral", 1, 0.0)
    note_search(tmp_path, "tides", 1, 0.0)
    assert read_queries(tmp_path / SEARCHES) == {"coral": 0.75, "tides": 0.25}


@pytest.mark.parametrize("text", ["coral\tmany\n", "coral\t0\n", "*\n", ""])
def test_a_file_of_queries_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "queries.tsv").write_text(text)
    with pytest.raises(BadInput, match=r"queries.tsv.*expected a query on each line"):
        read_queries(tmp_path / "queries.tsv")
