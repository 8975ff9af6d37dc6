"""A topic file from answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import Link, Page, Span
from crawlproject.topic.edits import Draft, characteristic_words, name_for, topic_text
from crawlproject.topic.parse import parse_topic

ANALYZER = Analyzer("en")
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda word: any(map(str.isalnum, word)) and "," not in word
)


def page(text: str, analyzer: Analyzer = ANALYZER) -> Page:
    terms = analyzer.terms(text)
    return Page("http://a.example/", text=text, terms=terms, counts=Counter(terms))


@given(st.lists(words, min_size=1, max_size=4), words, st.integers(0, 9999))
def test_what_is_written_is_read_as_it_was_meant(keywords: list[str], description: str, pages: int) -> None:
    seeds = ["http://a.example/", "http://b.example/?q=%22"]
    draft = Draft("reef", keywords, seeds, "de", description + '"\\\x7f', ["http://c.example/"], pages)
    topic = parse_topic(topic_text(draft), "reef.toml")
    folded = {" ".join(keyword.split()).casefold() for keyword in keywords}
    assert {keyword.casefold() for keyword in topic.keywords} == folded
    assert (list(topic.seeds), topic.language, topic.description) == (seeds, "de", draft.description)
    assert topic.positive == ("http://c.example/",)
    assert topic.settings == ({"CRAWL_MAX_PAGES": pages} if pages else {})


def test_names_do_as_names_of_folders() -> None:
    assert name_for(["Coral Reef!", "x"]) == "coral-reef"
    assert name_for(["...", "../../etc"]) == "etc"
    assert name_for(["  "]) == "topic"
    assert name_for(["珊瑚礁 白化"]) == "珊瑚礁-白化"
    assert name_for(["हिन्दी कविता"]) == "हिन्दी-कविता"


def test_characteristic_words_are_on_the_examples_and_not_elsewhere() -> None:
    examples = [page("Bleached corals. The corals of the site menu."), page("Corals and polyps, site menu, corals!")]
    background = [page("site menu shop"), page("site menu about"), page("site menu and a reef")]
    found = characteristic_words(examples, background, ANALYZER, known=["reef"])
    assert found == ["corals"], "once is too little, and the menu is everywhere"
    assert characteristic_words(examples, background, ANALYZER, known=["coral"]) == []
    assert characteristic_words([], background, ANALYZER) == []


def test_words_of_links_are_not_proposed() -> None:
    def with_menu(menu: str, text: str) -> Page:
        found = page(f"{menu} {text}")
        span = Span(0, len(ANALYZER.terms(menu)))
        return replace(found, links=(Link("http://a.example/x", menu, span, span),))

    examples = [
        with_menu("Installation guide", "corals and polyps"),
        with_menu("Installation guide", "a coral installation"),
    ]
    assert characteristic_words(examples, [page("shop")], ANALYZER, known=["guide"]) == ["corals"]


def test_one_example_will_do() -> None:
    found = characteristic_words([page("polyps polyps corals")], [page("shop")], ANALYZER, most=1)
    assert found == ["polyps"]


def test_words_of_scripts_with_marks() -> None:
    analyzer = Analyzer("hi")
    example, other = page("कविता संग्रह कविता", analyzer), page("दुकान", analyzer)
    assert characteristic_words([example], [other], analyzer) == ["कविता", "संग्रह"]


@given(st.dictionaries(st.sampled_from(["http://a.example/", "http://b.example/"]), st.text(), max_size=2))
def test_no_source_of_a_seed_escapes_from_its_comment(sources: dict[str, str]) -> None:
    seeds = ["http://a.example/", "http://b.example/"]
    text = topic_text(Draft("reef", ["coral"], seeds, ordering="dom", pages=5, sources=sources))
    topic = parse_topic(text, "reef.toml")
    assert topic.seeds == tuple(seeds) and topic.settings == {"ORDERING": "dom", "CRAWL_MAX_PAGES": 5}
