"""The contract of every query selection policy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.errors import BadSetting
from crawlproject.parts.forms.selection import SELECTIONS, make_selection
from crawlproject.parts.forms.value_graph import Value, ValueGraph

words = st.integers(0, 12).map(lambda number: Value("q", f"w{number}"))
items = st.tuples(
    st.integers(0, 30).map("http://a.example/{}".format), st.sets(words, max_size=5), st.sampled_from([0.0, 1.0])
)
answers = st.lists(st.tuples(words, st.lists(items, max_size=12)), max_size=8)


def graph_of(found: list[tuple[Value, list[tuple[str, set[Value], float]]]]) -> ValueGraph:
    graph = ValueGraph()
    for value, listed in found:
        graph.returned(value, [(url, sorted(values), relevance) for url, values, relevance in listed])
        graph.answers[graph.number(value)].complete = len(listed) % 2 == 0
    return graph


@pytest.mark.parametrize("name", SELECTIONS)
class TestEverySelection:
    @settings(max_examples=25, deadline=None)
    @given(answers)
    def test_it_chooses_a_candidate_and_the_same_again(self, name: str, found: list) -> None:
        graph = graph_of(found)
        candidates = [number for number in range(len(graph.values)) if number not in graph.answers]
        choices = [make_selection(name).best(graph, candidates) for _ in range(2)]
        assert choices[0] == choices[1]
        if choices[0] is None:
            assert not candidates
        else:
            assert choices[0].value in candidates and math.isfinite(choices[0].rate)

    @settings(max_examples=25, deadline=None)
    @given(answers)
    def test_the_rest_of_a_list_has_a_worth(self, name: str, found: list) -> None:
        graph = graph_of(found)
        for value in graph.answers:
            assert make_selection(name).rest(graph, value, (1, 1.0)) > 0

    def test_nothing_is_chosen_of_nothing(self, name: str) -> None:
        assert make_selection(name).best(ValueGraph(), []) is None


def test_an_unknown_name_is_reported_with_the_names_there_are() -> None:
    with pytest.raises(BadSetting, match=r"CRAWL_FORM_SELECTION: expected one of .*greedy_frequency.*not 'greedy'"):
        make_selection("greedy")
