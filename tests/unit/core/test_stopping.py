"""The stopping rule of a crawl."""

from __future__ import annotations

from crawlproject.core.stopping import EVERY, NEAREST, SATURATED, TIME_BUDGET, Stopping
from crawlproject.records import FetchEvent, Visit

WINDOW = 100


def watching(floor: float = 0.1, seconds: float = 0.0, window: int = WINDOW) -> Stopping:
    return Stopping(floor=floor, window=window, relevant=0.5, seconds=seconds)


def a_page(score: float, relevance: float, duplicate_of: str = "") -> FetchEvent:
    visit = Visit("http://a.example/", 200, 0.0, score=score, relevance=relevance, md5="x", duplicate_of=duplicate_of)
    return FetchEvent(visit)


def fed(stopping: Stopping, pages: int, score: float, relevance: float) -> Stopping:
    for _ in range(pages):
        stopping.learn(a_page(score, relevance))
    return stopping


def test_a_crawl_that_finds_and_expects_nothing_is_saturated_for_good() -> None:
    stopping = fed(watching(), WINDOW, 0.2, 0.0)
    assert stopping.reason(0.0, lambda: 0.2) == SATURATED
    assert fed(stopping, WINDOW, 0.9, 1.0).reason(0.0, lambda: 0.9) == SATURATED, "a reason does not go away"


def test_it_continues_while_it_finds_something() -> None:
    assert fed(fed(watching(), 90, 0.2, 0.0), 10, 0.2, 0.9).reason(0.0, lambda: 0.2) == ""
    assert fed(fed(watching(), 91, 0.2, 0.0), 9, 0.2, 0.9).reason(0.0, lambda: 0.2) == "", (
        "pages with its score were worth it"
    )


def test_it_continues_while_the_best_that_waits_promises_something() -> None:
    found = fed(fed(watching(floor=0.2), 90, 0.1, 0.0), 10, 0.8, 0.9)
    assert found.harvest() == 0.1
    assert found.expected_worth(0.8) == 10 / NEAREST
    assert found.reason(0.0, lambda: 0.8) == ""
    lately = fed(fed(watching(floor=0.25), 60, 0.1, 0.0), 40, 0.8, 0.0)
    assert lately.reason(0.0, lambda: 0.8) == SATURATED


def test_it_is_not_judged_before_the_window_is_full_nor_when_nothing_waits() -> None:
    assert fed(watching(), WINDOW - 1, 0.2, 0.0).reason(0.0, lambda: 0.2) == ""
    assert fed(watching(), WINDOW, 0.2, 0.0).reason(0.0, lambda: None) == "", "a dead end has its own name"


def test_no_floor_no_saturation() -> None:
    assert fed(watching(floor=0.0), 10 * WINDOW, 0.0, 0.0).reason(0.0, lambda: 0.0) == ""


def test_copies_bring_nothing() -> None:
    stopping = watching(floor=0.5)
    for _ in range(WINDOW):
        stopping.learn(a_page(1.0, 1.0, "http://b.example/"))
    assert stopping.reason(0.0, lambda: 1.0) == SATURATED


def test_the_frontier_is_asked_now_and_then_only() -> None:
    asked: list[int] = []
    stopping = fed(watching(floor=0.01), WINDOW, 0.2, 0.9)
    for _ in range(10 * EVERY):
        stopping.learn(a_page(0.2, 0.9))
        stopping.reason(0.0, lambda: asked.append(1) or 0.2)  # type: ignore[func-returns-value]
    assert len(asked) <= 11


def test_the_time_of_a_run_begins_with_its_first_take() -> None:
    stopping = watching(floor=0.0, seconds=60.0)
    assert stopping.deadline() is None
    assert [stopping.reason(now, lambda: None) for now in (1000.0, 1059.9, 1060.0)] == ["", "", TIME_BUDGET]
    assert stopping.deadline() == 1060.0
