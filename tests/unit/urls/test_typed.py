"""URLs as people type them."""

from __future__ import annotations

import pytest

from crawlproject.topic.parse import parse_topic
from crawlproject.urls.canonical import with_scheme


@pytest.mark.parametrize(
    "text", ["reef.example", "www.reef.example/a?b#c", " reef.example:8080/", "bücher.example/ä", "a.b.c.example"]
)
def test_a_host_without_a_scheme_is_https(text: str) -> None:
    assert with_scheme(text) == f"https://{text.strip()}"


@pytest.mark.parametrize(
    "text", ["http://reef.example/", "ftp://reef.example", "a@reef.example", "...", "reef", "", "a b.example"]
)
def test_other_texts_are_what_they_are(text: str) -> None:
    assert with_scheme(text) == text


def test_seeds_of_topic_files_may_be_typed() -> None:
    topic = parse_topic('keywords = ["reef"]\nseeds = ["www.reef.example/a", "http://b.example/"]', "reef")
    assert topic.seeds == ("https://www.reef.example/a", "http://b.example/")
