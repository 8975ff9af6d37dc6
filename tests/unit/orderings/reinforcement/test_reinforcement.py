"""Reinforcement learning of links, on hand-made crawls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.pages import DictArchive, a_context, a_link, a_page_of

from crawlproject.errors import BadSetting
from crawlproject.orderings.reinforcement import Reinforcement, known_paths
from crawlproject.records import Link, Page

HOME = "http://home.example/"


def page(url: str, *links: tuple[str, str], relevance: float = 0.0, parent: str | None = None) -> Page:
    """A page whose links have these anchors."""
    return replace(a_page_of(*links, relevance=relevance), url=url, parent=parent)


def crawl(number: int) -> Iterator[Page]:
    """A home page with ``number`` links called "lagoon" that lead to relevant pages, and as many called "harbour"."""
    yield page(HOME, *[(f"http://{word}.example/{n}", word) for n in range(number) for word in ("lagoon", "harbour")])
    for n in range(number):
        yield page(f"http://lagoon.example/{n}", relevance=0.9, parent=HOME)
        yield page(f"http://harbour.example/{n}", parent=HOME)


def observed(ordering: Reinforcement, pages: Iterator[Page]) -> dict[str, float]:
    """Process the pages as a crawl does; return the revised scores."""
    revised: dict[str, float] = {}
    for each in pages:
        ordering.observe(each)
        for link in each.links:
            ordering.score(each, link)
        revised |= dict(ordering.revise())
    return revised


def link_called(word: str) -> tuple[Page, Link]:
    found = page("http://other.example/", (f"http://{word}.example/new", word), relevance=0.2)
    return found, found.links[0]


def test_before_it_has_learned_page_and_context_count_alike() -> None:
    context = a_link(context_score=0.4)
    assert Reinforcement(a_context()).score(page(HOME, relevance=0.2), context) == pytest.approx(0.3)


def test_words_of_links_that_paid_promise_reward() -> None:
    """4 links of each kind, each link a bag of its one word 3 times: anchor, context, and the window around.

    So there are 12 words in the bin of reward 1, and one more is added for each of three terms (the two words, and 0 for
    others): ``P(lagoon | 1) = 13/15``, ``P(lagoon | 0) = 1/15``. Priors are equal.
    """
    ordering = Reinforcement(a_context(), train_every=9, window=0, bins=2)
    observed(ordering, crawl(4))
    good, bad = ordering.score(*link_called("lagoon")), ordering.score(*link_called("harbour"))
    assert good == pytest.approx(0.5 * 13**3 / (13**3 + 1))
    assert bad == pytest.approx(0.5 * 1 / (13**3 + 1))


def test_waiting_links_are_scored_anew_after_training() -> None:
    ordering = Reinforcement(a_context(), train_every=10, window=0)
    pages = list(crawl(4))
    late = [("http://lagoon.example/late", "lagoon"), ("http://harbour.example/late", "harbour")]
    waiting = page("http://late.example/", *late, relevance=0.2)
    revised = observed(ordering, iter([*pages[:4], waiting, *pages[4:]]))
    assert revised["http://lagoon.example/late"] > 0.4 > 0.1 > revised["http://harbour.example/late"]
    assert len(revised) == 2  # the others are fetched


def test_delayed_reward_reaches_the_first_link() -> None:
    """home -"tunnel"-> dull page -"descent"-> relevant page: the tunnel is worth 0.5 of the reward, a dead end nothing."""

    def tunnels() -> Iterator[Page]:
        yield page(HOME, *[(f"http://{word}.example/{n}", word) for n in range(4) for word in ("tunnel", "wall")])
        for n in range(4):
            tunnel = f"http://tunnel.example/{n}"
            yield page(tunnel, (f"http://gold.example/{n}", "descent"), parent=HOME)
            yield page(f"http://wall.example/{n}", parent=HOME)
            yield page(f"http://gold.example/{n}", relevance=1.0, parent=tunnel)

    ordering = Reinforcement(a_context(), train_every=13, window=0, bins=3)
    observed(ordering, tunnels())
    descent, tunnel, wall = (ordering.score(*link_called(word)) for word in ("descent", "tunnel", "wall"))
    assert (descent, tunnel, wall) == pytest.approx((0.5, 0.25, 0.0), abs=0.01)


def test_evidence_follows_a_redirect() -> None:
    ordering = Reinforcement(a_context(), train_every=9, window=0)
    pages = list(crawl(4))
    for each in pages[:1]:
        observed(ordering, iter([each]))
    ordering.redirected("http://lagoon.example/0", "http://lagoon.example/home")
    revised = observed(ordering, iter(pages[3:] + [page(f"http://more.example/{n}") for n in range(2)]))
    assert revised["http://lagoon.example/home"] > 0.4
    assert "http://lagoon.example/0" not in revised


def test_values_of_known_paths() -> None:
    """seed -> a -> b with a reward at b, and a redirect that is not followed by name."""
    a, b = "http://a.example/", "http://b.example/"
    archive = DictArchive(
        page(HOME, (a, "first"), ("http://nowhere.example/", "gone")),
        page(a, (b, "second")),
        page(b, (HOME, "home"), relevance=0.5),
    )
    found = {link.anchor: value for _, link, value in known_paths(archive, [HOME], 0.1, 0.0)}
    assert found == {"first": 0.0, "second": 1.0, "home": 0.0}
    paths = {link.anchor: value for _, link, value in known_paths(archive, [HOME], 0.1, 0.5)}
    # b pays every third step, for six steps ahead: 1 + 1/8 + 1/64 at b itself
    assert paths == {"second": 1 + 1 / 8 + 1 / 64, "first": 1 / 2 + 1 / 16, "home": 1 / 4 + 1 / 32}


def test_an_archive_teaches_before_the_crawl() -> None:
    context = a_context(seeds=[HOME], archive=DictArchive(*crawl(4)))
    ordering = Reinforcement(context, window=0)
    assert ordering.score(*link_called("lagoon")) > 0.4 > 0.1 > ordering.score(*link_called("harbour"))


def test_wrong_parameters_are_reported() -> None:
    with pytest.raises(BadSetting, match="ORDERING_DISCOUNT"):
        Reinforcement(a_context(), discount=1.0)
    with pytest.raises(BadSetting, match="ORDERING_BINS"):
        Reinforcement(a_context(), bins=1)
