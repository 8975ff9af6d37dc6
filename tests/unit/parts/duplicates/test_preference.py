"""The choice between two copies."""

from __future__ import annotations

import pytest

from crawlproject.parts.duplicates.preference import LinkCounts, codes_in, language_fit

A = "http://a.example"


@pytest.mark.parametrize(
    ("url", "codes"),
    [
        (f"{A}/manual/pt-br/mod/", {"pt"}),
        (f"{A}/html/zh_Hant/page.html", {"zh"}),
        ("https://de.a.example/page", {"de"}),
        (f"{A}/page.html.en", {"en"}),
        (f"{A}/page?x=1&lang=fr", {"fr"}),
        (f"{A}/en", {"en"}),
        (f"{A}/index.pl", set()),
        (f"{A}/xx/page", set()),
        (f"{A}/", set()),
    ],
)
def test_languages_that_a_url_names(url: str, codes: set[str]) -> None:
    assert codes_in(url) == codes


def test_the_folder_says_more_than_the_page() -> None:
    wanted = {"en"}
    worst_first = [
        language_fit(f"{A}/de/x", "de", wanted),
        language_fit(f"{A}/de/x", "en-GB", wanted),
        language_fit(f"{A}/x", "de", wanted),
        language_fit(f"{A}/x", "en", wanted),
        language_fit(f"{A}/en/x", "", wanted),
        language_fit(f"{A}/en/x", "en", wanted),
    ]
    assert worst_first == [1, 2, 3, 4, 5, 6]


def test_pages_that_link_to_a_url_are_counted_to_a_factor_of_two() -> None:
    counts = LinkCounts()
    for number in range(20):
        counts.add([b"http://a.example/often", b"http://a.example/often", b"http://a.example/%d" % number])
    counts.add([])
    assert counts.magnitude(f"{A}/often") == 3
    assert counts.magnitude(f"{A}/3") == counts.magnitude(f"{A}/never") == 0
