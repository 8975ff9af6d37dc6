"""Pages are read once per web and judged once per topic, in bounded memory."""

from __future__ import annotations

from collections import Counter

import pytest
from support.pages import ANALYZER
from support.webs import HTML, DictWeb, html, page

from crawlproject.configuration import read_options
from crawlproject.core.reading import make_reader
from crawlproject.pages.html.encoding import is_page
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Reply
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.page_cache import BYTES_PER_SECOND, ROUND_TRIP, JudgedPages, PageCache, latency, location

URLS = [f"http://a.example/{n}" for n in range(5)]


class CountingWeb(DictWeb):
    """Counts the requests for each URL."""

    def __init__(self, replies: dict[str, Reply]) -> None:
        super().__init__(replies)
        self.asked: Counter[str] = Counter()

    def get(self, url: str) -> Reply:
        self.asked[url] += 1
        return super().get(url)


@pytest.fixture
def web() -> CountingWeb:
    return CountingWeb(dict(page(url, "http://b.example/", text="coral reef") for url in URLS))


def a_cache(web: CountingWeb, size: int = 100, **settings: object) -> PageCache:
    options = read_options(settings)
    return PageCache(web, make_reader(options, ANALYZER, make_canonicalizer(options)), options, size=size)


def test_a_page_is_read_once_and_keeps_its_terms_only(web: CountingWeb) -> None:
    cache = a_cache(web)
    (reply, read), again = cache.get(URLS[0]), cache.get(URLS[0])
    assert again == (reply, read) and web.asked[URLS[0]] == 1
    assert reply.body == b"" and read is not None and read.text == ""
    assert {"coral", "reef"} <= set(read.terms) and [link.url for link in read.links] == ["http://b.example/"]


def test_no_more_pages_are_held_than_fit(web: CountingWeb) -> None:
    cache = a_cache(web, size=2)
    for url in (URLS[0], URLS[1], URLS[0], URLS[2], URLS[0], URLS[1]):
        cache.get(url)
    assert web.asked == {URLS[0]: 1, URLS[1]: 2, URLS[2]: 1}, "the least recently used page goes first"


def test_judged_pages_are_bounded_too(web: CountingWeb) -> None:
    judged = JudgedPages(a_cache(web, size=1), TopicJudge(("coral reef",), ANALYZER), size=2)
    for url in URLS:
        judged.get(url)
    judged.get(URLS[4])
    judged.get(URLS[3])
    assert sum(web.asked.values()) == 5
    judged.get(URLS[0])
    assert web.asked[URLS[0]] == 2


def test_judged_pages_have_a_text_for_who_reads_it(web: CountingWeb) -> None:
    cache, judge = a_cache(web), TopicJudge(("coral reef",), ANALYZER)
    (_, bare), (_, whole) = (
        JudgedPages(cache, judge).get(URLS[0]),
        JudgedPages(cache, judge, with_text=True).get(URLS[0]),
    )
    assert bare is not None and bare.text == ""
    assert whole is not None and "coral reef" in whole.text and whole.relevance == bare.relevance > 0


def test_topics_judge_the_same_page_each_for_itself(web: CountingWeb) -> None:
    cache = a_cache(web)
    found = {}
    for keywords in ("coral reef", "steam engine"):
        _, read = JudgedPages(cache, TopicJudge((keywords,), ANALYZER)).get(URLS[0])
        assert read is not None
        found[keywords] = read.relevance, read.links[0].context_score
    assert found["coral reef"][0] > 0.5 and found["coral reef"][1] > 0.5
    assert found["steam engine"] == (0.0, 0.0)
    assert web.asked[URLS[0]] == 1
    read = cache.get(URLS[0])[1]
    assert read is not None and read.relevance == 0.0, "what is shared knows no topic"


def test_what_is_no_page_comes_without_one(web: CountingWeb) -> None:
    web.replies |= {
        "http://a.example/film": Reply("", 200, {"content-type": "video/mp4"}, b"x"),
        "http://a.example/old": Reply("", 301, {"location": "/0", **HTML}, html(text="moved")),
        "http://a.example/down": Reply("", 0, error="timeout", seconds=3.0),
    }
    cache = a_cache(web)
    for url, status in (("film", 200), ("old", 301), ("down", 0), ("gone", 404)):
        reply, read = cache.get(f"http://a.example/{url}")
        assert (reply.status, read) == (status, None)


def test_a_body_is_cut_where_a_crawl_would_cut_it(web: CountingWeb) -> None:
    web.replies[URLS[0]] = Reply("", 200, HTML, b"<p>coral" + b" " * 100 + b"reef")
    read = a_cache(web, PAGE_MAX_BYTES=50).get(URLS[0])[1]
    assert read is not None and list(read.terms) == ["coral"]


def test_a_fetch_takes_what_the_web_says_or_what_the_line_carries() -> None:
    assert latency(Reply("", 200, seconds=2.5, body=b"x" * 1_000_000)) == 2.5
    assert latency(Reply("", 200, body=b"x" * 500_000)) == ROUND_TRIP + 500_000 / BYTES_PER_SECOND
    assert latency(Reply("", 404)) == ROUND_TRIP


@pytest.mark.parametrize(
    ("status", "content_type", "expected"),
    [
        (200, "text/html", True),
        (203, "Text/HTML; charset=x", True),
        (200, "", True),
        (200, "image/png", False),
        (404, "text/html", False),
        (301, "text/html", False),
        (0, "", False),
    ],
)
def test_a_page_is_a_good_status_and_a_wanted_type(status: int, content_type: str, expected: bool) -> None:
    headers = {"content-type": content_type} if content_type else {}
    assert is_page(Reply("", status, headers), ["text/html"]) is expected


def test_only_a_redirect_points_elsewhere() -> None:
    assert location(Reply("", 302, {"location": "/x"})) == "/x"
    assert location(Reply("", 200, {"location": "/x"})) == location(Reply("", 304)) == ""
