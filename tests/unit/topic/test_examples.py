"""The examples of a topic: files from the disk, URLs from stored pages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from crawlproject.configuration import read_options
from crawlproject.core.reading import make_reader
from crawlproject.errors import BadTopic
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Page, Topic
from crawlproject.topic.examples import ExampleReader, Lookup
from crawlproject.urls.canonical import make_canonicalizer

REEF = "http://reef.example/"


def reader(lookups: Iterable[Lookup] = ()) -> ExampleReader:
    options, analyzer = read_options({}), Analyzer("en")
    canonicalize = make_canonicalizer(options)
    judge = TopicJudge(["coral reef"], analyzer)
    return ExampleReader(make_reader(options, analyzer, canonicalize), judge, canonicalize, lookups)


def topic(*positive: str, negative: Iterable[str] = ()) -> Topic:
    return Topic("reef", ("coral reef",), (REEF,), positive=positive, negative=tuple(negative))


def test_a_file_is_read_and_judged(tmp_path: Path) -> None:
    (tmp_path / "on.html").write_text("<title>Reefs</title><p>The <b>coral</b> reef.<a href='/x'>more</a>")
    (tmp_path / "off.txt").write_text("a < b, said the steam engine")
    asked = topic(str(tmp_path / "on.html"), negative=[str(tmp_path / "off.txt")])
    [on], [off] = reader().positive(asked), reader().negative(asked)
    assert on.title == "Reefs" and on.relevance > 0.5 and on.url.endswith("/on.html")
    assert off.text == "a < b, said the steam engine" and off.relevance == 0


def test_a_url_is_looked_up_in_turn_in_its_canonical_spelling() -> None:
    asked: list[str] = []

    def first(url: str) -> Page | None:
        asked.append(url)
        return None

    found = reader([first, lambda url: Page(url, title="found")]).positive(topic("http://REEF.example/index.html"))
    assert asked == [REEF]
    assert [page.title for page in found] == ["found"]


def test_an_entry_that_is_nowhere_is_reported_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(BadTopic, match=r"examples\.positive\[0\]: http://reef\.example/ is neither in .*name its file"):
        reader([lambda url: None]).positive(topic(REEF))
    with pytest.raises(BadTopic, match=r"examples\.negative\[0\]: .*gone.html' cannot be read"):
        reader().negative(topic(negative=[str(tmp_path / "gone.html")]))
