"""The location metric, with the paper's examples."""

from __future__ import annotations

import pytest
from support.pages import a_context, a_link, a_page

from crawlproject.orderings.baselines import Location
from crawlproject.records import CrawlUrl


@pytest.mark.parametrize(
    ("url", "score"),
    [
        ("http://a.example/", 1),
        ("http://www.a.com/", 1 + 1),
        ("http://a.example/home.html", 1 + 1),
        ("http://a.com/~ann/Home/index.html", 1 + 1 + 1 / 3),
        ("http://a.example/x/y", 1 / 2),
        ("http://a.example/x?to=/y/z", 1),
        ("http://a.example/x.com/", 1 + 1 / 2),
    ],
)
def test_location(url: str, score: float) -> None:
    """Paper 002 section 2: ".com" is more useful, so is "home", and fewer slashes are."""
    ordering = Location(a_context())
    assert ordering.score(a_page(), a_link(url)) == pytest.approx(score)
    assert sum(ordering.explain(CrawlUrl(url, score, 1, "http://a.example/")).values()) == pytest.approx(score)


def test_several_suffixes_or_none() -> None:
    ordering = Location(a_context(), suffixes=".edu, .ORG", substrings="")
    urls = ["http://a.edu/", "http://a.org/home/", "http://a.com/"]
    assert [ordering.score(a_page(), a_link(url)) for url in urls] == [2, 1.5, 1]
    assert ordering.explain(CrawlUrl("http://a.edu/x/", 1.5, 1, "http://a.edu/")) == {"suffix": 1, "few slashes": 0.5}
    assert ordering.explain(CrawlUrl("http://a.edu/", 3)) == {}
