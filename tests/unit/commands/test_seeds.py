"""`scrapy seeds`, on a folder of hosts and on an earlier crawl."""

import json
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from support.invoking import invoke

from crawlproject.commands import seeds
from crawlproject.records import Visit
from crawlproject.topic.folder import find_topic
from crawlproject.topic.parse import load_topic
from crawlproject.urls.hosts import page_path

TOPIC = """\
keywords = ["reef"]  # kept
seeds = ["http://a.example/", "http://b.example/"]
targets = ["http://target.example/index.html"]
"""
HUB = '<a href="http://a.example/">a</a> <a href="http://b.example/deep">b</a>'


@pytest.fixture
def topic(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "reef.toml"
    path.write_text(TOPIC)
    return path


@pytest.fixture
def web(tmp_path) -> Path:
    for host in ("hub.example", "target.example"):
        (tmp_path / "web" / host).mkdir(parents=True)
        (tmp_path / "web" / host / "index.html").write_text(HUB)
    return tmp_path / "web"


def test_hubs_of_a_web_become_seeds_and_targets_do_not(topic, web, capsys):
    assert invoke(seeds.SeedsCommand(), web, topic) == 0
    out = topic.with_name("reef.augmented.toml")
    printed = capsys.readouterr().out
    assert "http://hub.example/  links to 2 seed hosts: a.example, b.example" in printed and str(out) in printed
    assert load_topic(out).seeds == (*load_topic(topic).seeds, "http://hub.example/")
    assert "# kept" in out.read_text() and topic.read_text() == TOPIC


def test_hubs_of_an_earlier_crawl(topic, tmp_path, write_crawl, capsys):
    folder = write_crawl(tmp_path / "crawl")
    pairs = [("http://hub.example/", "http://a.example/"), ("http://hub.example/", "http://b.example/")]
    lines = [json.dumps({"source": source, "target": target, "anchor": ""}) for source, target in pairs]
    (folder / "links.jsonl").write_text("\n".join(lines) + "\n")
    assert invoke(seeds.SeedsCommand(), folder, topic, "--out", tmp_path / "new.toml") == 0
    assert load_topic(tmp_path / "new.toml").seeds[2:] == ("http://hub.example/",)


def test_a_topic_of_the_project_goes_by_its_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert invoke(seeds.SeedsCommand(), "sample", "demo") == 0
    assert len(load_topic("demo.augmented.toml").seeds) > len(find_topic("demo").seeds)
    assert invoke(seeds.SeedsCommand(), "sample", "dem") == 2
    assert "did you mean demo?" in capsys.readouterr().err


def test_without_a_hub_nothing_is_written(topic, web, capsys):
    assert invoke(seeds.SeedsCommand(), web, topic, "--min-hosts", "3") == 0
    assert "nothing was written" in capsys.readouterr().out
    assert not topic.with_name("reef.augmented.toml").exists()


def test_bad_input_is_one_message(topic, web, tmp_path, write_crawl, capsys):
    assert invoke(seeds.SeedsCommand(), "nowhere", topic) == 2
    assert invoke(seeds.SeedsCommand(), web, tmp_path / "no.toml") == 2
    folder = write_crawl(tmp_path / "crawl")
    (folder / "links.jsonl").write_text('{"from": 1}\n')
    assert invoke(seeds.SeedsCommand(), folder, topic) == 2
    assert capsys.readouterr().err.count("\n") == 3
    for arguments in (["one"], [web, topic, "--most", "0"], [web, topic, "--min-hosts", "0"]):
        with pytest.raises(UsageError):
            invoke(seeds.SeedsCommand(), *arguments)


def test_a_seed_that_redirects_is_known_by_both_of_its_hosts(topic, tmp_path, write_crawl, page, capsys):
    moved = Visit("http://b.example/", 301, 1.0, redirect="http://www.b.example/")
    there = page("http://www.b.example/")
    folder = write_crawl(tmp_path / "crawl", [moved, there])
    (folder / "pages" / page_path(there.md5)).parent.mkdir(parents=True)
    (folder / "pages" / page_path(there.md5)).write_text("reef")
    pairs = [("http://hub.example/", "http://a.example/"), ("http://hub.example/", "http://www.b.example/x")]
    lines = [json.dumps({"source": source, "target": target, "anchor": ""}) for source, target in pairs]
    (folder / "links.jsonl").write_text("\n".join(lines) + "\n")
    assert invoke(seeds.SeedsCommand(), folder, topic, "--out", tmp_path / "new.toml") == 0
    assert "links to 2 seed hosts: a.example, b.example" in capsys.readouterr().out


WORDS = "corals polyps algae bleaching spawning lagoons atolls divers turtles sharks"


def test_the_directory_of_the_topic_and_its_mirrors_do_not_become_seeds(topic, web, capsys):
    """003 section 6: the directory is known by its domain; a mirror by a cosine over 90% on the description's terms."""
    topic.write_text(f'description = "{WORDS}"\n{TOPIC}')
    (web / "hub.example" / "index.html").write_text(f"<p>coral reefs and divers</p> {HUB}")
    for host, text in {"mirror.example": f"{WORDS} and much that the mirror adds", "www.dmoz.example": ""}.items():
        (web / host).mkdir()
        (web / host / "index.html").write_text(f"<p>{text}</p> {HUB}")
    assert invoke(seeds.SeedsCommand(), web, topic, "--without", "other.example, dmoz.example") == 0
    assert load_topic(topic.with_name("reef.augmented.toml")).seeds[2:] == ("http://hub.example/",)
    assert invoke(seeds.SeedsCommand(), web, topic, "--without", "example") == 0
    assert "nothing was written" in capsys.readouterr().out


def test_a_folder_is_no_place_for_a_topic_file(topic, web, tmp_path, capsys):
    assert invoke(seeds.SeedsCommand(), web, topic, "--out", tmp_path) == 2
    assert capsys.readouterr().err == f"scrapy: {tmp_path}: expected the name of a file, not a folder\n"
