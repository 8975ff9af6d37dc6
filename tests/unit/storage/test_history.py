"""The history: the commit record of a crawl folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlproject.errors import BadCrawlDir
from crawlproject.records import Visit
from crawlproject.storage.history import RECENT, History


def stored(number: int, relevance: float = 0.5) -> Visit:
    return Visit(f"http://a.example/{number}", 200, float(number), relevance=relevance, md5="0" * 32)


FAILED = Visit("http://a.example/gone", 404, 7.0, error="http 404")
MOVED = Visit("http://a.example/old", 301, 8.0, redirect="http://a.example/0")


def test_a_page_counts_from_its_line_on(tmp_path: Path) -> None:
    history = History(tmp_path / "history.jsonl")
    assert "http://a.example/0" not in history and len(history) == 0 and history.last_url == ""
    history.append(stored(0))
    assert "http://a.example/0" in history and len(history) == 1 and history.pages == 1
    assert (tmp_path / "history.jsonl").read_bytes().endswith(b"\n"), "the line is in the file before append returns"


def test_counts_come_back_when_it_is_opened_again(tmp_path: Path) -> None:
    history = History(tmp_path / "history.jsonl")
    for visit in (stored(0, 0.2), FAILED, MOVED, stored(1, 0.4)):
        history.append(visit)
    history.close()
    again = History(tmp_path / "history.jsonl")
    for opened in (history, again):
        assert (len(opened), opened.pages, opened.errors) == (4, 2, 1), "a redirect is neither a page nor an error"
        assert opened.recent_relevance() == pytest.approx(0.3)
        assert opened.last_url == "http://a.example/1"
    assert set(again) == {"http://a.example/0", "http://a.example/1", FAILED.url, MOVED.url}


def test_recent_relevance_is_that_of_the_last_pages(tmp_path: Path) -> None:
    history = History(tmp_path / "history.jsonl")
    assert history.recent_relevance() == 0.0
    for number in range(RECENT):
        history.append(stored(number, 1.0))
    for number in range(RECENT, RECENT + RECENT // 2):
        history.append(stored(number, 0.0))
        history.append(FAILED)
    assert history.recent_relevance() == pytest.approx(0.5)


def test_a_torn_line_has_not_happened(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history = History(path)
    history.append(stored(0))
    history.append(stored(1))
    history.close()
    path.write_bytes(path.read_bytes()[:-20])
    again = History(path)
    assert set(again) == {"http://a.example/0"} and again.pages == 1
    again.append(stored(1))
    again.close()
    assert History(path).pages == 2


@pytest.mark.parametrize("line", [b"{", b"7", b'{"url":"http://a.example/"}', b'{"url":1,"md5":"","relevance":"much"}'])
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "history.jsonl"
    history = History(path)
    history.append(stored(0))
    history.close()
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(BadCrawlDir, match=f"{path}, line 2: expected a line of JSON"):
        History(path)
