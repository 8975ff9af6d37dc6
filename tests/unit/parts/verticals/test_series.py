"""The next page of a series: two signs have to agree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.parts.verticals.series import follows, next_page, number_of

A = "http://a.example"


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("/x?page=2", "/x?page=3"),
        ("/x?page=9", "/x?page=10"),
        ("/x?page=19", "/x?page=20"),
        ("/x?page=2&q=1", "/x?page=3&q=1"),
        ("/x", "/x?page=2"),
        ("/x?q=1", "/x?page=2&q=1"),
        ("/t?id=5", "/t?id=5&p=2"),
        ("/tag/x/", "/tag/x/page/2/"),
        ("/", "/page/2"),
        ("/2019/story/", "/2019/story/2/"),
        ("/story.html", "/story-2.html"),
        ("/story_2.html", "/story_3.html"),
        ("/virus.html", "/virus-p2.html"),
        ("/x/page3_em.htm", "/x/page4_em.htm"),
        ("/x", "/x?start=10"),
        ("/x?start=10", "/x?start=20"),
        ("/x?seite=1", "/x?seite=2"),
    ],
)
def test_urls_of_neighbours(url: str, target: str) -> None:
    assert follows(A + url, A + target) and not follows(A + target, A + url)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("/t?id=5", "/t?id=6"),  # another topic
        ("/?p=5", "/?p=7"),
        ("/x?page=2", "/x?page=4"),
        ("/ch1.html", "/ch2.html"),
        ("/intro.html", "/methods.html"),
        ("/2019/x", "/2020/x"),
        ("/report-2019", "/report-2020"),
        ("/leastsquare_1d.html", "/leastsquare_2d.html"),
        ("/biom-1.0.html", "/biom-2.0.html"),
        ("/x", "/x/abstract/2"),
        ("/x", "/x?version=2"),
        ("/x?page=2", "/y?page=3"),
        ("/x", "/x"),
    ],
)
def test_urls_of_others(url: str, target: str) -> None:
    assert not follows(A + url, A + target)


def test_hosts_with_numbers_are_no_series() -> None:
    assert not follows("http://a1.example/x", "http://a2.example/x")
    assert not follows("http://a.example/x", "http://b.example/x?page=2")


@pytest.mark.parametrize(
    "text",
    ["Next", "next page »", "Older posts", "NÄCHSTE SEITE", "Page suivante", "Siguiente ›", "próxima página", "Volgende",
     "Следующая", "下一页", "次へ", "다음", "»", "2"],
)  # fmt: skip
def test_what_a_page_says(text: str) -> None:
    links = [(f"{A}/about", "Next"), (f"{A}/x?page=2", text), (f"{A}/x?page=3", "3")]
    assert next_page(f"{A}/x", links) == f"{A}/x?page=2"


def test_both_signs_are_needed() -> None:
    assert next_page(f"{A}/x", [(f"{A}/x?page=2", "The second edition of this text"), (f"{A}/y", "Next")]) == ""
    assert next_page(f"{A}/x", [], [("next", f"{A}/methods"), ("prev", f"{A}/x?page=2")]) == ""
    assert next_page(f"{A}/x", [], [("next", f"{A}/x?page=2")]) == f"{A}/x?page=2"


def test_numbers_in_paths_are_pages_where_page_one_has_none() -> None:
    row = [(f"{A}/story/", "1"), (f"{A}/story/3/", "Next"), (f"{A}/story/4/", "4")]
    assert next_page(f"{A}/story/2/", row) == f"{A}/story/3/"
    assert next_page(f"{A}/story/2", [(f"{A}/story", " 1 "), (f"{A}/story/3", "»")]) == f"{A}/story/3"
    assert next_page(f"{A}/story/2/", row[1:]) == "", "it may be another story"
    assert next_page(f"{A}/story/2/", [(f"{A}/story/", "All stories"), row[1]]) == ""


def test_words_count_more_than_numbers() -> None:
    links = [(f"{A}/x?page=3&sort=a", "3"), (f"{A}/x?page=3", "Next")]
    assert next_page(f"{A}/x?page=2", links) == f"{A}/x?page=3"
    assert number_of(f"{A}/2019/x?page=12") == 12 and number_of(f"{A}/2019/x") == 1


@settings(max_examples=100, deadline=None)
@given(st.text("ap/?=&-_.1290", max_size=20), st.text("ap/?=&-_.1290", max_size=20))
def test_no_two_urls_follow_each_other(one: str, other: str) -> None:
    assert not (follows(f"{A}/{one}", f"{A}/{other}") and follows(f"{A}/{other}", f"{A}/{one}"))
