"""``scrapy topic new`` and ``check``, run as a person runs them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support.crawling import ROOT, command, environment, scrapy
from support.livecrawl import crawl_web

from crawlproject.records import Topic
from crawlproject.topic.parse import load_topic
from crawlproject.webs.sample import SampleWeb

SAMPLE = {"VIRTUAL_WEB": "sample", "POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0}
SEEDS = ["http://www.nacre-divers.example/", "http://www.lagoon-notes.example/", "http://www.hobby-ring.example/"]


def test_a_topic_from_a_query_and_examples(tmp_path: Path) -> None:
    path = tmp_path / "new" / "reef.toml"
    urls = [part for url in SEEDS[:2] for part in ("--example", url)]
    done = scrapy("topic", "new", path, "--query", "Reef, atoll", *urls, "--seed", SEEDS[2], "--pages", 70, **SAMPLE)
    assert done.returncode == 0, done.stderr
    topic = load_topic(path)
    assert (topic.name, topic.keywords[:2]) == ("reef", ("Reef", "atoll"))
    assert 2 < len(topic.keywords) <= 7 and "polyps" in topic.keywords
    assert topic.seeds == (SEEDS[2], *SEEDS[:2]) and topic.positive == tuple(SEEDS[:2])
    assert topic.settings == {"CRAWL_MAX_PAGES": 70}
    assert f"scrapy crawl topical -a topic={path} -s" in done.stdout and done.stdout.count("-s VIRTUAL_WEB=sample") == 2
    wordless = scrapy("topic", "new", path.with_name("and.toml"), "--query", "the, and", "--seed", SEEDS[0])
    assert wordless.returncode == 2 and f"{path.with_name('and.toml')}: keywords: expected a word" in wordless.stderr
    assert [each.name for each in path.parent.iterdir()] == ["reef.toml"]
    path.with_name("and.toml").write_text(f'keywords = ["the"]\nseeds = ["{SEEDS[0]}"]\n')
    crawled = scrapy("crawl", "topical", "-a", f"topic={path.with_name('and.toml')}", CRAWL_DIR=tmp_path / "and")
    assert crawled.returncode == 2 and f"{path.with_name('and.toml')}: keywords: expected a word" in crawled.stderr
    again = scrapy("topic", "new", path, "--query", "x", "--seed", SEEDS[0])
    assert again.returncode == 2 and "the file exists" in again.stderr and load_topic(path) == topic


def test_a_query_alone_finds_its_seeds(tmp_path: Path) -> None:
    quick = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "CRAWL_MAX_PAGES": 40}
    everything = Topic("everything", ("coral reef",), (SEEDS[2], "http://www.open-directory.example/"))
    crawl_web(everything, SampleWeb(), tmp_path / "crawls" / "everything", **quick)
    path = tmp_path / "reef.toml"
    alone = ("topic", "new", path, "--query", "coral reefs, bleaching", "--crawls", tmp_path / "crawls")
    done = scrapy(*alone, "--seeds", 4, **SAMPLE)
    assert done.returncode == 0, done.stderr
    topic = load_topic(path)
    assert len(topic.seeds) == 4 and done.stdout.count("Seed: http://") == 4
    assert path.read_text().count(",  # everything: ") == 4
    assert (topic.keywords, topic.settings) == (("coral reefs", "bleaching"), {"CRAWL_MAX_PAGES": 1000})

    path.unlink()
    nothing = scrapy(*alone[:-1], tmp_path / "none")
    assert nothing.returncode == 2 and "if no seeds are found" in nothing.stderr and not path.exists()
    assert "none were found in earlier crawls, SEED_FILES and SEED_SEARCH_URL" in nothing.stderr


def test_a_topic_by_asking(tmp_path: Path) -> None:
    path = tmp_path / "bees.toml"
    answers = "\n...\nhoney bees, hives\nftp://a.example\nbees.example/hives\n\nde\nmany\n30\n"
    run = command("topic", "new", path, "--crawls", tmp_path)
    done = subprocess.run(run, cwd=ROOT, env=environment(), input=answers, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "name at least one word, for example: solar power" in done.stderr and "keywords = [" not in done.stderr
    topic = load_topic(path)
    assert (topic.keywords, topic.seeds) == (("honey bees", "hives"), ("https://bees.example/hives",))
    assert (topic.language, topic.settings) == ("de", {"CRAWL_MAX_PAGES": 30})
    silent = subprocess.run(
        command("topic", "new", tmp_path / "other.toml"),
        cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert silent.returncode == 2 and "standard input has ended" in silent.stderr


@pytest.fixture
def weak(tmp_path: Path) -> Path:
    path = tmp_path / "weak.toml"
    path.write_text(f'keywords = ["coral reef", "zyzzy"]\nseeds = {json.dumps([*SEEDS, "http://dead.example/"])}\n')
    return path


def test_a_check_names_what_is_weak(weak: Path) -> None:
    done = scrapy("topic", "check", weak, "--sample", 12, "--json", **SAMPLE)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert [seed["status"] for seed in found["seeds"]] == [200, 200, 200, 404]
    assert found["seeds"][0]["relevance"] > 0.1 and found["seeds"][0]["links"] > 5
    assert len(found["sample"]) == 12
    assert {(each["subject"], each["grade"]) for each in found["weaknesses"]} == {
        ("CRAWL_MAX_PAGES", "hint"),
        ("http://dead.example/", "warning"),
        (SEEDS[2], "warning"),  # a ring of hobbies
        ("keywords", "hint"),  # absent from the few pages
    }
    assert any(each["what"] == "is not a page: there is no such page (http 404)" for each in found["weaknesses"])


def test_a_host_that_does_not_exist_is_told_as_that(tmp_path: Path) -> None:
    path = tmp_path / "lost.toml"
    path.write_text('keywords = ["coral reef"]\nseeds = ["http://no-such-host.invalid/"]\n')
    done = scrapy("topic", "check", path, "--sample", 0, CRAWL_RETRY_DELAY=0.1)
    assert done.returncode == 1 and "http://no-such-host.invalid/: its host cannot be found" in done.stdout, done.stderr


def test_a_check_without_fetching(weak: Path) -> None:
    done = scrapy("topic", "check", weak, "--no-fetch", CRAWL_MAX_PAGES=10)
    assert (done.returncode, done.stdout) == (0, "weak: no weaknesses found\n")
    assert scrapy("topic", "check", weak.with_name("none.toml")).returncode == 2
