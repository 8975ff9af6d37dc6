"""Learning orderings keep their data about a URL as long as it waits, and no longer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import a_context, a_link, a_page

from crawlproject.orderings.registry import make_ordering

urls = st.integers(0, 12).map("http://h{}.example/".format)
places = st.sampled_from(["html body a", "html body ul li a", "html body main p a"])
links = st.builds(lambda url, place: replace(a_link(url), tag_path=place), urls, places)
pages = st.builds(
    lambda url, found, worth: a_page(url, links=found, relevance=worth), urls, st.lists(links), st.floats(0, 1)
)
steps = st.one_of(
    st.tuples(st.just("page"), pages),
    st.tuples(st.just("failed"), urls),
    st.tuples(st.just("redirected"), st.tuples(urls, urls)),
)


@pytest.mark.parametrize("name", ["infospiders", "intelligent", "tag_path_bandit", "tres", "qmin"])
@given(story=st.lists(steps, max_size=30))
def test_only_urls_that_wait_get_new_scores(name: str, story: list) -> None:
    """As in a crawl, URLs wait that were linked to, or are redirect targets of such URLs, and have not ended."""
    ordering = make_ordering(name, a_context(), {})
    offered: set[str] = set()
    ended: set[str] = set()
    for kind, what in story:
        if kind == "page":
            ordering.observe(what)
            ended.add(what.url)
            for link in what.links:
                ordering.score(what, link)
                offered.add(link.url)
        elif kind == "failed":
            ordering.failed(what)
            ended.add(what)
        else:
            ordering.redirected(*what)
            offered.add(what[1])
            ended.add(what[0])
        revised = dict(ordering.revise())
        assert set(revised) <= offered - ended
