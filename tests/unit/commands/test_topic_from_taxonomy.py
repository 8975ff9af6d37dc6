"""`scrapy topic from-taxonomy`: topics with seeds and targets from a web directory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.invoking import invoke

from crawlproject.commands.topic import TopicCommand
from crawlproject.topic.parse import load_topic

PAGES = [f"http://page{number}.example/" for number in range(6)]


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    links = [{"url": url, "description": f"Balloons, volume {number}."} for number, url in enumerate(PAGES)]
    children = [{"name": "Ballooning Clubs", "links": links}, {"name": "Kites", "links": PAGES[:2]}]
    path = tmp_path / "directory.json"
    path.write_text(json.dumps({"name": "Recreation", "children": children}))
    return path


def test_each_category_with_pages_enough_becomes_a_topic(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert invoke(TopicCommand(), "from-taxonomy", dump, "--out", out, "--least", "3", "--seeds", "2") == 0
    assert [path.name for path in out.iterdir()] == ["ballooning-clubs.toml"]
    assert "2 seeds, 4 targets" in capsys.readouterr().out
    topic = load_topic(out / "ballooning-clubs.toml")
    assert (topic.keywords, len(topic.seeds)) == (("Ballooning Clubs",), 2)
    assert sorted((*topic.seeds, *topic.targets)) == PAGES
    assert topic.description.startswith("Balloons, volume 0. Balloons, volume 1.")
    assert invoke(TopicCommand(), "from-taxonomy", dump, "--out", out, "--least", "3") == 2, "nothing is overwritten"


def test_categories_of_one_name_are_topics_of_their_own(tmp_path: Path) -> None:
    clubs = {"name": "Ballooning", "children": [{"name": "Clubs", "links": PAGES}]}
    nameless = {"name": "+++", "links": PAGES}
    parts = [{"name": "Sport", "children": [clubs]}, nameless, {"name": "Science", "children": [clubs]}]
    (tmp_path / "twins.json").write_text(json.dumps(parts))
    out = tmp_path / "out"
    assert invoke(TopicCommand(), "from-taxonomy", tmp_path / "twins.json", "--out", out, "--least", "3") == 0
    names = ["ballooning-clubs", "ballooning-clubs-2"]
    assert [load_topic(out / f"{name}.toml").name for name in names] == names
    assert len(list(out.iterdir())) == 2, "a name without a word is none for a topic"


def test_a_folder_that_is_a_file_is_one_message(dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(TopicCommand(), "from-taxonomy", dump, "--out", dump, "--least", "3") == 3
    new = ("new", dump / "reef.toml", "--query", "reef", "--seed", "http://a.example/")
    assert invoke(TopicCommand(), *new) == 3
    assert capsys.readouterr().err.count("cannot write") == 2


def test_neighbours_are_seeds_at_a_distance(dump: Path, tmp_path: Path) -> None:
    web = tmp_path / "web"
    for host, target in {"near.example": PAGES[0], "far.example": "http://near.example/", "off.example": "x"}.items():
        (web / host).mkdir(parents=True)
        (web / host / "index.html").write_text(f'<a href="{target}">x</a>')
    out = tmp_path / "out"
    assert invoke(TopicCommand(), "from-taxonomy", dump, "--out", out, "--least", "3", "--neighbours", web) == 0
    far = load_topic(out / "ballooning-clubs.far.toml")
    assert far.seeds == ("http://far.example/", "http://near.example/") and sorted(far.targets) == PAGES


def test_a_directory_without_such_categories_is_one_message(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(TopicCommand(), "from-taxonomy", dump) == 2
    assert invoke(TopicCommand(), "from-taxonomy", dump, "--least", "1", "--ending", "Companies, Makers") == 2
    assert capsys.readouterr().err.count("\n") == 2
