"""A topic by file, by name and as text; anything else gives one error message."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.crawling import ROOT

from crawlproject.errors import BadTopic
from crawlproject.topic.folder import find_topic, topic_names
from crawlproject.topic.parse import load_topic

TEXT = 'name = "sun"\nkeywords = ["solar = power"]\nseeds = ["http://example.org/"]\n'


def test_by_file(tmp_path: Path) -> None:
    path = tmp_path / "sun.toml"
    path.write_text(TEXT)
    assert find_topic(str(path)) == load_topic(path)


def test_by_name() -> None:
    assert find_topic("demo") == load_topic(ROOT / "topics" / "demo.toml")
    assert set(topic_names()) == {path.stem for path in (ROOT / "topics").glob("*.toml")}


def test_a_file_wins_over_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    assert find_topic("demo").name == "sun"


def test_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = find_topic(TEXT)
    assert (topic.name, topic.keywords) == ("sun", ("solar = power",))
    (tmp_path / "page.html").write_text("<p>sun")
    monkeypatch.chdir(tmp_path)
    assert find_topic(TEXT + '[examples]\npositive = ["page.html"]\n').positive == ("page.html",)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("dmo", "topic 'dmo': expected a topic file, TOML text, or a topic of the project (demo, "),
        ("dmo", "did you mean demo?"),
        ("nowhere.toml", "nowhere.toml: cannot be read: No such file or directory"),
        ("no/where", "no/where: cannot be read: No such file or directory"),
        ("/", "/: cannot be read: Is a directory"),
        ("keywords = ", "topic, as text: line 1: not TOML"),
        ('keywords = "x"\nseeds = ["http://a.example/"]', 'name: is missing; add a line such as name = "solar"'),
        ("x" * 5000, "expected a topic file, TOML text, or a topic"),
        (f'name = "{"x" * 5000}"', "must be valid as the name of a folder"),
        ("a\0b", "expected a topic file, TOML text, or a topic"),
    ],
)
def test_what_is_none_of_these(asked: str, message: str) -> None:
    with pytest.raises(BadTopic) as wrong:
        find_topic(asked)
    assert message in str(wrong.value)


def test_by_name_out_of_a_zip(tmp_path: Path) -> None:
    """As in an egg, whose contents are no files."""
    egg = tmp_path / "project.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for path in [*(ROOT / "crawlproject").rglob("*.py"), *(ROOT / "topics").iterdir()]:
            if path.is_file():
                archive.write(path, path.relative_to(ROOT))
    code = (
        "from crawlproject.topic import folder as t; import topics\n"
        "print(topics.__file__); print(t.find_topic('demo').name, len(t.topic_names()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(egg)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [f"{egg}/topics/__init__.py", "demo", str(len(topic_names()))], done.stderr
