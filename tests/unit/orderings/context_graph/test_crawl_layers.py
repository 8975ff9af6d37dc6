"""A context graph that grows with the crawl (paper 004, footnote 4)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import a_context, a_link, a_text_page

from crawlproject.orderings.context_graph import ContextGraph, CrawlLayers

FARTHEST = 3
numbers = st.integers(0, 11)
pages = st.lists(st.tuples(numbers, st.lists(numbers, max_size=4), st.booleans()), max_size=30)


def url(number: int) -> str:
    return f"http://{number}.example/"


def distances_by_definition(fetched: dict[int, tuple[list[int], bool]]) -> list[set[int]]:
    """Layer by layer, from all pages that were fetched."""
    layers = [{number for number, (_, on_topic) in fetched.items() if on_topic}]
    known = set(layers[0])
    for _ in range(FARTHEST):
        layers.append({n for n, (links, _) in fetched.items() if n not in known and layers[-1] & {*links} - {n}})
        known |= layers[-1]
    return layers


@given(pages)
def test_distances_are_shortest_paths_in_whatever_order_pages_come(visits: list[tuple[int, list[int], bool]]) -> None:
    layers, fetched = CrawlLayers(FARTHEST, 100), {}
    for number, links, on_topic in visits:
        layers.add(a_text_page(url(number), f"word{number}", *map(url, links)), on_topic=on_topic)
        fetched.setdefault(number, (links, on_topic))
    found = [{int(next(iter(counts)).removeprefix("word")) for counts in layer} for layer in layers.layers(100)]
    expected = distances_by_definition(fetched)
    assert found == expected[: len(found)]
    assert not any(expected[len(found) : len(found) + 1]), "they end before the first layer without a page"


@given(pages, st.integers(1, 5))
def test_only_the_latest_pages_are_kept(visits: list[tuple[int, list[int], bool]], most: int) -> None:
    layers = CrawlLayers(FARTHEST, most)
    for number, links, on_topic in visits:
        layers.add(a_text_page(url(number), f"word{number}", *map(url, links)), on_topic=on_topic)
    assert sum(map(len, layers.layers(100))) <= most
    assert len(layers._sources) <= 4 * most and len(layers._distances) <= most


def test_a_redirect_leads_to_its_target() -> None:
    layers = CrawlLayers(FARTHEST, 9)
    layers.add(a_text_page(url(1), "diver", "http://old.example/"), on_topic=False)
    layers.add(a_text_page(url(2), "reef"), on_topic=True)
    assert len(layers.layers(9)) == 1
    layers.redirected("http://old.example/", url(2))
    assert [[*counts] for layer in layers.layers(9) for counts in layer] == [["reef"], ["diver"]]


def test_a_redirect_leads_to_its_target_also_from_pages_that_come_later() -> None:
    layers = CrawlLayers(FARTHEST, 9)
    old, older = "http://old.example/", "http://older.example/"
    layers.redirected(older, old)
    layers.redirected(old, url(2))
    layers.redirected(url(2), older)
    layers.add(a_text_page(url(2), "reef"), on_topic=True)
    layers.add(a_text_page(url(1), "diver", older), on_topic=False)
    assert [[*counts] for layer in layers.layers(9) for counts in layer] == [["reef"], ["diver"]]


def test_the_ordering_learns_what_leads_to_the_topic_without_an_archive() -> None:
    """Indexes lead to guides, guides to reefs; pages of trains lead nowhere."""
    ordering = ContextGraph(a_context(), train_every=30, confidence=0.4)
    for number in range(15):
        index, guide, reef = (f"http://{name}{number}.example/" for name in ("index", "guide", "reef"))
        ordering.observe(a_text_page(index, "index water list of guides", guide))
        ordering.observe(a_text_page(guide, "guide water to divers", reef))
        if number == 0:
            assert ordering.score(a_text_page("http://x.example/", "guide"), a_link()) == 0.0, "nothing is learned yet"
        ordering.observe(a_text_page(reef, "reef water coral guide list divers", relevance=0.8))
        ordering.observe(a_text_page(f"http://train{number}.example/", "steam engine"))
    texts = ("reef water coral", "guide water to divers", "index water list of guides", "steam engine")
    scores = [ordering.score(a_text_page(f"http://n{n}.example/", text), a_link()) for n, text in enumerate(texts)]
    assert all(nearer > farther for nearer, farther in pairwise(scores))


def test_without_training_nothing_of_the_crawl_is_kept() -> None:
    assert not ContextGraph.learns
    assert ContextGraph(a_context(), train_every=5).learns


@pytest.mark.parametrize("threshold", [0.0, 0.05])
@pytest.mark.parametrize("relevance", [0.0, 0.04, 0.05, 0.06, 1.0])
def test_until_then_pages_on_the_topic_come_first(relevance: float, threshold: float) -> None:
    """As for other orderings, these are above the threshold: 0 leaves pages without a word of the topic out."""
    ordering = ContextGraph(a_context(), train_every=5, threshold=threshold)
    score = ordering.score(a_text_page(url(1), "x", relevance=relevance), a_link())
    assert (score > 0.8) == (relevance > threshold)


def test_what_is_at_the_threshold_is_not_learned_as_the_topic() -> None:
    ordering = ContextGraph(a_context(), train_every=2, threshold=0.0)
    ordering.observe(a_text_page(url(1), "reef reef coral", relevance=0.5))
    ordering.observe(a_text_page(url(2), "engine", url(1)))
    reef, engine = (ordering.score(a_text_page(url(9), text), a_link()) for text in ("reef", "engine"))
    assert reef > 0.8 > engine
