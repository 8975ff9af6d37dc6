"""URLs that show a page again."""

from __future__ import annotations

import pytest

from crawlproject.parts.verticals.redundancy.redundant_urls import base_of, is_redundant


@pytest.mark.parametrize(
    "path",
    ["/list?page=2&sort=price", "/list?orderby=date", "/post?replytocom=7", "/topic.php?action=reply&id=3", "/a?print",
     "/thread/4/print", "/newreply.php?t=3", "/Reply/12", "/a?view=print", "/shop?ORDER=asc"],
)  # fmt: skip
def test_another_view_of_a_page(path: str) -> None:
    url = f"http://a.example{path}"
    assert is_redundant(url)


@pytest.mark.parametrize(
    "path",
    ["/", "/list?page=2", "/printing-press", "/a?q=sort", "/sort", "/order/of/battle", "/a?view=full", "/reply-to-critics",
     "/blueprint/1", "/a?action=show", "/x?p=1&view=", "/a?="],
)  # fmt: skip
def test_pages_of_their_own(path: str) -> None:
    assert not is_redundant(f"http://a.example{path}")


def test_a_host_is_no_segment() -> None:
    assert not is_redundant("http://print/") and not is_redundant("http://reply/x")


def test_what_another_order_shows() -> None:
    assert base_of("http://a.example/list?page=2&sort=price") == "http://a.example/list?page=2"
    assert base_of("http://a.example/list?order=asc") == "http://a.example/list"
    assert base_of("http://a.example/post?replytocom=7") == base_of("http://a.example/a") == ""
