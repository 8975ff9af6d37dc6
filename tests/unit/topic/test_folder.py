"""The topics of a folder: their common settings, and the conflicts that rule out one crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlproject.errors import BadTopic
from crawlproject.topic.folder import find_topic, load_topics


def write(
    folder: Path, name: str, extra: str = "", *, keywords: str = "coral reef", seed: str = "http://a.example/"
) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(f'keywords = "{keywords}"\nseeds = ["{seed}"]\n{extra}\n')
    return path


def test_topics_of_a_folder_are_one_with_members(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder, "reefs", "weight = 2\n[crawl]\nCRAWL_MAX_PAGES = 5")
    write(
        folder,
        "bread",
        "pages = 30\n[crawl]\nTRAP_MAX_DEPTH = 9",
        keywords="bread, coral reef",
        seed="http://b.example/",
    )
    (folder / "notes.txt").write_text("no topic")
    (folder / ".draft.toml").write_text("no topic")
    topic = load_topics(folder)
    assert topic.name == "mine"
    assert [(member.name, member.weight, member.pages) for member in topic.members] == [
        ("bread", 1, 30),
        ("reefs", 2, 0),
    ]
    assert topic.keywords == ("bread", "coral reef")
    assert topic.seeds == ("http://b.example/", "http://a.example/")
    assert topic.settings == {"CRAWL_MAX_PAGES": 5, "TRAP_MAX_DEPTH": 9}
    assert find_topic(str(folder)) == topic


@pytest.mark.parametrize(
    ("first", "second", "wish"),
    [
        (
            "[crawl]\nCRAWL_MAX_PAGES = 5",
            "[crawl]\nCRAWL_MAX_PAGES = 6",
            r"crawl\.CRAWL_MAX_PAGES: 6, but .*one\.toml has 5",
        ),
        ('language = "en"', 'language = "de"', r"language: 'de', but .*one\.toml has 'en'"),
        ('name = "reefs"', 'name = "reefs"', r"name: 'reefs' is the name of the topic in .*one\.toml"),
    ],
)
def test_conflicts_name_file_and_field(tmp_path: Path, first: str, second: str, wish: str) -> None:
    write(tmp_path, "one", first)
    write(tmp_path, "two", second)
    with pytest.raises(BadTopic, match=wish) as wrong:
        load_topics(tmp_path)
    assert wrong.value.place == str(tmp_path / "two.toml")


def test_equal_settings_are_no_conflict(tmp_path: Path) -> None:
    write(tmp_path, "one", "[crawl]\nCRAWL_MAX_PAGES = 5")
    write(tmp_path, "two", "[crawl]\nCRAWL_MAX_PAGES = 5")
    assert load_topics(tmp_path).settings == {"CRAWL_MAX_PAGES": 5}


def test_a_wrong_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, "one")
    path = write(tmp_path, "two", "weight = 0")
    with pytest.raises(BadTopic, match=r"weight: 0\.0 must be a number above 0") as wrong:
        load_topics(tmp_path)
    assert wrong.value.place == str(path)


@pytest.mark.parametrize(
    "line", ["weight = -1", "weight = true", 'weight = "much"', "weight = nan", "pages = -1", "pages = 1.5"]
)
def test_weights_and_pages_are_checked(tmp_path: Path, line: str) -> None:
    write(tmp_path, "one", line)
    with pytest.raises(BadTopic, match=f"line 3, {line.split()[0]}: .*must be"):
        load_topics(tmp_path)


def test_a_folder_without_topics_or_none_at_all(tmp_path: Path) -> None:
    with pytest.raises(BadTopic, match="expected topic files in it"):
        load_topics(tmp_path)
    with pytest.raises(BadTopic, match="expected a folder of topic files"):
        load_topics(tmp_path / "nowhere")
