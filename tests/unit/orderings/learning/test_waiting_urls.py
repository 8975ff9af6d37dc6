"""Data about waiting URLs, and random draws among them."""

from __future__ import annotations

from support.pages import a_context

from crawlproject.orderings.learning import SeededDraw, WaitingUrls


def test_what_has_ended_never_waits_again_and_the_oldest_is_forgotten() -> None:
    waiting: WaitingUrls[int] = WaitingUrls(limit=2)
    assert waiting.put("a", 1) is None
    assert waiting.put("b", 2) is None
    assert waiting.put("a", 3) is None  # known: nothing is forgotten for it
    assert waiting.put("c", 4) == ("a", 3)
    assert waiting.end("b") == 2
    assert waiting.end("nobody") is None
    assert (waiting.get("b"), waiting.has_ended("b"), waiting.has_ended("a"), len(waiting)) == (None, True, False, 1)


def test_what_is_known_moves_to_the_target_of_a_redirect_unless_more_is_known_there() -> None:
    waiting: WaitingUrls[int] = WaitingUrls()
    for number, url in enumerate("abc"):
        waiting.put(url, number)
    waiting.move("a", "b")
    waiting.move("nobody", "d")
    waiting.move("c", "e")
    assert dict(waiting.items()) == {"b": 1, "e": 2}
    waiting.move("b", "a")
    assert dict(waiting.items()) == {"e": 2}, "a has ended"


def test_a_draw_depends_on_url_and_seed_alone() -> None:
    one, same, other = (SeededDraw(a_context(seed=seed).random) for seed in (1, 1, 2))
    assert one("http://a.example/") == same("http://a.example/") != other("http://a.example/")
    assert 0 <= one("http://a.example/\ud800") < 1
