"""How open a site is: people's sites close, endless ones do not, and memory is bounded."""

from __future__ import annotations

from crawlproject.parts.sites.new_link_ratio import NewLinkRatio


def new_link_ratio(pages: int, links_of, host: str = "x.example") -> float:
    sites, found = NewLinkRatio(), 0.0
    for number in range(pages):
        found = sites.learn(f"http://{host}/{number}", links_of(number))
    return found


def test_a_site_of_people_closes():
    """200 pages, each with a menu of ten and links to five others."""

    def site(n):
        return [f"http://x.example/{k}" for k in [*range(10), *(n * 37 % 200 + k for k in range(5))]]

    assert new_link_ratio(15, site) < 0.4


def test_an_endless_site_stays_open():
    def endless(n):
        return ["http://x.example/", *(f"http://x.example/{n}/{k}" for k in range(9))]

    assert new_link_ratio(5, endless) > 0.7
    assert new_link_ratio(50, endless) > 0.85


def test_the_first_page_says_little():
    assert new_link_ratio(1, lambda n: [f"http://x.example/{k}" for k in range(50)]) < 0.5


def test_pages_that_were_fetched_are_known():
    assert new_link_ratio(40, lambda n: [f"http://x.example/{max(0, n - 1)}"]) < 0.1


def test_names_below_a_domain_are_inside_and_other_sites_are_not():
    assert new_link_ratio(20, lambda n: [f"http://door{n}.x.example/", f"http://door{n}b.x.example/"]) > 0.85
    assert new_link_ratio(20, lambda n: [f"http://other.example/{n}"]) < 0.5


def test_a_link_counts_once_a_page():
    assert new_link_ratio(20, lambda n: ["http://x.example/a", *[f"http://x.example/new{n}"] * 9]) < 0.6
