"""The words of URLs."""

from __future__ import annotations

from support.pages import ANALYZER

from crawlproject.learning import urlwords
from crawlproject.learning.urlwords import UrlWords


def test_the_last_words_are_stems_without_stop_words() -> None:
    words = UrlWords(ANALYZER)
    url = "https://www.Divers.example/The-Reefs/corals2024_of_bali.html"
    expected = ANALYZER.terms("www divers example reefs corals bali html")
    assert words.of(url, 99) == expected and "https" not in expected
    assert words.of(url, 3) == expected[-3:]
    assert words.of("http://1.2/3", 8) == []


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
