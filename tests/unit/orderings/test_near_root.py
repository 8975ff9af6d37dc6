"""Near the root of each site (paper 004 section 4.1), on a host of four pages."""

from __future__ import annotations

from support.pages import a_context, a_link, a_page

from crawlproject.orderings.baselines import NearRoot
from crawlproject.records import CrawlUrl

A = "http://a.example/"


def test_distances_from_the_root_of_each_host() -> None:
    """/ is at 0, its link targets at 1 however deep their paths, the targets of those at 2; elsewhere segments count."""
    ordering = NearRoot(a_context())

    def scores(url: str, *links: str) -> list[float]:
        page = a_page(url, links=[a_link(link) for link in links])
        ordering.observe(page)
        return [ordering.score(page, link) for link in page.links]

    assert scores(A, f"{A}x/y/z", "http://b.example/", "http://b.example/p/q") == [-1, 0, -2]
    assert scores(f"{A}x/y/z", f"{A}next", f"{A}?day=1", A) == [-2, -2, 0]
    assert scores("http://c.example/", f"{A}next") == [-1], "one segment, which is nearer than two links"
    assert scores(f"{A}next", f"{A}more") == [-2]
    assert ordering.explain(CrawlUrl(f"{A}more", -2.0, 1, A)) == {"distance": -2}


def test_an_endless_site_falls_back_page_by_page() -> None:
    ordering = NearRoot(a_context())
    found = []
    for day in range(4):
        page = a_page(f"{A}{day}" if day else A, links=[a_link(f"{A}{day + 1}")])
        ordering.observe(page)
        found.append(ordering.score(page, page.links[0]))
    assert found == [-1, -2, -3, -4], "each has one segment"
