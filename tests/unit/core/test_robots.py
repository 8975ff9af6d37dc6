"""robots.txt: RFC 9309 by its sections."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from crawlproject.core import robots
from crawlproject.core.robots import (
    MAX_BYTES,
    MAX_SITEMAPS,
    MAX_WILDCARDS,
    KnownRobots,
    RobotsCache,
    RobotsRules,
    expiry,
)

NOW = 1_000_000.0
DAY = 86_400.0


def rules(body: str, status: int = 200, agent: str = "topical") -> RobotsRules:
    return RobotsRules(status, body.encode(), NOW + DAY, agent)


def test_the_longest_match_wins() -> None:
    """Section 2.2.2."""
    found = rules("User-agent: *\nDisallow: /private\nAllow: /private/open\n")
    assert not found.allows("http://h.example/private/x")
    assert found.allows("http://h.example/private/open/x")
    assert found.allows("http://h.example/")


def test_a_group_of_our_own_replaces_the_general_one() -> None:
    body = "User-agent: *\nDisallow: /\n\nUser-agent: topical-crawler\nDisallow: /no\n"
    ours = rules(body, agent="topical-crawler/0.1 (x)")
    assert ours.allows("http://h.example/yes")
    assert not ours.allows("http://h.example/no")
    assert not rules(body, agent="other").allows("http://h.example/yes")


@pytest.mark.parametrize(
    ("status", "allowed"),
    [(404, True), (403, True), (410, True), (301, True), (500, False), (503, False), (429, False), (0, False)],
)
def test_what_a_status_means(status: int, allowed: bool) -> None:
    """Sections 2.3.1.3 (unavailable: all allowed) and 2.3.1.4 (unreachable: nothing allowed)."""
    assert rules("User-agent: *\nDisallow: /x\n", status).allows("http://h.example/y") is allowed


def test_a_host_has_the_longest_delay_of_its_origins_while_it_is_remembered() -> None:
    known = KnownRobots(2)
    assert known.crawl_delay("http://a.example", 9.0) == known.crawl_delay("https://a.example", 0.0) == 9.0
    assert known.crawl_delay("http://b.example", 5.0) == known.crawl_delay("http://b.example:81", 3.0) == 5.0
    assert known.crawl_delay("http://b.example", 2.0) == 3.0
    assert known.crawl_delay("http://c.example", 1.0) == 1.0
    assert known.crawl_delay("https://a.example", 0.0) == 0.0, "two later hosts are remembered"


def test_crawl_delay_is_bounded() -> None:
    asked = rules("User-agent: *\nCrawl-delay: 7.5\n")
    assert asked.crawl_delay(300) == 7.5
    assert asked.crawl_delay(5) == 5
    assert rules("User-agent: *\nCrawl-delay: -3\n").crawl_delay(300) == 0
    assert rules("", 404).crawl_delay(300) == 0


def test_a_byte_order_mark_does_not_hide_the_first_group() -> None:
    assert not RobotsRules(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /", NOW, "topical").allows("http://h.example/a")


HOST = "http://h.example"


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
        ("*.gif$", "/a/b.gif"),
        ("/*/c", "/a/b/c/d"),
        ("/$", "/"),
    ],
)
def test_spellings_that_mean_the_same_match(path: str, url: str) -> None:
    """Sections 2.2.2 (table) and 2.2.3."""
    assert not rules(f"User-agent: *\nDisallow: {path}").allows(HOST + url)


@pytest.mark.parametrize(
    ("path", "url"),
    [("/a%2Fb", "/a/b"), ("/a/b", "/a%2Fb"), ("/A", "/a"), ("*.gif$", "/a.gif?x"), ("/$", "/x"), ("/f-%2A", "/f-x")],
)
def test_spellings_that_mean_another_do_not(path: str, url: str) -> None:
    assert rules(f"User-agent: *\nDisallow: {path}").allows(HOST + url)


@pytest.mark.parametrize(
    ("named", "agent", "ours"),
    [
        ("topical-crawler", "topical-crawler/0.1 (polite)", True),
        ("TOPICAL-Crawler", "Topical-crawler/0.1", True),
        ("topical-crawler/2.0", "topical-crawler/0.1", True),
        ("topical-crawler # ours", "topical-crawler", True),
        ("Reefbot", "Mozilla/5.0 (compatible; Reefbot/1.0; +http://r.example)", True),
        ("360Spider", "360Spider", True),
        ("topical", "topical-crawler/0.1", False),
        ("crawler", "topical-crawler/0.1 (a polite crawler)", False),
        ("t", "topical", False),
        ("Mozilla", "Mozilla/5.0 (compatible; Reefbot/1.0)", False),
        ("", "topical", False),
    ],
)
def test_a_group_is_ours_when_it_names_our_product_token(named: str, agent: str, ours: bool) -> None:
    """Section 2.2.1: the whole token, whatever its case."""
    found = rules(f"User-agent: {named}\nDisallow: /", agent=agent)
    assert found.allows(f"{HOST}/x") is not ours


@pytest.mark.parametrize(
    "body",
    [
        "User-agent: topical\nDisallow: /a\n\nUser-agent: x\nDisallow: /c\n\nUser-agent: topical\nDisallow: /b",
        "User-agent: x\nUser-agent: topical\nDisallow: /a\nSitemap: http://s.example\nDisallow: /b",
        "User-agent: topical\r\rUser-agent: x\rDisallow: /a\r\nDisallow: /b",
        "User-agent: topical\nSitemap: http://s.example\nCrawl-delay: 5\nUser-agent: x\nDisallow: /a\nDisallow: /b",
        "USER-AGENT : topical\n  disallow:/a  # why\nDissallow /b",
        "Disallow: /c\nUser-agent: *\nDisallow: /c\nUser-agent: topical\nwhat: ever\nDisallow: /a\n:::\nDisallow: /b",
    ],
)
def test_groups_are_merged_and_other_records_do_not_interfere(body: str) -> None:
    """Sections 2.2.1 and 2.2.4."""
    found = rules(body)
    assert [found.allows(HOST + path) for path in ("/a", "/b", "/c")] == [False, False, True]


def test_a_group_without_rules_allows_all() -> None:
    assert rules("User-agent: *\nDisallow: /\n\nUser-agent: topical\nDisallow:\n").allows(f"{HOST}/x")
    assert rules("User-agent: *\nDisallow: /\n\nUser-agent: topical\n").allows(f"{HOST}/x")


def test_lines_end_where_the_standard_says() -> None:
    found = rules("User-agent: *\nDisallow: /a\x0bDisallow: /b\u2028Disallow: /c\x85Disallow: /d")
    assert all(found.allows(HOST + path) for path in ("/b", "/c", "/d"))


def test_the_home_page_is_not_its_file() -> None:
    found = rules("User-agent: *\nAllow: /index.html\nDisallow: /\n")
    assert found.allows(f"{HOST}/index.html") and not found.allows(f"{HOST}/")


def test_what_is_beyond_500_kib_is_not_read_and_no_line_is_cut() -> None:
    """Section 2.5. A line cut to ``Disallow: /`` would forbid everything."""
    filler = "User-agent: *\nDisallow: /first\n" + "# x\n" * 127_000
    for shift in range(14):
        body = filler + "#" * (MAX_BYTES - len(filler) - 15 + shift) + "\nDisallow: /p\nDisallow: /last\n"
        found = rules(body)
        assert len(body) > MAX_BYTES
        assert [found.allows(HOST + path) for path in ("/first", "/x")] == [False, True]


def test_sitemaps_may_be_anywhere_and_count_once() -> None:
    body = "Sitemap: http://h.example/a.xml\nUser-agent: x\nSITEMAP:/b.xml.gz # new\nDisallow: /\nsitemap: /b.xml.gz\n"
    assert rules(body).sitemaps == ("http://h.example/a.xml", "/b.xml.gz")
    assert len(rules("".join(f"Sitemap: /{n}\n" for n in range(5_000))).sitemaps) == MAX_SITEMAPS
    assert rules(body, 404).sitemaps == ()


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
        cache = RobotsCache(size=10, max_age=DAY, agent="topical")
        cache.store("http://h.example", 200, {"cache-control": "max-age=6000"}, b"", NOW)
        assert cache.get("http://h.example", NOW + 5999) is not None
        assert cache.get("http://h.example", NOW + 6000) is None

    @pytest.mark.parametrize(("max_age", "believed"), [(DAY, 600), (60, 60)])
    def test_rules_that_may_not_be_cached_are_not_asked_for_again_before_each_page(
        self, max_age: float, believed: float
    ) -> None:
        cache = RobotsCache(size=10, max_age=max_age, agent="topical")
        cache.store("http://h.example", 200, {"cache-control": "no-store"}, b"", NOW)
        assert cache.get("http://h.example", NOW + believed - 1) is not None
        assert cache.get("http://h.example", NOW + believed) is None

    @pytest.mark.parametrize(("stated", "believed"), [(300, 300), (60, 60), (5, 60), (0, 600), (-50, 600)])
    def test_a_stated_lifetime_of_a_minute_or_more_is_kept(self, stated: float, believed: float) -> None:
        """Paper 000 section 2.2: entries of the cache must be fresh. Expires below ten minutes was taken for ten."""
        cache = RobotsCache(size=10, max_age=DAY, agent="topical")
        cache.store("http://h.example", 200, {"expires": http_date(NOW + stated)}, b"", NOW)
        assert cache.get("http://h.example", NOW + believed - 2) is not None
        assert cache.get("http://h.example", NOW + believed + 2) is None

    def test_an_unreachable_file_is_asked_for_again_soon(self) -> None:
        cache = RobotsCache(size=10, max_age=DAY, agent="topical")
        cache.store("http://h.example", 0, {}, b"", NOW)
        assert cache.get("http://h.example", NOW + 599) is not None
        assert cache.get("http://h.example", NOW + 600) is None

    def test_the_least_recently_used_origin_is_forgotten(self) -> None:
        cache = RobotsCache(size=2, max_age=DAY, agent="topical")
        for name in "ab":
            cache.store(name, 404, {}, b"", NOW)
        cache.get("a", NOW)
        cache.store("c", 404, {}, b"", NOW)
        assert len(cache) == 2
        assert cache.get("b", NOW) is None
        assert cache.get("a", NOW) is not None


WILD = "Disallow: /a*b*c$\n"


def test_wildcards_without_end_are_read_as_far_as_they_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: of 20,000 rules only as many are read as it takes to see that they are too many."""
    taken = []
    monkeypatch.setattr(robots, "_rule", lambda key, value: taken.append(value) or f"Disallow: {value}")
    found = rules("User-agent: *\n" + WILD * 20_000)
    assert found.reason == "wildcards" and not found.allows("http://h.example/")
    assert len(taken) <= MAX_WILDCARDS


@pytest.mark.parametrize("agent", ["topical", "*", "1", ""])
def test_rules_for_others_do_not_count_when_there_are_some_for_us(agent: str) -> None:
    body = "User-agent: *\n" + WILD * (MAX_WILDCARDS // 3 + 1)
    named = rules(f"{body}\nUser-agent: topical\nDisallow: /no\n", agent=agent)
    assert named.reason == ("forbidden" if agent == "topical" else "wildcards")
    assert named.allows("http://h.example/yes") == (agent == "topical")
    few = rules("User-agent: *\n" + WILD * (MAX_WILDCARDS // 3), agent=agent)
    assert few.reason == "forbidden" and few.allows("http://h.example/yes")


def test_short_and_empty_lines_say_nothing() -> None:
    body = "\n" * 100_000 + "a\r\r\n#\n" * 1_000 + "User-agent:*\rAllow:/x\r\nDisallow:/\n"
    found = rules(body)
    assert found.allows("http://h.example/x") and not found.allows("http://h.example/y")
