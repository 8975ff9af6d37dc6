"""The openness of a site: sites of people close, endless sites do not, and URLs that are never fetched do not count."""

from __future__ import annotations

import pytest

from crawlproject.parts.sites.site import NewLinkRatio, is_action


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


def browsed(links_of, counts=lambda link: True) -> float:
    """After twenty pages of an open site, the ratio after twenty more with these links."""
    sites, found = NewLinkRatio(), 0.0
    for number in range(20):
        sites.learn(f"http://x.example/{number}", [f"http://x.example/open/{number}/{k}" for k in range(9)])
    for number in range(60):
        found = sites.learn(f"http://x.example/page/{number}", links_of(number), counts)
    return found


OLD = ["http://x.example/open/1/1"]


@pytest.mark.parametrize(
    "action",
    [
        "w/Page{}?action=edit",
        "w/index.php?title=Page{}&oldid=1",
        "page/{}/edit",
        "talk/{}/login?next=1",
        "Special:Links/{}",
    ],
)
def test_links_that_only_do_something_with_their_page_do_not_count(action: str):
    assert is_action(f"http://x.example/{action}".format(1))
    assert browsed(lambda n: [*OLD, *[f"http://x.example/{action}".format(f"{n}-{k}") for k in range(6)]]) < 0.5


@pytest.mark.parametrize("plain", ["w/Page{}", "edits/{}", "login-history/{}", "a?transaction={}", "shares/{}.html"])
def test_other_links_count_whatever_words_they_have(plain: str):
    assert not is_action(f"http://x.example/{plain}".format(1))
    assert browsed(lambda n: [*OLD, *[f"http://x.example/{plain}".format(f"{n}-{k}") for k in range(6)]]) > 0.8


def test_links_that_are_forbidden_do_not_count():
    def links(n):
        return [*OLD, *[f"http://x.example/private/{n}/{k}" for k in range(6)]]

    assert browsed(links) > 0.8
    assert browsed(links, lambda link: "/private/" not in link) < 0.5


def test_a_site_that_closes_is_not_asked_about_its_links():
    sites, asked = NewLinkRatio(), list[str]()
    for number in range(30):
        sites.learn(f"http://x.example/{number}", OLD, lambda link: not asked.append(link))
    assert not asked, "that would cost more than to learn"
