"""The features of links in TRES, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from support.pages import a_context, a_page_of

from crawlproject.orderings.tres.features import FeatureReader, LinkPath, tenths


def test_a_path_from_a_seed() -> None:
    """Seed, two pages off the topic, one on it: shares are rounded down to tenths, 1/3 to 0.3."""
    seed = LinkPath().on(True)
    first, second = seed.on(False), seed.on(False).on(False)
    assert LinkPath().features == (0, 0, 0)
    assert seed.features == (1, 1, 1)
    assert first.features == (0, 0.5, 0.5)
    assert second.features == (0, 0.3, 0.3)
    assert second.on(True).features == (1, 1, 0.5)


def test_no_relevant_page_is_never_a_relevant_one() -> None:
    assert LinkPath().on(False).features == (0, 1, 0)


@pytest.mark.parametrize(("share", "rounded"), [(0, 0), (0.04, 1e-5), (0.3, 0.3), (0.99, 0.9), (1, 1)])
def test_tenths(share: float, rounded: float) -> None:
    assert tenths(share) == pytest.approx(rounded)


def test_keywords_phrases_and_hosts() -> None:
    reader = FeatureReader(a_context("coral reef", "divers"))
    page = a_page_of(
        ("http://www.b.example/Reef", "the coral reef"),
        ("http://b.example/", "reef of coral"),
        ("http://c.example/diversity", "read more"),
        text="coral reef",
    )
    for relevant in (True, False, False):
        reader.host("http://b.example/x").learn(relevant)
    hosts = [reader.host(link.url) for link in page.links]
    assert hosts[0] is hosts[1], "as the source, without www."
    found = reader.of_links(page, hosts, LinkPath().on(True))
    wanted = [[1, 1, 1, 0.3, 0, 0], [0, 1, 0, 0.3, 0, 0], [1, 0, 0, 0.5, 1, 0]]
    assert found[:, 3:] == pytest.approx(np.array(wanted))


def test_a_phrase_that_begins_in_one_anchor_and_ends_in_the_next_is_in_none() -> None:
    reader = FeatureReader(a_context("coral reef"))
    page = a_page_of(("http://b.example/", "coral"), ("http://c.example/", "reef"))
    found = reader.of_links(page, [reader.host(link.url) for link in page.links], LinkPath())
    assert found[:, 4:6].tolist() == [[1, 0], [1, 0]]
