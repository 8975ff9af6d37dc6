"""The look-ahead on a small web: which pages it fetches, in which order, and which it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.lookahead import Browsing
from support.webs import page, robots

from crawlproject.errors import BadInput
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.records import Reply

A, B = "http://a.example", "http://b.example"


def chain(origin: str, length: int) -> dict[str, Reply]:
    """Page 0 links to page 1, and so on."""
    return dict(page(f"{origin}/{n}", f"{origin}/{n + 1}", text="coral reefs") for n in range(length))


def test_three_clicks_and_no_further(tmp_path: Path) -> None:
    browsing = Browsing(tmp_path, chain(A, 8))
    browsing.open(f"{A}/0")
    assert browsing.asked == [f"{A}/{n}" for n in range(4)]
    assert sorted(browsing.suggested()) == [f"{A}/{n}" for n in (1, 2, 3)]
    assert [found.clicks for found in sorted(browsing.companion.suggestions(), key=lambda found: found.url)] == [
        1,
        2,
        3,
    ]


def test_what_was_fetched_ahead_is_not_fetched_again_and_its_links_are_gone_after(tmp_path: Path) -> None:
    browsing = Browsing(tmp_path, chain(A, 8))
    browsing.open(f"{A}/0")
    browsing.open(f"{A}/2")
    assert browsing.asked == [f"{A}/{n}" for n in range(6)]
    assert sorted(browsing.suggested()) == [f"{A}/{n}" for n in (3, 4, 5)]


def test_it_moves_with_the_person(tmp_path: Path) -> None:
    web = dict([page(f"{A}/", *(f"{A}/{n}" for n in range(50)), text="coral"), *chain(B, 5).items()])
    browsing = Browsing(tmp_path, web)
    browsing.open(f"{A}/", seconds=6.0)
    before = len(browsing.asked)
    assert 2 <= before < 10
    browsing.open(f"{B}/0")
    assert [url for url in browsing.asked[before:] if url.startswith(A)] == []
    assert sorted(browsing.suggested()) == [f"{B}/{n}" for n in (1, 2, 3)]


def test_a_page_on_its_way_when_the_person_moves_leads_nowhere(tmp_path: Path) -> None:
    slow = dict(
        [page(f"{A}/0", f"{A}/1", text="coral", seconds=30.0), page(f"{A}/1", text="coral"), *chain(B, 3).items()]
    )
    browsing = Browsing(tmp_path, slow)
    browsing.open(f"{A}/0", seconds=10.0)
    browsing.open(f"{B}/0", seconds=60.0)
    assert f"{A}/0" in browsing.asked and f"{A}/1" not in browsing.asked
    browsing.open(f"{A}/0")  # its links wait for the person to come back
    assert f"{A}/1" in browsing.asked


def test_the_budget_counts_robots_txt(tmp_path: Path) -> None:
    browsing = Browsing(tmp_path, chain(A, 20), per_page=3, clicks=5)
    browsing.open(f"{A}/0")
    assert browsing.asked == [f"{A}/0", f"{A}/1"]
    browsing.open(f"{A}/1")
    assert browsing.asked == [f"{A}/{n}" for n in range(5)]


def test_no_more_a_minute_than_allowed(tmp_path: Path) -> None:
    browsing = Browsing(tmp_path, chain(A, 20), per_minute=3, clicks=5)
    browsing.open(f"{A}/0", seconds=55.0)
    assert len(browsing.asked) == 2  # and robots.txt
    browsing.wait(60.0)
    assert len(browsing.asked) == 5


def test_robots_txt_is_obeyed_for_the_page_at_hand_too(tmp_path: Path) -> None:
    web = dict(
        [robots(A, "User-agent: *\nDisallow: /secret"), page(f"{A}/secret", f"{A}/1"), page(f"{A}/1", text="coral")]
    )
    browsing = Browsing(tmp_path, web)
    browsing.open(f"{A}/secret")
    assert browsing.asked == [] and browsing.suggested() == []


def test_a_redirect_is_followed(tmp_path: Path) -> None:
    web = {f"{A}/old": Reply(f"{A}/old", 301, {"location": f"{A}/0"}), **chain(A, 3)}
    browsing = Browsing(tmp_path, web)
    browsing.open(f"{A}/old")
    assert sorted(browsing.suggested()) == [f"{A}/1", f"{A}/2"]


def test_an_ordering_of_the_project_decides_what_is_looked_at_first(tmp_path: Path) -> None:
    def suggests(ordering: str) -> list[str]:
        links = [f"{A}/{n}" for n in range(30)]
        body = "".join(f'<p><a href="{url}">{"coral reef" if url == links[20] else "imprint"}</a></p>' for url in links)
        start = Reply(f"{A}/", 200, {"content-type": "text/html"}, f"<title>Start</title>{body}".encode())
        web = {f"{A}/": start, **dict(page(url, text="coral reef" if url == links[20] else "imprint") for url in links)}
        browsing = Browsing(tmp_path / ordering, web, ordering=ordering, per_page=6)
        browsing.companion.weigh("coral", 3.0)
        browsing.open(f"{A}/")
        return browsing.asked

    assert f"{A}/20" in suggests("dom") and f"{A}/20" not in suggests("breadth_first")


def test_an_ordering_that_reads_its_keywords_once_follows_the_new_ones(tmp_path: Path) -> None:
    web = dict(
        [page(f"{A}/", f"{A}/1", f"{A}/coral", text="x"), page(f"{A}/1", text="x"), page(f"{A}/coral", text="coral")]
    )
    browsing = Browsing(tmp_path, web, ordering="keyword_queue", per_page=3)
    browsing.companion.weigh("coral", 3.0)
    browsing.open(f"{A}/")
    assert browsing.asked[-1] == f"{A}/coral"


@pytest.mark.parametrize(
    "name", [name for name, cls in ORDERINGS.items() if not (cls.needs_targets or cls.needs_archive)]
)
def test_every_ordering_looks_ahead_and_moves(tmp_path: Path, name: str) -> None:
    web = {**chain(A, 6), **chain(B, 6)}
    browsing = Browsing(tmp_path, web, ordering=name)
    browsing.companion.weigh("coral", 3.0)
    browsing.open(f"{A}/0")
    browsing.open(f"{B}/0")
    assert f"{B}/1" in browsing.suggested()


def test_all_of_it_is_forgotten(tmp_path: Path) -> None:
    browsing = Browsing(tmp_path, chain(A, 4))
    browsing.open(f"{A}/0")
    assert browsing.companion.profile.interests
    browsing.companion.forget()
    assert browsing.suggested() == [] and browsing.companion.profile.interests == {}
    assert browsing.ahead.following.page(f"{A}/0") is None
    browsing.wait(60.0)
    assert len(browsing.asked) == 4


def test_keywords_without_a_term_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="keywords"):
        Browsing(tmp_path, {}).ahead.move(f"{A}/", ["the"])
