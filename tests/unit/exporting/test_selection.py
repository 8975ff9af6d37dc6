"""The choice of the exported page among several copies."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.items import a_crawl, add, an_item

from crawlproject.errors import StorageFailed
from crawlproject.exporting.selection import Selection, read_items

ONE, TWO, THREE, FOUR = (f"http://a.example/{number}" for number in (1, 2, 3, 4))


def copies(folder: Path) -> dict[str, str]:
    return {item["url"]: item["duplicate_of"] for item in read_items(folder)}


def test_the_last_page_that_took_the_place_of_others_is_the_original(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(1, "reef"), an_item(2, "reef", duplicate_of=ONE))
    assert copies(crawl) == {ONE: "", TWO: ONE}
    add(crawl, an_item(3, "reef", replaces=ONE), an_item(4, "reef", replaces=THREE))
    assert copies(crawl) == {ONE: FOUR, TWO: FOUR, THREE: FOUR, FOUR: ""}
    assert [item["url"] for item in read_items(crawl, Selection())] == [FOUR]


def test_a_page_that_says_something_else_by_now_is_no_copy(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(1, "reef"), an_item(2, "reef", replaces=ONE), an_item(1, "fish", version=2))
    assert [item["url"] for item in read_items(crawl, Selection())] == [TWO, ONE]


def test_pages_that_two_workers_put_in_the_place_of_each_other(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(1, "reef", replaces=TWO), an_item(2, "reef", replaces=ONE))
    assert copies(crawl) == {ONE: TWO, TWO: ""}


def test_items_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    folder = a_crawl(tmp_path, an_item(0, "x"))
    (folder / "items.jsonl").unlink()
    (folder / "items.jsonl").symlink_to("/proc/self/mem")  # its first bytes are an input/output error
    with pytest.raises(StorageFailed, match=f"^cannot read {folder / 'items.jsonl'}: "):
        list(read_items(folder))
