"""From the input on the page to a topic file."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.dashboard.launch import offered_orderings, prepare, read_form, startable_orderings
from crawlproject.errors import BadInput
from crawlproject.options import Options
from crawlproject.reports.html import source
from crawlproject.topic.found_seeds import FoundSeed
from crawlproject.topic.parse import load_topic

FORM = {"query": "coral reefs, bleaching", "seeds": "http://a.example/", "orderings": ["infospiders"], "pages": 50}


def test_each_ordering_gets_a_crawl_folder_with_a_topic_file(tmp_path):
    form = {**FORM, "seeds": "a.example/reefs\n http://b.example/ , b.example", "orderings": ["infospiders", "dom"]}
    folders = prepare(read_form(form), tmp_path)
    assert [folder.name for folder in folders] == ["coral-reefs-bleaching.infospiders", "coral-reefs-bleaching.dom"]
    topic = load_topic(folders[1] / "topic.toml")
    assert topic.keywords == ("coral reefs", "bleaching")
    assert topic.seeds == ("http://a.example/reefs", "http://b.example/")
    assert topic.settings == {"ORDERING": "dom", "CRAWL_MAX_PAGES": 50}


def test_a_form_without_seeds_is_a_query_alone(tmp_path):
    form = read_form({**FORM, "seeds": " \n"})
    assert form.seeds == ()
    found = FoundSeed("http://c.example/", 'A "reef"', "bees: 2")
    (folder,) = prepare(replace(form, seeds=(found,)), tmp_path)
    assert load_topic(folder / "topic.toml").seeds == ("http://c.example/",)
    assert '"http://c.example/",  # bees: 2: A "reef"\n' in (folder / "topic.toml").read_text()


def test_a_second_crawl_of_a_query_gets_a_folder_of_its_own(tmp_path):
    (first,), (second,) = (prepare(read_form(FORM), tmp_path) for _ in range(2))
    assert (first.name, second.name) == ("coral-reefs-bleaching.infospiders", "coral-reefs-bleaching.infospiders.2")


def test_a_folder_is_named_in_the_script_of_the_query(tmp_path):
    (folder,) = prepare(read_form({**FORM, "query": "коралловые рифы"}), tmp_path)
    assert folder.name == "коралловые-рифы.infospiders"
    assert load_topic(folder / "topic.toml").name == "коралловые-рифы"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query", ""),
        ("query", " , "),
        ("query", "the, and"),
        ("seeds", "javascript:alert(1)"),
        ("seeds", "file:///etc/passwd"),
        ("orderings", []),
        ("orderings", ["omniscient"]),
        ("orderings", ["../../x"]),
        ("orderings", "dom"),
        ("orderings", ["dom"] * 99),
        ("pages", 0),
        ("pages", "50"),
        ("pages", True),
        ("pages", 10**9),
    ],
)
def test_what_cannot_be_crawled_is_said(field, value):
    with pytest.raises(BadInput):
        read_form({**FORM, field: value})


def test_lines_and_commas_divide_seeds_and_spaces_do_not():
    form = read_form({**FORM, "seeds": "http://a.example/the reefs.html\r\nb.example, http://c.example/"})
    assert [seed.url for seed in form.seeds] == [
        "http://a.example/the reefs.html",
        "http://b.example",
        "http://c.example/",
    ]


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        (
            "http://a.example/\nftp://b.example/",
            "Seeds: 'ftp://b.example/' is not the address of a page (neither http nor https)",
        ),
        (
            "coral reef",
            "Seeds: 'coral reef' is not the address of a page (not an absolute URL with a valid host and port)",
        ),
        (
            "http://a.example/ http://b.example/",
            "Seeds: 'http://a.example/ http://b.example/' looks like several: write each",
        ),
    ],
)
def test_a_wrong_seed_is_named_in_the_words_of_the_form(seeds, told):
    with pytest.raises(BadInput) as wrong:
        read_form({**FORM, "seeds": seeds})
    assert str(wrong.value).startswith(told) and "a.example/'" not in str(wrong.value).replace(seeds, "")


@pytest.mark.parametrize(
    ("field", "name"), [("query", "Find pages about"), ("orderings", "Orderings"), ("pages", "Pages of")]
)
def test_fields_have_the_names_that_the_form_shows(field, name):
    with pytest.raises(BadInput) as wrong:
        read_form({**FORM, field: ""})
    template = source("dashboard.html.j2", "crawlproject.dashboard")
    assert wrong.value.place.startswith(name) and f">{wrong.value.place}" in template


def test_each_ordering_is_explained_in_a_line_the_default_first():
    offered = offered_orderings()
    assert offered[0][0] == Options().ordering and {name for name, _ in offered} == {*startable_orderings()}
    for name, meaning in offered:
        assert 10 < len(meaning) < 100 and not re.search(r"[=*_(]|eq\.", meaning.replace("best_first", "")), (
            name,
            meaning,
        )


def test_no_form_is_an_error():
    with pytest.raises(BadInput):
        read_form(["coral"])


@given(query=st.text(min_size=1, max_size=60))
def test_no_query_escapes_from_its_quotes_or_its_folder(tmp_path_factory, query):
    try:
        wish = read_form({**FORM, "query": query})
    except BadInput:
        return
    root = tmp_path_factory.mktemp("crawls")
    (folder,) = prepare(wish, root)
    assert folder.parent == root
    topic = load_topic(folder / "topic.toml")
    assert topic.seeds == ("http://a.example/",)
    assert topic.settings == {"ORDERING": "infospiders", "CRAWL_MAX_PAGES": 50}


def test_orderings_that_need_the_answer_or_an_archive_are_not_offered():
    names = startable_orderings()
    assert "infospiders" in names and "adaptive" in names
    assert "omniscient" not in names and "context_graph" not in names
