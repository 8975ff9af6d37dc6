"""Judged pages become examples of the topic for later crawls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.crawling import scrapy
from support.livecrawl import crawl_web
from support.webs import DictWeb

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.errors import BadInput
from crawlproject.parts.judgments.judged_examples import keep_examples
from crawlproject.parts.judgments.judgments import Judgment, add_judgment
from crawlproject.storage.page_files import PageRepository
from crawlproject.storage.read import read_visits
from crawlproject.topic.parse import load_topic
from crawlproject.webs.sample import SampleWeb

SEEDS = '["http://www.lagoon-notes.example/", "http://www.hive-handbook.example/"]'
QUICK = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "CRAWL_MAX_PAGES": 30}


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    path = tmp_path / "topics" / "reef.toml"
    path.parent.mkdir()
    path.write_text(f'keywords = ["coral reef"]\nseeds = {SEEDS}\n')
    return path


@pytest.fixture
def crawl(tmp_path: Path, topic: Path) -> Path:
    crawl_web(load_topic(topic), SampleWeb(), tmp_path / "crawl", **QUICK)
    return tmp_path / "crawl"


def judge(crawl: Path, *said: bool | None) -> list[str]:
    """Judge the first pages one after the other; return their URLs."""
    urls = [visit.url for visit in read_visits(crawl) if visit.md5][: len(said)]
    for url, relevant in zip(urls, said, strict=True):
        add_judgment(crawl, Judgment(url, relevant, 1.0))
    return urls


def test_judged_pages_are_examples_from_then_on(topic: Path, crawl: Path, tmp_path: Path) -> None:
    judge(crawl, True, False, True, True)
    kept = keep_examples(topic, crawl)
    assert (kept.relevant, kept.irrelevant, kept.lost) == (3, 1, ())
    found = load_topic(topic)
    assert len(found.positive) == 3 and len(found.negative) == 1
    assert all(Path(path).is_relative_to(topic.parent / "reef.examples") for path in found.positive)
    keep_examples(topic, crawl)  # once more changes nothing
    assert load_topic(topic) == found

    judge(crawl, False, None)  # another opinion, and one taken back: the list that is empty goes
    kept = keep_examples(topic, crawl)
    assert (kept.relevant, kept.irrelevant) == (2, 1)
    judge(crawl, None)
    assert keep_examples(topic, crawl).irrelevant == 0
    assert load_topic(topic).negative == () and len(load_topic(topic).positive) == 2


def test_an_ordering_learns_from_them(topic: Path, crawl: Path, tmp_path: Path) -> None:
    judge(crawl, True, False)
    keep_examples(topic, crawl)
    web = tmp_path / "web"
    web.mkdir()
    options = read_options({"ORDERING": "focused", "ORDERING_ARCHIVE": str(crawl)})
    learned = assemble(load_topic(topic), options, clock=lambda: 1.0, folder=tmp_path / "next")
    assert len(learned.ordering.context.positive) == len(learned.ordering.context.negative) == 1
    learned.close("shutdown", 2.0)


def test_a_page_that_is_not_stored_any_more_is_named(topic: Path, crawl: Path) -> None:
    (url, _) = judge(crawl, True, True)
    for path in (crawl / "pages").rglob("*"):
        if path.is_file() and path.read_bytes() == SampleWeb().get(url).body:
            path.unlink()
    kept = keep_examples(topic, crawl)
    assert kept.lost == (url,) and kept.relevant == 1


def test_plain_text_stays_plain_text(topic: Path, tmp_path: Path) -> None:
    seed = "http://www.lagoon-notes.example/"
    crawl_web(load_topic(topic), DictWeb({seed: SampleWeb().get(seed)}), tmp_path / "crawl", **QUICK)
    history = tmp_path / "crawl" / "history.jsonl"
    history.write_text(history.read_text().replace("text/html", "text/plain"))
    judge(tmp_path / "crawl", True)
    keep_examples(topic, tmp_path / "crawl")
    assert [Path(path).suffix for path in load_topic(topic).positive] == [".txt"]


def test_a_page_has_the_type_of_its_latest_version(topic: Path, tmp_path: Path) -> None:
    """Plain text on the first visit, kept as an example; HTML on the next."""
    seed, crawl = "http://www.lagoon-notes.example/", tmp_path / "crawl"
    crawl_web(load_topic(topic), DictWeb({seed: SampleWeb().get(seed)}), crawl, **QUICK)
    history = crawl / "history.jsonl"
    [line] = [line for line in map(json.loads, history.read_text().splitlines()) if line["md5"]]
    first = {**line, "content_type": "text/plain"}
    history.write_text(f"{json.dumps(first)}\n")
    judge(crawl, True)
    keep_examples(topic, crawl)
    history.write_text(f"{json.dumps(first)}\n{json.dumps({**line, 'number': 2, 'change': 'changed'})}\n")
    assert keep_examples(topic, crawl).relevant == 1
    folder = topic.parent / "reef.examples" / "relevant"
    assert [path.suffix for path in folder.iterdir()] == [".html"]


def test_on_the_terminal(topic: Path, crawl: Path) -> None:
    nothing = scrapy("topic", "examples", topic, crawl)
    assert nothing.returncode == 2 and "none of its pages was judged yet" in nothing.stderr
    judge(crawl, True, False)
    done = scrapy("topic", "examples", topic, crawl)
    assert (done.returncode, done.stdout) == (0, f"Examples of {topic}: 1 relevant, 1 not relevant\n")
    assert scrapy("topic", "examples", topic).returncode == 2


def test_a_topic_file_that_is_wrong_stays_as_it_is(topic: Path, crawl: Path) -> None:
    judge(crawl, True)
    text = topic.read_text() + "examples = {positive = []}\n"
    topic.write_text(text)
    with pytest.raises(BadInput, match="write by hand"):
        keep_examples(topic, crawl)
    assert topic.read_text() == text


def test_a_page_that_is_gone_is_no_example_of_the_opposite(topic: Path, crawl: Path) -> None:
    [url] = judge(crawl, True)
    keep_examples(topic, crawl)
    judge(crawl, False)
    PageRepository(crawl / "pages").path(url).unlink()
    kept = keep_examples(topic, crawl)
    assert (kept.relevant, kept.irrelevant, kept.lost) == (0, 0, (url,))
    assert load_topic(topic).positive == ()
