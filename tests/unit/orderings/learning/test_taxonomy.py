"""The topic taxonomy of the focused crawler (paper 000 section 3.3)."""

from __future__ import annotations

import pytest

from crawlproject.orderings.taxonomy import Example, NaiveBayes, Taxonomy


def example(path: str, *words: str, good: bool = False) -> Example:
    return Example(tuple(filter(None, path.split("/"))), good, dict.fromkeys(words, 1))


TREE = [
    example("science/sea/atolls", "water", "atoll", good=True),
    example("science/sea/lagoons", "water", "lagoon", good=True),
    example("science/steam", "water", "boiler"),
    example("sports", "ball"),
]


def test_the_probability_of_a_class_is_the_product_along_its_path() -> None:
    taxonomy = Taxonomy(TREE)
    page = {"water": 2, "atoll": 1}
    texts = [leaf.counts for leaf in TREE]
    science = NaiveBayes({"science": texts[:3], "sports": texts[3:]}).probabilities(page)["science"]
    sea = NaiveBayes({"sea": texts[:2], "steam": texts[2:3]}).probabilities(page)["sea"]
    atolls = NaiveBayes({"atolls": texts[:1], "lagoons": texts[1:2]}).probabilities(page)["atolls"]
    found = taxonomy.probabilities(page)
    assert found["science/", "sea/", "atolls/", "good"] == pytest.approx(science * sea * atolls)
    assert sum(found.values()) == pytest.approx(1.0)
    assert taxonomy.relevance(page) == pytest.approx(science * sea), "equation 6: the good node is science/sea"


def test_children_of_a_node_are_equally_likely_before() -> None:
    taxonomy = Taxonomy(TREE)
    assert list(taxonomy.probabilities({}).values()) == pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 2])
    assert taxonomy.relevance({}) == pytest.approx(1 / 4)


def test_the_likeliest_leaf_decides_on_a_hard_focus() -> None:
    """Without a known term, sports has 1/2 and the good leaves 1/8 each."""
    taxonomy = Taxonomy(TREE)
    assert not taxonomy.is_good({})
    assert taxonomy.is_good({"lagoon": 1})
    two_good = Taxonomy([example("sea/a", "x", good=True), example("sea/b", "x", good=True), example("land", "y")])
    assert two_good.relevance({}) == pytest.approx(1 / 2) and not two_good.is_good({}), "1/4, 1/4 and 1/2"


def test_a_class_may_have_good_and_other_examples_and_classes_below() -> None:
    taxonomy = Taxonomy(
        [example("a", "x", good=True), example("a", "y"), example("a/b", "z"), example("", "w", good=True)]
    )
    assert taxonomy.leaves == (("a/", "b/", "other"), ("a/", "good"), ("a/", "other"), ("good",))
    assert taxonomy.relevance({"x": 1}) > 0.9 > 0.1 > taxonomy.relevance({"y": 1})
