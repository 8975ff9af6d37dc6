"""How other crawlers are driven, without them: the sharing of a budget, seeds, keywords, and their logs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.robotparser import RobotFileParser

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.rivals.crawl4ai_best_first import starting_state, words_of
from benchmarks.rivals.joblog import PageLog, logged_urls, processed_pages
from benchmarks.rivals.trafilatura_focused import TURN, crawl_site, starting_points, take_turns


def site(name: str, turns: int, taken: list[str]) -> Iterator[int]:
    for left in reversed(range(turns)):
        taken.append(name)
        yield left


def test_sites_take_turns_and_what_one_leaves_goes_to_the_others() -> None:
    taken: list[str] = []
    take_turns([site("a", 1, taken), site("b", 4, taken), site("c", 2, taken)])
    assert "".join(taken) == "abcbcbb"


@given(st.lists(st.integers(0, 12), max_size=6), st.integers(0, 40))
def test_at_any_moment_living_sites_had_equal_shares(turns: list[int], moment: int) -> None:
    taken: list[str] = []
    take_turns([site(str(number), count, taken) for number, count in enumerate(turns)])
    assert len(taken) == sum(turns)
    had = [taken[:moment].count(str(number)) for number in range(len(turns))]
    living = [count for count, whole in zip(had, turns, strict=True) if count < whole]
    assert not living or max(had) <= min(living) + 1


def test_every_host_starts_at_its_seeds_and_then_at_its_home_page() -> None:
    seeds = ["http://a.example/x/1.html", "http://b.example/", "http://a.example/y/"]
    assert starting_points(seeds) == [
        ["http://a.example/x/1.html", "http://a.example/y/", "http://a.example/"],
        ["http://b.example/"],
    ]


class FocusedCrawler:
    """Visits ``turn`` pages at most of those that wait in its store, as trafilatura does; ``pages`` of each start."""

    def __init__(self, pages: int) -> None:
        self.pages = pages
        self.calls: list[tuple[str, list[str] | None]] = []
        self.waiting: list[str] = []
        self.known: list[str] = []

    def __call__(self, start: str, turn: int, *, todo: list[str] | None, rules: Any) -> tuple[list[str], list[str]]:
        self.calls.append((start, todo))
        if not todo:
            self.waiting = [f"{start}{number}" for number in range(self.pages)]
        self.known += self.waiting[:turn]
        self.waiting = self.waiting[turn:]
        return list(self.waiting), list(self.known)


def test_a_turn_goes_on_with_what_the_last_one_left() -> None:
    visit = FocusedCrawler(TURN + 3)
    waiting = list(crawl_site(["http://a.example/x/", "http://a.example/"], RobotFileParser(), visit))
    assert waiting == [3, 0, 3, 0]
    assert [start for start, _ in visit.calls] == ["http://a.example/x/"] * 2 + ["http://a.example/"] * 2
    assert [todo for _, todo in visit.calls] == [
        None,
        [f"http://a.example/x/{TURN}"],
        None,
        [f"http://a.example/{TURN}"],
    ]


def test_a_site_ends_when_a_turn_changes_nothing() -> None:
    def stuck(start: str, turn: int, **_: Any) -> tuple[list[str], list[str]]:
        return ["http://a.example/never"], ["http://a.example/"]

    assert len(list(crawl_site(["http://a.example/"], RobotFileParser(), stuck))) == 2


def test_keywords_are_single_words_each_once() -> None:
    assert words_of(["Machine Learning", "learning theory"]) == ["machine", "learning", "theory"]


def test_all_seeds_wait_ahead_of_the_best_link() -> None:
    state = starting_state(["http://a.example/", "http://b.example/"])
    assert [item["url"] for item in state["queue_items"]] == ["http://a.example/", "http://b.example/"]
    assert max(item["score"] for item in state["queue_items"]) < -1  # a link that matches all keywords scores -1
    assert state["depths"] == {"http://a.example/": 0, "http://b.example/": 0}


def test_a_log_is_read_up_to_the_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    log = PageLog(path)
    for url in ("http://a.example/", "http://a.example/é", "http://a.example/"):
        log.note(url)
    with path.open("a") as file:
        file.write('{"url": "http://b.exam')
    assert list(logged_urls(path)) == ["http://a.example/", "http://a.example/é", "http://a.example/"]


def test_pages_count_once_and_only_urls_count(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    log = PageLog(path)
    for url in ("http://a.example/", "http://a.example/index.html", "about:blank", "http://a.example/b"):
        log.note(url)
    spelled = {"http://a.example/index.html": "http://a.example/", "about:blank": None}
    assert processed_pages(path, lambda url: spelled.get(url, url)) == 2
    assert processed_pages(tmp_path / "none.jsonl", str) == 0
