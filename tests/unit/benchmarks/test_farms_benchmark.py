"""The rule of common nodes beside the link neighbourhoods of sites: what the benchmark of link farms compares."""

from __future__ import annotations

from support.events import page_event
from support.pages import a_link, a_page

from benchmarks.farms import WatchedFarms
from crawlproject.records import Fetch, Page

FETCH = Fetch(200, 0.0, 0.1)


def visited(links: dict[str, str], accused: str = "", rounds: int = 3) -> WatchedFarms:
    """Sites by letter, each with the letters of those that it links to; some are taken for spam."""
    farms = WatchedFarms()
    farms.accused = {f"{site}.example": site in accused for site in links}
    for number in range(rounds):
        for site, others in links.items():
            page = a_page(
                f"http://{site}.example/{number}", links=[a_link(f"http://{other}.example/") for other in others]
            )
            page = farms.inspect(page, FETCH)
            assert isinstance(page, Page)
            farms.apply(page_event(page))
    return farms


def test_common_nodes_mark_what_three_others_link_back_to():
    farms = visited({"a": "bcd", "b": "acd", "c": "abd", "d": "abc", "e": "abcd", "f": "ab"})
    assert sorted(farms.common_nodes()) == [f"{site}.example" for site in "abcd"]
    assert not farms.marked, "nothing is wrong with their pages"


def test_accused_sites_are_not_counted_as_marked_in_error():
    farms = visited(dict.fromkeys("abcdefghi", "abcdefghi"), accused="abcdefgh")
    assert {url.partition("/")[2][1:2] for url in farms.marked} == {"i"}
