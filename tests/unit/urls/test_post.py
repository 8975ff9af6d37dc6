"""A POST has one URL, which is restored exactly, and which no input from the web can spell."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import a_context

from crawlproject.configuration import read_options
from crawlproject.core.admission import Admission, EntryRules
from crawlproject.core.part import Part
from crawlproject.core.parts import Parts
from crawlproject.core.peers import ALONE
from crawlproject.core.robots import RobotsRules
from crawlproject.core.stopping import Scarcity
from crawlproject.errors import InvalidUrl
from crawlproject.frontier.factory import make_frontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import CrawlUrl, Topic
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.urls.canonical import Canonicalizer
from crawlproject.urls.hosts import domain_of, host_of, origin_of, page_name
from crawlproject.urls.post import as_get, canonical_request, is_form_body, is_post, post_of, post_url
from crawlproject.urls.traps import TrapFilter

CANONICALIZE = Canonicalizer()
PLACES = st.sampled_from(["http://a.example/", "https://b.example:8443/find", "http://a.example/i.php?do=find&x=/"])
BODIES = st.lists(st.tuples(st.text(), st.text()), max_size=5).map(urlencode)
POSTS = st.builds(post_url, PLACES, BODIES)


@given(PLACES, BODIES)
def test_a_post_comes_back_as_it_was(place: str, body: str) -> None:
    url = post_url(place, body)
    assert post_of(url) == (place, body) and is_post(url) and not is_post(place)
    assert canonical_request(CANONICALIZE, url) == url
    assert (host_of(url), origin_of(url), domain_of(url)) == (host_of(place), origin_of(place), domain_of(place))
    assert page_name(url) != page_name(place)


@given(POSTS, POSTS)
def test_another_request_has_another_url(one: str, other: str) -> None:
    assert (one == other) == (post_of(one) == post_of(other))
    assert as_get(one) != one and not is_post(as_get(one))


@given(POSTS)
def test_as_a_get_it_asks_for_the_same(url: str) -> None:
    post = post_of(url)
    assert post is not None
    asked = parse_qsl(urlsplit(as_get(url)).query, keep_blank_values=True)
    assert asked == [
        pair for text in (urlsplit(post.url).query, post.body) for pair in parse_qsl(text, keep_blank_values=True)
    ]


@given(st.text() | POSTS | st.builds("{}#POST?{}".format, st.text(), st.text()), POSTS)
def test_no_link_is_a_post(href: str, page: str) -> None:
    for base in (None, page):
        try:
            assert not is_post(CANONICALIZE(href, base))
        except InvalidUrl:
            continue


@given(st.text())
def test_any_text_is_a_post_or_none(text: str) -> None:
    post = post_of(text)
    assert post is None or post_url(*post) == text
    assert is_post(text) == (post is not None)


@pytest.mark.parametrize("body", ["q=a b", "q=ä", "q=a#b", "q=a/b", "q=<b>", "q=a\r\nX: y"])
def test_a_body_that_no_form_sends_has_no_url(body: str) -> None:
    assert not is_form_body(body) and post_of(f"http://a.example/#POST?{body}") is None
    with pytest.raises(ValueError, match="fragment"):
        post_url("http://a.example/", body)
    with pytest.raises(ValueError, match="fragment"):
        post_url("http://a.example/#x", "q=a")


def test_robots_txt_is_asked_about_where_a_post_is_sent() -> None:
    rules = RobotsRules(200, b"User-agent: *\nDisallow: /find$\nDisallow: /*?q=reef\n", 0.0, "crawler")
    assert not rules.allows("http://a.example/find#POST?q=coral")
    assert rules.allows("http://a.example/search#POST?q=reef")


class Shorter(Part):
    """A part that has learned that queries make no difference."""

    def respelled(self, url: str) -> str:
        return url.partition("#")[0].partition("?")[0]


def test_rules_learned_from_other_urls_do_not_apply(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path, Topic("reefs", ("reef",), ("http://a.example/",)), "dom", {})
    frontier, parts = make_frontier(read_options({}), 1, margin=0.0), Parts([Shorter()])
    admission = Admission(
        rules=EntryRules((), TrapFilter(), parts.refusals),
        canonicalize=CANONICALIZE,
        frontier=frontier,
        ordering=BaseOrdering(a_context()),
        refusals=folder.refusals,
        history=folder.history,
        parts=parts,
        peers=ALONE,
        scarcity=Scarcity("time"),
    )
    url = post_url("http://a.example/find", "q=reef")
    for asked in (url, as_get(url)):
        assert admission.offer(CrawlUrl(asked, 1.0, 1))
    assert {waits.url for waits in frontier.waiting()} == {url, "http://a.example/find"}
    assert admission.is_replaced(as_get(url)) and not admission.is_replaced(url)
    folder.close("end", 1.0, {})
