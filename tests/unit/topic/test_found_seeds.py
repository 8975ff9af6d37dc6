"""Seeds for a query from the user's files; and the choice among seeds of several sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadInput
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.topic.found_seeds import FoundSeed, choose_seeds, read_seed_file
from crawlproject.urls.hosts import host_of

JUDGE = TopicJudge(["coral reefs", "bleaching"], Analyzer("en"))


def found(path: Path, text: str) -> list[tuple[str, str]]:
    path.write_text(text, encoding="utf-8")
    return [(seed.url, seed.title) for seed in read_seed_file(path, JUDGE)]


def test_lines_that_share_a_word_with_the_query_are_ranked(tmp_path: Path) -> None:
    text = (
        "# my pages\n\nhttps://bread.example/  sourdough\n"
        "www.sea.org/ reefs, fish, sharks, boats and whales\n"
        "http://a.example/coral-reef\thand-made notes\nhttp://b.example/ Coral bleaching\n"
    )
    assert found(tmp_path / "mine.txt", text) == [
        ("http://b.example/", "Coral bleaching"),
        ("http://a.example/coral-reef", "hand-made notes"),
        ("https://www.sea.org/", "reefs, fish, sharks, boats and whales"),
    ]


def test_bookmarks_are_read(tmp_path: Path) -> None:
    text = (
        '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><H3>Sea</H3><DL><p><DT><A HREF="http://a.example/x" '
        'ADD_DATE="1">Bleaching of corals</A><DT><A HREF="http://b.example/">Bread</A><DT><A HREF="place:sort=8">Coral</A>'
        "</DL></DL>"
    )
    assert found(tmp_path / "bookmarks.html", text) == [("http://a.example/x", "Bleaching of corals")]


def test_topic_files_give_their_seeds(tmp_path: Path) -> None:
    text = 'keywords = ["reef fish"]\nseeds = ["http://a.example/", "http://b.example/"]\n'
    assert found(tmp_path / "fish.toml", text) == [("http://a.example/", "fish"), ("http://b.example/", "fish")]
    assert found(tmp_path / "bread.toml", text.replace("reef fish", "bread")) == []


@pytest.mark.parametrize("text", ["coral reefs\n", "http://a.example/ coral\njavascript:alert(1) coral\n"])
def test_a_line_without_a_url_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match=rf"mine.txt, line {text.count(chr(10))}: expected a URL"):
        found(tmp_path / "mine.txt", text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"SEED_FILES.*none.txt: cannot be read"):
        read_seed_file(tmp_path / "none.txt", JUDGE)


def seed(url: str, source: str = "") -> FoundSeed:
    return FoundSeed(url, "", source)


def test_sources_and_hosts_take_turns() -> None:
    mine = [seed("http://a.example/1", "mine"), seed("http://a.example/2", "mine"), seed("http://a.example/3", "mine")]
    other = [seed("http://b.example/1"), seed("http://a.example/1"), seed("http://c.example/1")]
    chosen = [one.url for one in choose_seeds([mine, other], 4)]
    assert chosen == ["http://a.example/1", "http://b.example/1", "http://c.example/1", "http://a.example/2"]
    assert choose_seeds([mine, other])[0].source == "mine"


URLS = st.builds("http://{}.example/{}".format, st.sampled_from("abcd"), st.integers(0, 5))


@given(st.lists(st.lists(URLS.map(seed), max_size=12), max_size=3), st.integers(0, 12))
def test_as_many_as_there_are_each_once_and_no_host_has_two_more_than_one_that_waits(
    sources: list[list[FoundSeed]], most: int
) -> None:
    offered = {one.url for source in sources for one in source}
    chosen = [one.url for one in choose_seeds(sources, most)]
    assert len(chosen) == len(set(chosen)) == min(most, len(offered)) and set(chosen) <= offered
    hosts = [host_of(url) for url in chosen]
    for waiting in {host_of(url) for url in offered - set(chosen)}:
        assert all(hosts.count(host) <= hosts.count(waiting) + 1 for host in hosts)
