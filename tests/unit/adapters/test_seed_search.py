"""Seeds for a query: from earlier crawls, from files, and from a search service over sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.httpserver import QuietHandler, listening
from support.livecrawl import crawl_web

from crawlproject.adapters.seed_search import FEW_NOTE, SeedSearch, SeedsFound
from crawlproject.configuration import read_options
from crawlproject.core.earlier_pages import coverage, idf
from crawlproject.dashboard.crawls import latest_crawls
from crawlproject.errors import BadSetting
from crawlproject.records import Topic
from crawlproject.urls.hosts import host_of
from crawlproject.webs.sample import SampleWeb

SEEDS = ("http://www.open-directory.example/", "http://www.nacre-divers.example/", "http://www.hive-handbook.example/")
QUICK = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "CRAWL_MAX_PAGES": 60}


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two earlier crawls: one of all topics, one about bees."""
    root, web = tmp_path_factory.mktemp("crawls"), SampleWeb()
    for name, words in (("all", ("coral reef", "honey bees")), ("bees", ("beehive", "honey"))):
        crawl_web(Topic(name, words, SEEDS), web, root / name, **QUICK)
    return root


def find(*keywords: str, crawls: Path | None = None, most: int = 10, **settings: object) -> SeedsFound:
    folders = latest_crawls(crawls, 50) if crawls else []
    return SeedSearch(read_options(settings), "test/1.0").find(keywords, folders, most=most)


def test_pages_of_earlier_crawls_are_seeds(crawls: Path) -> None:
    found = find("coral reefs", "bleaching", crawls=crawls, VIRTUAL_WEB="sample")
    assert 3 <= len(found.seeds) <= 10 and found.notes == ()
    assert all(seed.similarity and seed.similarity >= 0.1 and seed.source in ("all", "bees") for seed in found.seeds)
    hosts = [host_of(seed.url) for seed in found.seeds]
    assert len({*hosts}) > 5 and len({*hosts[:5]}) == 5
    assert not any("hive" in seed.url for seed in found.seeds)
    assert find("volcanic tephra", crawls=crawls, VIRTUAL_WEB="sample").seeds == ()


def test_when_few_pages_are_about_the_query_that_is_said(crawls: Path) -> None:
    found = find("coral zeppelins airships dirigibles", crawls=crawls, VIRTUAL_WEB="sample")
    assert found.seeds and found.notes == (FEW_NOTE,)


def test_operators_in_a_query_are_words(crawls: Path) -> None:
    plain = find("coral reefs", crawls=crawls, VIRTUAL_WEB="sample")
    assert find('+coral -"reefs" (', crawls=crawls, VIRTUAL_WEB="sample").seeds == plain.seeds


def test_a_crawl_that_cannot_be_read_is_noted(crawls: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "items.jsonl").write_text("{}\n")
    search = SeedSearch(read_options({"VIRTUAL_WEB": "sample"}), "test")
    found = search.find(["coral reefs"], [tmp_path / "broken", *latest_crawls(crawls, 9)])
    assert found.seeds and len(found.notes) == 1 and found.notes[0].startswith("broken: ")


def test_what_a_stranger_wrote_does_not_lead_into_the_own_network(crawls: Path, tmp_path: Path) -> None:
    assert find("coral reefs", crawls=crawls).seeds == ()  # nobody can register a name in .example
    path = tmp_path / "mine.txt"
    urls = ("http://10.0.0.1/", "http://wiki/", "http://localhost/", "https://reef.org:22/", "https://reef.org/")
    path.write_text("".join(f"{url} coral\n" for url in urls))
    assert [seed.url for seed in find("coral", SEED_FILES=str(path)).seeds] == ["https://reef.org/"]
    allowed = find("coral", SEED_FILES=str(path), CRAWL_ALLOWED_ADDRESSES="10.0.0.0/8,wiki").seeds
    assert {seed.url for seed in allowed} == {"https://reef.org/", "http://10.0.0.1/", "http://wiki/"}


@contextmanager
def service(status: int, body: bytes) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with listening(Handler) as port:
        yield f"http://127.0.0.1:{port}/search?q={{query}}&format=json", asked


def test_a_search_service_is_asked(tmp_path: Path) -> None:
    results = [
        {"url": "https://Reef.org/a#top", "title": " All about\nreefs ", "content": "x", "engine": "y"},
        {"url": "http://127.0.0.1:9/admin", "title": "of this machine"},
        {"url": "ftp://reef.org/", "title": "no page"},
        {"title": "no URL"},
        "no object",
        {"url": "https://reef.org/b"},
    ]
    mine = tmp_path / "mine.txt"
    mine.write_text("https://corals.net/ coral\n")
    with service(200, json.dumps({"query": "x", "results": results}).encode()) as (url, asked):
        found = find("coral reefs", "50% & more", SEED_SEARCH_URL=url, SEED_FILES=str(mine))
    assert parse_qs(urlsplit(asked[0]).query)["q"] == ["coral reefs 50% & more"]
    assert [(seed.url, seed.title, seed.source) for seed in found.seeds] == [
        ("https://corals.net/", "coral", "mine.txt"),
        ("https://reef.org/a", "All about reefs", "127.0.0.1"),
        ("https://reef.org/b", "https://reef.org/b", "127.0.0.1"),
    ]
    assert found.notes == ("1 page left out: in your own network, or on hosts that do not exist",)


@pytest.mark.parametrize(
    ("status", "body", "note"),
    [
        (403, b"forbidden", "status 403; is JSON allowed there?"),
        (200, b"<html>", "expected JSON such as"),
        (200, b'{"hits": []}', "expected JSON such as"),
        (200, b"[]", "expected JSON such as"),
        (200, b" " * 5_000_000, "expected at most"),
    ],
)
def test_a_service_that_fails_is_noted(status: int, body: bytes, note: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("https://corals.net/ coral\n")
    with service(status, body) as (url, _):
        found = find("coral", SEED_SEARCH_URL=url, SEED_FILES=str(mine))
    assert len(found.seeds) == 1 and note in found.notes[0]


def test_a_service_that_is_not_there_is_noted() -> None:
    found = find("coral", SEED_SEARCH_URL="http://127.0.0.1:9/?q={query}")
    assert found.seeds == () and "no answer" in found.notes[0]


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "file:///etc/passwd?{query}", "{query}"])
def test_a_wrong_address_is_refused(url: str) -> None:
    with pytest.raises(BadSetting, match="SEED_SEARCH_URL"):
        find("coral", SEED_SEARCH_URL=url)


@given(st.dictionaries(st.sampled_from("abcde"), st.tuples(st.integers(0, 90), st.booleans()), min_size=1))
def test_coverage_is_a_share_to_which_rare_words_add_more(words: dict[str, tuple[int, bool]]) -> None:
    weights = {word: idf(90, on) for word, (on, _) in words.items()}
    there = {word: 1 for word, (_, holds) in words.items() if holds}
    assert all(weight > 0 for weight in weights.values()) and idf(90, 3) > idf(90, 4)
    assert 0 <= coverage(weights, there) <= 1.000001
    assert coverage(weights, {}) == 0 and coverage(weights, dict.fromkeys(words, 1)) == pytest.approx(1)
