"""A source sends one query at a time, learns from the answers, and stops when no gain is expected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.deep_web import Lab, oracle
from benchmarks.deep_web_sites import DeepSite, Kind
from crawlproject.parts.forms.selection import SELECTIONS
from crawlproject.parts.forms.source import FormSource, Query, nonsense

LAB = Lab()
HERE = Path(__file__).resolve().parent


def site(kind: Kind, size: int = 120, **more: object) -> DeepSite:
    return DeepSite(f"{kind}.example", kind, size, **more)  # type: ignore[arg-type]


def source(of: DeepSite, *, selection: str = "relevant_new", relevant: float = 0.0, limit: int = 60) -> FormSource:
    made = LAB.source(of, selection, relevant=relevant, limit=limit, patience=10)
    assert made is not None
    return made


def answer(asked: FormSource, of: DeepSite, query: Query) -> None:
    asked.answered(query.url, query.parent, LAB.reader.read(query.url, of.get(query.url).body))


def asked_of(asked: FormSource, of: DeepSite) -> list[Query]:
    queries = []
    while (query := asked.next()) is not None:
        queries.append(query)
        assert asked.next() is None, "one at a time"
        answer(asked, of, query)
    return queries


def test_first_comes_a_word_that_nobody_uses_then_the_topic() -> None:
    of = site("search")
    queries = asked_of(source(of), of)
    assert queries[0].text == nonsense("http://search.example/find") and queries[0].value is None
    first_pages = [query.text for query in queries if query.number == 1]
    assert first_pages[1:3] == ["coral", "reef"]


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("kind", ["search", "advanced", "books", "listing"])
def test_every_policy_finds_most_of_every_kind(kind: Kind, selection: str) -> None:
    of = site(kind)
    asked = source(of, selection=selection)
    queries = asked_of(asked, of)
    assert asked.fetches == len(queries) <= 60
    assert len({query.url for query in queries}) == len(queries)
    assert len(asked.graph.items) > (0.25 if selection == "random" else 0.6) * oracle(of, 60, relevant=False)[-1]
    assert set(asked.graph.items) <= {of.url_of(number) for number in range(of.size)}


def test_the_limit_counts_result_pages() -> None:
    of = site("search")
    asked = source(of, limit=7)
    assert len(asked_of(asked, of)) == 7 and asked.reason == "limit reached"


def test_a_form_that_answers_everything_alike_is_given_up() -> None:
    for kind in ("lies", "silent"):
        of = site(kind)  # type: ignore[arg-type]
        asked = source(of)
        assert len(asked_of(asked, of)) <= 4 and not asked.graph.items and asked.reason


def test_a_source_off_the_topic_is_given_up() -> None:
    of = site("books", 400, on_topic=0.0)
    asked = source(of, relevant=0.1)
    asked_of(asked, of)
    assert asked.reason == "off topic" and asked.fetches < 20 and asked.relevance < 0.05


def test_a_list_is_left_for_a_better_query_and_taken_up_again() -> None:
    of = site("search", 300)
    queries = asked_of(source(of, limit=100), of)
    left = [n for n, query in enumerate(queries) if query.number > 1 and queries[n - 1].url != query.parent]
    assert left, "no list was left"
    whole = asked_of(source(of, selection="greedy_frequency", limit=100), of)
    assert not [n for n, query in enumerate(whole) if query.number > 1 and whole[n - 1].url != query.parent]


def test_menus_are_asked_first_and_useless_ones_no_more() -> None:
    of = site("listing")
    queries = asked_of(source(of, limit=200), of)
    fields = [query.value.field for query in queries if query.value and query.number == 1]
    assert set(fields) == {"town", "rooms", "keeper"} and fields.index("keeper") == 13, "8 towns, 5 numbers of rooms"
    of = site("lies")
    of.kind = "listing"
    of.matches = lambda sent: of.order[:25]  # type: ignore[method-assign]
    useless = source(of, limit=200)
    asked_of(useless, of)
    assert useless.fetches <= 4 and useless.reason == "no results"


@pytest.mark.parametrize("kind", ["search", "advanced", "books", "listing"])
def test_answers_alone_make_the_same_source_again(kind: Kind) -> None:
    """This is what a resumed crawl does, which has no record of the plans."""
    of = site(kind)
    live = source(of, relevant=0.1)
    done: list[Query] = []
    while (query := live.next()) is not None:
        if len(done) % 12 == 5:
            again = source(of, relevant=0.1)
            for old in done:
                answer(again, of, old)
            assert again.next() == query
            other = source(of, relevant=0.1)
            for old in done:
                answer(other, of, old)
            assert other.adopt(query.url, query.parent) and other.next() is None
        answer(live, of, query)
        done.append(query)
    assert len(done) > 20


def test_another_process_asks_the_same() -> None:
    """A resumed crawl has another hash seed."""
    script = (
        "from test_source import *; of = site('advanced', 60); queries = asked_of(source(of, limit=25), of)\n"
        "print([query.url for query in queries])"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{HERE}:{HERE.parents[2]}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1] and said[0].count("http") == 25


def test_what_is_refused_is_not_asked_again() -> None:
    of = site("search")
    asked = source(of)
    seen = set()
    for number in range(10):
        query = asked.next()
        assert query is not None and query.url not in seen
        seen.add(query.url)
        if number in (2, 5):
            asked.refused()
        else:
            answer(asked, of, query)


def test_a_fetched_item_has_all_its_words() -> None:
    of = site("search")
    asked = source(of)
    for _ in range(2):
        answer(asked, of, asked.next())  # type: ignore[arg-type]
    url = next(iter(asked.graph.items))
    before = len(asked.graph.item_values[0])
    page = LAB.judge.judge(LAB.reader.read(url, of.get(url).body))
    asked.described(page)
    assert len(asked.graph.item_values[0]) > before
