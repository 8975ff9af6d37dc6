"""The graph of values and items counts its input; the size of a source is estimated from recaptures."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.parts.forms.value_graph import Value, ValueGraph, chao, schnabel

words = st.sampled_from([Value("q", word) for word in "abcdef"])
urls = st.integers(0, 9).map(str)
listed = st.lists(st.tuples(urls, st.sets(words), st.sampled_from([0.0, 0.5, 1.0])), max_size=6)
steps = st.lists(st.one_of(st.tuples(words, listed), st.tuples(urls, st.sets(words))), max_size=12)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_the_running_counts_are_those_of_a_recount(taken: list) -> None:
    graph = ValueGraph()
    for step in taken:
        if isinstance(step[0], Value):
            graph.returned(step[0], [(url, sorted(values), relevance) for url, values, relevance in step[1]])
        else:
            graph.describe(step[0], sorted(step[1]), 1.0)
    for number, value in enumerate(graph.values):
        having = [item for item, values in enumerate(graph.item_values) if number in values]
        assert graph.degree[number] == len(having)
        assert graph.worth[number] == pytest.approx(sum(graph.relevance[item] for item in having))
        assert graph.single[number] == sum(len(graph.finders[item]) == 1 for item in having)
        assert graph.number(value) == number
    assert graph.total_relevance == pytest.approx(sum(graph.relevance))
    assert graph.captures() == Counter(map(len, graph.finders))
    assert sum(answer.new for answer in graph.answers.values()) == len(graph.items)


def test_the_options_of_a_menu_are_one_capture() -> None:
    graph = ValueGraph()
    for number in range(3):
        graph.returned(Value("genre", str(number)), [("x", [], 0.0)])
    graph.returned(Value("author", "a"), [("x", [], 0.0)])
    assert graph.captures() == {4: 1} and graph.captures(["genre"]) == {2: 1}


def test_sizes_are_near_the_truth_when_all_items_are_alike() -> None:
    rng = Random(1)
    samples = [set(rng.sample(range(2_000), 150)) for _ in range(12)]
    times = Counter(Counter(item for sample in samples for item in sample).values())
    assert chao(times) == pytest.approx(2_000, rel=0.15)
    assert schnabel(samples) == pytest.approx(2_000, rel=0.1)


def test_chao_allows_for_items_that_are_hard_to_catch() -> None:
    rng = Random(1)
    weights = [1 / (1 + item % 40) for item in range(2_000)]
    samples = [set(rng.choices(range(2_000), weights, k=150)) for _ in range(12)]
    times = Counter(Counter(item for sample in samples for item in sample).values())
    assert len(set().union(*samples)) < schnabel(samples) < chao(times) < 2_000


def test_without_recaptures_nothing_is_made_up() -> None:
    assert chao({1: 500}) == 500 and chao({}) == 0
