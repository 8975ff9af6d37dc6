"""Truncated result lists are queried in parts: by options of a menu, and by ranges of numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.deep_web import Lab
from benchmarks.deep_web_sites import DeepSite
from crawlproject.pages.html.forms import Field, Form, Option, read_forms
from crawlproject.parts.forms.refinement import BETWEEN, NumberRange, Refinements, joined, parts_of, ranges_in
from crawlproject.parts.forms.source import FormSource
from crawlproject.parts.forms.value_graph import Value, ValueGraph

LAB = Lab()
PRICES = (Field("price_min", "number"), Field("price_max", "number"))
GENRE = Field("genre", "select", "", "Genre", tuple(Option(name, name) for name in ("", "novel", "travel", "poem")))
FORM = Form("http://a.example/find", "get", (Field("q", "search"), GENRE, *PRICES))


def cut_off(graph: ValueGraph, *values: Value, items: int = 20) -> None:
    """Mark the lists of these values as complete, and as long as the lists of other values."""
    for value in values:
        graph.returned(value, [(f"http://a.example/{value.text}/{n}", (), 1.0) for n in range(items)])
        graph.answers[graph.number(value)].complete = True


def asked_after(refinements: Refinements, value: Value) -> list[Value]:
    return [part for _, part in refinements.after(value, lambda part: part)]


def test_ends_of_ranges_are_found_by_their_names() -> None:
    html = b"""<form action=/find><input name=q type=search><input name=minPrice type=number><input name=maxPrice type=number>
    <input name=year_from><input name=year_to><input name=from><select name=max_age><option>1</select></form>"""
    (form,) = read_forms(html, "http://a.example/")
    assert ranges_in(form) == [
        NumberRange("minPrice", "maxPrice", "price"),
        NumberRange("year_from", "year_to", "year"),
    ]


def test_a_list_that_was_cut_off_is_split_by_a_menu_one_option_at_a_time() -> None:
    graph = ValueGraph()
    refinements = Refinements(FORM, graph)
    reef, sea = Value("q", "reef"), Value("q", "sea")
    cut_off(graph, reef)
    assert asked_after(refinements, reef) == [], "one list of this length may be whole"
    cut_off(graph, sea)
    (first,) = asked_after(refinements, reef)
    assert parts_of(first) == {"q": "reef", "genre": "novel"}
    cut_off(graph, first, items=5)
    (second,) = asked_after(refinements, first)
    assert parts_of(second) == {"q": "reef", "genre": "travel"}
    cut_off(graph, second)
    (third,) = asked_after(refinements, second)
    assert parts_of(third) == {"q": "reef", "genre": "poem"}, "no third field, though it was cut off"
    cut_off(graph, third, items=1)
    assert asked_after(refinements, third) == []


@given(st.lists(st.integers(1, 500), min_size=1, max_size=200))
def test_ranges_are_split_until_lists_are_whole_and_miss_no_number(numbers: list[int]) -> None:
    graph = ValueGraph()
    refinements = Refinements(FORM, graph)
    for number in numbers:
        refinements.learn(f"A thing\nPrice: {number}\nmore")
    reef, sea = Value("q", "reef"), Value("q", "sea")
    cut_off(graph, reef, sea)
    whole: list[dict[str, str]] = []

    def ask(value: Value) -> Iterator[Value]:
        """Treat parts with more than 20 numbers as truncated."""
        for part in asked_after(refinements, value):
            filled = parts_of(part)
            low, high = int(filled.get("price_min", 0)), int(filled.get("price_max", 10**9))
            inside = sum(low <= number <= high for number in numbers)
            cut_off(graph, part, items=min(20, inside))
            if inside <= 20:
                whole.append(filled)
            yield part
            yield from ask(part)

    asked = list(ask(reef))
    assert len(asked) == len(set(asked)), "none twice"
    if len(set(numbers)) == 1:
        assert all("genre" in parts_of(part) for part in asked), "nothing to split"
        return
    ends = [(int(part.get("price_min", 0)), int(part.get("price_max", 10**9))) for part in whole if "genre" not in part]
    for number in set(numbers):
        if numbers.count(number) <= 20:
            assert sum(low <= number <= high for low, high in ends) == 1


def run(site: DeepSite, *, refines: bool, limit: int = 120) -> FormSource:
    source = LAB.source(site, "relevant_new", relevant=0.0, limit=limit, patience=20)
    assert source is not None
    source.refines = refines
    LAB.run(source, site)
    return source


def test_narrower_queries_find_more_of_a_large_site_and_ask_no_other_form() -> None:
    site = DeepSite("refined-listing.example", "listing", 4_000, cap=20)
    plain, refined = run(site, refines=False, limit=250), run(site, refines=True, limit=250)
    assert len(refined.graph.items) > 1.1 * len(plain.graph.items)
    assert max(plain.fetches, refined.fetches) <= 250 and not site.asked


def test_a_query_of_several_fields_is_known_again() -> None:
    site = DeepSite("refined-priced.example", "priced", 2_000, cap=40)
    source = run(site, refines=True)
    several = [
        url
        for url, query in source._asked.items()
        if query.value and BETWEEN in query.value.field and query.number == 1
    ]
    assert any("price_from=" in url and "price_from=&" not in url for url in several)
    other = LAB.source(site, "relevant_new", relevant=0.0, limit=10, patience=5)
    assert other is not None
    for url in several:
        assert other.adopt(url, site.home)
        assert other._asked[url].value == source._asked[url].value
        assert joined(parts_of(other._asked[url].value)) == other._asked[url].value  # type: ignore[arg-type]


@pytest.mark.parametrize("end", ["abc", "-3", "1.5", "٣", "9" * 5000])
def test_an_end_that_is_no_number_is_no_end(end: str) -> None:
    graph = ValueGraph()
    refinements = Refinements(FORM, graph)
    for number in range(1, 9):
        refinements.learn(f"A thing\nPrice: {number}\n")
    odd = joined({"q": "reef", "price_min": end, "price_max": end})
    cut_off(graph, odd, Value("q", "sea"))
    (part,) = asked_after(refinements, odd)
    assert parts_of(part) == {"q": "reef", "price_min": end, "price_max": "2"}
