"""The names that a page gives itself."""

from __future__ import annotations

import pytest

from crawlproject.parts.duplicates.index import headline, link_names, name_of, title_of


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Reefs of the Red Sea | Ocean News", "reefs of the red sea"),
        ("Ocean - Reefs of the Red Sea", "reefs of the red sea"),
        ("Contributor Code of Conduct • ggraph", "contributor code of conduct"),
        ("Sea: a story", "sea a story"),
        ("Home", ""),
        ("", ""),
        ("Q-learning step by step", "q learning step by step"),
    ],
)
def test_a_headline_is_the_longest_part_of_a_title(title, expected):
    assert headline(title) == expected


def test_case_and_punctuation_of_a_title_do_not_matter():
    assert title_of("The REEF, again!") == title_of("the reef — again")
    assert title_of("Reef") == ""


def test_symbols_at_the_end_of_a_word_are_of_its_name():
    titles = ["Function operator<", "Function operator>", "Function operator<=", "Function operator!="]
    assert len(set(map(title_of, titles))) == 4
    assert title_of("Reefs - A news page") == title_of("reefs: a news page")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.example/b/reef.html", "reef.html"),
        ("http://a.example/b/reef/", "reef"),
        ("http://a.example/reef?id=3", "reef?id=3"),
        ("http://a.example/b/index.php", "b/index.php"),
        ("http://a.example/coral/readme/", "coral/readme"),
        ("http://a.example/", "/"),
    ],
)
def test_the_name_of_a_page_is_its_last_segment_with_one_more_when_that_says_nothing(url, expected):
    assert name_of(url) == expected


def test_names_of_links_are_the_same_in_another_folder_and_another_session():
    one = [b"http://a.example/v1/reef.html?sid=1", b"http://a.example/v1/fish/"]
    two = [b"http://b.example/v2/reef.html", b"http://b.example/v2/fish/?sid=2"]
    assert link_names(one) == link_names(two) == {b"reef.html", b"fish"}
