"""robots.txt: RFC 9309 by its sections."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from crawlproject.robots import RobotsCache, RobotsRules, expiry

NOW = 1_000_000.0
DAY = 86_400.0


def rules(body: str, status: int = 200) -> RobotsRules:
    return RobotsRules(status, body.encode(), NOW + DAY)


def test_the_longest_match_wins() -> None:
    """Section 2.2.2."""
    found = rules("User-agent: *\nDisallow: /private\nAllow: /private/open\n")
    assert not found.allows("http://h.example/private/x", "topical")
    assert found.allows("http://h.example/private/open/x", "topical")
    assert found.allows("http://h.example/", "topical")


def test_a_group_of_our_own_replaces_the_general_one() -> None:
    found = rules("User-agent: *\nDisallow: /\n\nUser-agent: topical-crawler\nDisallow: /no\n")
    assert found.allows("http://h.example/yes", "topical-crawler/0.1 (x)")
    assert not found.allows("http://h.example/no", "topical-crawler/0.1 (x)")
    assert not found.allows("http://h.example/yes", "other")


@pytest.mark.parametrize(
    ("status", "allowed"), [(404, True), (403, True), (410, True), (500, False), (503, False), (0, False)]
)
def test_what_a_status_means(status: int, allowed: bool) -> None:
    """Sections 2.3.1.3 (unavailable: all allowed) and 2.3.1.4 (unreachable: nothing allowed)."""
    assert rules("User-agent: *\nDisallow: /x\n", status).allows("http://h.example/y", "topical") is allowed


def test_crawl_delay_is_bounded() -> None:
    asked = rules("User-agent: *\nCrawl-delay: 7.5\n")
    assert asked.crawl_delay("topical", 300) == 7.5
    assert asked.crawl_delay("topical", 5) == 5
    assert rules("User-agent: *\nCrawl-delay: -3\n").crawl_delay("topical", 300) == 0
    assert rules("", 404).crawl_delay("topical", 300) == 0


@pytest.mark.parametrize(
    "body",
    [b"\xff\xfe\x00", b"\x00" * 10, b"User-agent", b"Disallow: /" * 100_000, b"\xef\xbb\xbfUser-agent: *\nDisallow: /"],
)
def test_malformed_files_never_raise(body: bytes) -> None:
    RobotsRules(200, body, NOW).allows("http://h.example/a?b#c", "topical")


def test_a_byte_order_mark_does_not_hide_the_first_group() -> None:
    assert not RobotsRules(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /", NOW).allows("http://h.example/a", "topical")


def http_date(at: float) -> str:
    return format_datetime(datetime.fromtimestamp(at, UTC), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, NOW + DAY),
        ({"cache-control": "max-age=60"}, NOW + 60),
        ({"cache-control": "public, Max-Age=60", "expires": http_date(NOW + 10)}, NOW + 60),
        ({"cache-control": "max-age=999999999"}, NOW + DAY),
        ({"cache-control": "no-store"}, NOW),
        ({"cache-control": "max-age=soon"}, NOW + DAY),
        ({"expires": http_date(NOW + 3600)}, NOW + 3600),
        ({"expires": http_date(NOW + 10 * DAY)}, NOW + DAY),
        ({"expires": http_date(NOW - 50)}, NOW),
        ({"expires": "0"}, NOW),
    ],
)
def test_expiry_is_what_http_says_and_a_day_at_most(headers: dict[str, str], expected: float) -> None:
    """Section 2.4 and RFC 9111."""
    assert expiry(headers, NOW, DAY) == pytest.approx(expected, abs=1)


class TestCache:
    def test_rules_are_believed_until_they_expire(self) -> None:
        cache = RobotsCache(size=10, max_age=DAY)
        cache.store("http://h.example", 200, {"cache-control": "max-age=60"}, b"", NOW)
        assert cache.get("http://h.example", NOW + 59) is not None
        assert cache.get("http://h.example", NOW + 60) is None

    def test_an_unreachable_file_is_asked_for_again_soon(self) -> None:
        cache = RobotsCache(size=10, max_age=DAY)
        cache.store("http://h.example", 0, {}, b"", NOW)
        assert cache.get("http://h.example", NOW + 599) is not None
        assert cache.get("http://h.example", NOW + 600) is None

    def test_the_least_recently_used_origin_is_forgotten(self) -> None:
        cache = RobotsCache(size=2, max_age=DAY)
        for name in "ab":
            cache.store(name, 404, {}, b"", NOW)
        cache.get("a", NOW)
        cache.store("c", 404, {}, b"", NOW)
        assert len(cache) == 2
        assert cache.get("b", NOW) is None
        assert cache.get("a", NOW) is not None
