"""`scrapy classify`: the loop in which a person corrects the classes of examples (paper 000 section 3.3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from support.invoking import invoke

from crawlproject.commands.classify import ClassifyCommand

EXAMPLES = {
    "sea/reef/a.html": "coral polyp atoll",
    "sea/reef/b.html": "coral polyp lagoon",
    "sea/ships/c.txt": "keel anchor mast",
    "sea/ships/d.html": "keel anchor harbour",
    "land/e.html": "steam boiler rail",
    "land/f.html": "steam boiler wheel",
}


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    for name, words in EXAMPLES.items():
        path = tmp_path / "examples" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<p>{words}")
    path = tmp_path / "sea.toml"
    path.write_text(
        'keywords = ["coral"]\nseeds = ["http://a.example/"]\n[examples]\npositive = ["examples/sea/reef"]\n'
        'negative = ["examples/sea/ships", "examples/land"]\n'
    )
    return path


def test_examples_in_the_wrong_class_are_listed_until_a_person_has_moved_them(
    topic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(ClassifyCommand(), topic) == 0
    assert capsys.readouterr().out == "0 of 6 examples may be in the wrong class.\n"
    ships, land = topic.parent / "examples" / "sea" / "ships", topic.parent / "examples" / "land"
    (land / "f.html").rename(ships / "f.html")
    (land / "g.html").write_text("<p>steam boiler")
    assert invoke(ClassifyCommand(), topic) == 0
    shown = capsys.readouterr().out
    assert f"{ships / 'f.html'}  is in sea/ships/ (other), looks like land/ (other)  P " in shown
    assert shown.endswith("1 of 7 examples may be in the wrong class.\n")


def test_pages_are_classified_and_moved(topic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new, other = tmp_path / "new.html", tmp_path / "other.html"
    new.write_text("<p>polyp lagoon atoll")
    other.write_text("<p>a harbour with an anchor")
    assert invoke(ClassifyCommand(), topic, new, other, "--move") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{new}  sea/reef/ (good)  P ") and float(first.rpartition(" ")[2]) > 0.9
    assert second.startswith(f"{other}  sea/ships/ (other)  P ") and float(second.rpartition(" ")[2]) < 0.1
    folder = topic.parent / "examples" / "sea"
    assert (folder / "reef" / "new.html").exists() and (folder / "ships" / "other.html").exists()
    new.write_text("<p>polyp lagoon atoll")
    assert invoke(ClassifyCommand(), topic, new, "--move") == 2
    assert "exists" in capsys.readouterr().err and new.exists()


def test_bad_input_is_one_message(topic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(ClassifyCommand(), topic, tmp_path / "none.html") == 2
    one_sided = tmp_path / "one.toml"
    one_sided.write_text('keywords = ["coral"]\nseeds = ["http://a.example/"]\n')
    assert invoke(ClassifyCommand(), one_sided) == 2
    assert capsys.readouterr().err.count("\n") == 2
    for arguments in ([], [topic, "--move"]):
        with pytest.raises(UsageError):
            invoke(ClassifyCommand(), *arguments)
