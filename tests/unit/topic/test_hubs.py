"""Pages that link to several seed hosts, and topic files that get them as seeds."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadTopic
from crawlproject.topic.edits import with_seeds
from crawlproject.topic.found_seeds import Hub, find_hubs, is_mirror

SEEDS = ("http://a.example/", "http://b.example/x", "http://c.example/")
LINKS = [
    ("http://hub.example/", ["http://a.example/deep", "http://b.example/", "http://a.example/"]),
    ("http://big.example/", ["http://a.example/", "http://b.example/", "http://c.example/", "http://d.example/"]),
    ("http://one.example/", ["http://a.example/", "http://a.example/y"]),
    ("http://a.example/links", ["http://a.example/", "http://b.example/"]),
    ("http://c.example/links", ["http://a.example/", "http://b.example/", "http://c.example/"]),
    ("http://b.example/x", ["http://a.example/", "http://c.example/"]),
]


def test_hubs_point_to_other_hosts_and_the_best_come_first() -> None:
    assert find_hubs(LINKS, SEEDS) == [
        Hub("http://big.example/", ("a.example", "b.example", "c.example")),
        Hub("http://c.example/links", ("a.example", "b.example")),
        Hub("http://hub.example/", ("a.example", "b.example")),
    ]


def test_unwanted_pages_and_those_beyond_the_limits_are_left_out() -> None:
    assert [hub.url for hub in find_hubs(LINKS, SEEDS, most=1)] == ["http://big.example/"]
    assert [hub.url for hub in find_hubs(LINKS, SEEDS, min_hosts=3)] == ["http://big.example/"]
    assert [hub.url for hub in find_hubs(LINKS, SEEDS, min_hosts=3, unwanted=["http://big.example/"])] == []
    assert "http://one.example/" in {hub.url for hub in find_hubs(LINKS, SEEDS, min_hosts=1)}


def test_a_page_may_come_in_pieces() -> None:
    pieces = [("http://hub.example/", ["http://a.example/"]), ("http://hub.example/", ["http://b.example/"])]
    assert [hub.hosts for hub in find_hubs(pieces, SEEDS)] == [("a.example", "b.example")]


def test_a_page_may_link_to_where_a_seed_leads_and_is_not_that_page() -> None:
    moved = {"http://a.example/": "http://www.a.example/", "http://b.example/x": "http://elsewhere.example/"}
    links = [
        ("http://hub.example/", ["http://www.a.example/", "http://a.example/", "http://c.example/"]),
        ("http://www.a.example/links", ["http://a.example/", "http://c.example/"]),
        ("http://elsewhere.example/", ["http://a.example/", "http://c.example/"]),
    ]
    assert find_hubs(links, SEEDS, redirects=moved) == [Hub("http://hub.example/", ("a.example", "c.example"))]
    assert find_hubs(links[:1], SEEDS[:2]) == []


def test_a_short_description_makes_no_mirror() -> None:
    terms = [f"term{number}" for number in range(10)]
    assert is_mirror({**dict.fromkeys(terms, 2), "added": 500}, dict.fromkeys(terms, 1))
    assert not is_mirror(dict.fromkeys(terms[:8], 2), dict.fromkeys(terms, 1)), "cosine 8 / sqrt(80) = 0.894"
    assert not is_mirror(dict.fromkeys(terms, 2), dict.fromkeys(terms[:9], 1))


# ------------------------------------------------------------ the text of a topic file

TOPIC = """\
# A topic of mine.
keywords = ["solar power"]
seeds = [
  "http://a.example/",  # the ] first one
  'http://b.example/[x]'  # no comma
  # the end
]
description = '''
seeds = ["not these"]
'''

[crawl]  # settings
ORDERING = "dom"
"""


def test_the_rest_of_the_file_stays_as_it_was() -> None:
    new = with_seeds(TOPIC, "t.toml", ["http://c.example/", 'http://d.example/?q="]'], "found")
    assert new == TOPIC.replace(
        "'http://b.example/[x]'  # no comma\n  # the end\n",
        "'http://b.example/[x]',  # no comma\n  # the end\n"
        '  # found\n  "http://c.example/",\n  "http://d.example/?q=\\"]",\n',
    )


@pytest.mark.parametrize(
    "text",
    [
        'seeds = ["http://a.example/"]\n',
        'seeds = ["http://a.example/",]',
        'seeds=[]\nname = "x"\n',
        '"seeds" = [\n"http://a.example/"\n]\n',
        'keywords = ["a"]\r\nseeds = [\r\n  "http://a.example/",\r\n]\r\n',
    ],
)
def test_lists_of_every_shape(text: str) -> None:
    before, after = tomllib.loads(text), tomllib.loads(with_seeds(text, "t.toml", ["http://new.example/"], "found"))
    assert after == {**before, "seeds": [*before["seeds"], "http://new.example/"]}


def test_lines_end_as_in_the_file() -> None:
    new = with_seeds('seeds = [\r\n  "http://a.example/"\r\n]\r\n', "t.toml", ["http://b.example/"], "found")
    assert new.count("\n") == new.count("\r\n")


@pytest.mark.parametrize("text", ['seeds = "http://a.example/"\n', "[table]\nseeds = []\n", ""])
def test_what_cannot_be_edited_is_refused_and_not_spoilt(text: str) -> None:
    with pytest.raises(BadTopic, match=r"t\.toml: seeds: the list cannot be"):
        with_seeds(text, "t.toml", ["http://b.example/"], "found")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=10), max_size=4))
def test_any_text_can_be_a_seed(seeds: list[str]) -> None:
    assert tomllib.loads(with_seeds(TOPIC, "t.toml", seeds, "found"))["seeds"][2:] == seeds
