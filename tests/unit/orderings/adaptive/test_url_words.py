"""The words of URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import ANALYZER

from crawlproject.orderings.adaptive import terms as urlwords
from crawlproject.orderings.adaptive.terms import UrlWords
from crawlproject.orderings.learning import TermIds
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.urls.canonical import canonical_url


def test_the_last_words_are_stems_without_stop_words() -> None:
    words = UrlWords(ANALYZER)
    url = "https://www.Divers.example/The-Reefs/corals2024_of_bali.html"
    expected = ANALYZER.terms("www divers example reefs corals bali html")
    assert words.of(url, 99) == expected and "https" not in expected
    assert words.of(url, 3) == expected[-3:]
    assert words.of("http://1.2/3", 8) == []


def test_what_is_percent_encoded_counts_as_what_it_is_for() -> None:
    url = canonical_url("http://h.example/wiki/Коралловый_риф?page=2%2F3&q=coral%20reef")
    assert "%D0" in url
    found = UrlWords(Analyzer("ru")).of(url, 99)
    assert found == Analyzer("ru").terms("h example wiki коралловый риф page q coral reef")
    assert UrlWords(Analyzer("ja")).of(canonical_url("http://h.example/珊瑚礁"), 2) == ["珊瑚", "瑚礁"]
    assert UrlWords(ANALYZER).of("http://h.example/%FF%80%7F%00corals", 1) == ANALYZER.terms("corals")


def test_a_keyword_in_a_longer_word_is_a_term_of_it() -> None:
    words = UrlWords(ANALYZER, ANALYZER.terms("text reef sea"))
    assert words.of("http://1/tidytextmining", 9) == [*ANALYZER.terms("tidytextmining"), "text"]
    only_once = "text reefs seas seaside"  # short or known words are not searched for
    assert words.of(f"http://1/{only_once.replace(' ', '/')}", 9) == ANALYZER.terms(only_once)
    assert words.of("http://1/snorkels", 9) == ANALYZER.terms("snorkels")
    words.look_for(ANALYZER.terms("snorkel reef"))
    assert words.of("http://1/coralreefs", 9) == [*ANALYZER.terms("coralreefs"), "reef"]
    assert words.of("http://1/snorkelfins", 9) == [*ANALYZER.terms("snorkelfins"), "snorkel"]


def test_a_word_is_analysed_once_as_long_as_it_is_remembered(monkeypatch) -> None:
    asked: list[str] = []

    class Spy:
        def terms(self, text: str) -> list[str]:
            asked.append(text)
            return [text]

    monkeypatch.setattr(urlwords, "_REMEMBERED", 2)
    words = UrlWords(Spy())
    assert words.of("http://a/a/b", 9) == ["a", "a", "b"] and asked == ["a", "b"]
    assert words.of("http://c/a", 9) == ["c", "a"] and asked == ["a", "b", "c", "a"], "forgotten, found anew"


def test_the_numbers_of_the_last_terms_of_each_url() -> None:
    ids = TermIds()
    coral, reef, bali = ids.of(["coral", "reef", "bali"]).tolist()
    urls = ["http://1.2/", "http://1/Coral/reef/bali", "http://1/reef", "http://1/the/%62ali/%20"]
    assert UrlWords(ANALYZER).numbers(urls, 2, ids).tolist() == [[0, 0], [reef, bali], [reef, 0], [bali, 0]]
    assert coral == 1 and UrlWords(ANALYZER).numbers([], 2, ids).shape == (0, 2)


texts = st.text("aB/%2e-.2?:éK珊", max_size=12)


@given(st.lists(st.builds("{}//{}".format, texts, texts) | texts, max_size=6), st.integers(1, 4), st.integers(1, 9))
def test_compiled_code_gives_the_same_numbers_in_the_same_order(urls: list[str], last: int, limit: int) -> None:
    pytest.importorskip("crawlproject.orderings.adaptive.url_numbers", reason="not compiled")
    found = []
    for compiled in (urlwords.url_numbers, None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(urlwords, "url_numbers", compiled)
            patch.setattr(urlwords, "_FOLDERS", 2)
            words, ids = UrlWords(ANALYZER, ["beab"]), TermIds(limit)
            found.append(([words.numbers(urls, last, ids).tolist() for _ in range(2)], ids.numbers))
    assert found[0] == found[1]
