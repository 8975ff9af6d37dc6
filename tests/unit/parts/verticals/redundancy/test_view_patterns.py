"""Patterns that distinguish views of pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.verticals.redundancy.path_orders import names_in, view_patterns


def test_ids_and_titles_are_left_out_and_names_of_views_stay() -> None:
    assert view_patterns("http://a.example/board/thread-17/print?page=2&order=asc") == (
        "a.example/board/*/print?order=asc&page",
        "a.example/board/*/print?order&page",
        "a.example/board/**?order&page",
    )
    assert view_patterns("http://a.example/t/a-reef-in-winter/print") == ("a.example/t/*/print", "a.example/**/print")
    assert view_patterns("http://a.example/post/3-1-2") == ("a.example/post/*",)
    assert view_patterns("http://a.example/") == ("a.example/",)


def test_pages_of_one_kind_have_one_pattern_and_views_another() -> None:
    threads = {view_patterns(f"http://a.example/viewtopic.php?t={n}")[0] for n in range(5)}
    prints = {view_patterns(f"http://a.example/viewtopic.php?t={n}&view=print")[0] for n in range(5)}
    assert len(threads) == len(prints) == 1 and threads != prints
    (path, names), (other, more) = (names_in(found.pop()) for found in (threads, prints))
    assert path == other and names < more


@given(st.text("abz019-_./?&=%", max_size=60))
def test_patterns_differ_and_belong_to_the_host(rest: str) -> None:
    found = view_patterns(f"http://a.example/{rest}")
    assert found and len(set(found)) == len(found)
    assert all(pattern.startswith("a.example/") for pattern in found)
