"""Limits on the cost of one response."""

from __future__ import annotations

import pytest

from crawlproject.core.responses import INTERIM, MAX_FRAMING, MAX_INTERIM, MAX_WORK, OVERHEAD, WORK, ResponseMeter


def meter(**counted: float) -> ResponseMeter:
    made = ResponseMeter(1000, 0.0)
    for name, value in counted.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("counted", "body", "reason"),
    [
        ({"received": 1000}, 0, ""),
        ({"received": 1001}, 0, OVERHEAD),
        ({"received": 2_001_000}, 2_000_000, ""),
        ({"received": 2_001_001}, 2_000_000, OVERHEAD),
        ({"received": 100_900, "head": 900}, 100_000, ""),
        ({"interim": MAX_INTERIM}, 0, ""),
        ({"interim": MAX_INTERIM + 1}, 0, INTERIM),
        ({"work": MAX_WORK}, 0, ""),
        ({"work": MAX_WORK + 0.1}, 0, WORK),
    ],
)
def test_a_limit_is_passed_or_not(counted: dict[str, float], body: int, reason: str) -> None:
    assert meter(**counted).excess(body) == reason


def test_behind_the_head_framing_is_less_than_half_of_the_body() -> None:
    made = ResponseMeter(2**18, 0.0)
    made.head = 500
    for body in (0, 1_000, 100_000):
        made.received = 500 + body + body // 2 + MAX_FRAMING
        assert made.excess(body) == ""
        made.received += 1
        assert made.excess(body) == OVERHEAD


def test_silence_is_not_slowness() -> None:
    assert meter().is_silent(0.1), "nothing came at all"
    assert not meter(received=100, latest=28.0).is_silent(30.0)
    assert meter(received=100, latest=20.0).is_silent(30.0)
    assert meter(received=29_000).is_slow(30.0) and not meter(received=31_000).is_slow(30.0)
