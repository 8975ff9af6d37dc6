"""`scrapy spam`: from labelled pages to a model, and a crawl with the model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from support.crawling import ROOT
from support.invoking import invoke
from support.items import a_crawl

from crawlproject.commands.spam import SpamCommand
from crawlproject.errors import BadInput
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.topic.parse import load_topic
from crawlproject.webs.sample import SampleWeb

PROSE = "<p>" + "In the harbour there is a boat that was not the boat of the island that we had seen. " * 30
TOPIC = ROOT / "topics" / "demo.toml"


def farm(number: int) -> str:
    return "".join(
        f'<li><a href="http://f{n}.example/">cheap harbour flights {n + number}</a>' for n in range(30 + number)
    )


@pytest.fixture
def labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lines = ["# page, label"]
    for number in range(24):
        for label, text in (("spam", farm(number)), ("honest", PROSE)):
            (tmp_path / f"{label}{number}.html").write_text(f"<html><body>{text}")
            lines.append(f"{label}{number}.html\t{label}")
    path = tmp_path / "labels.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_training_prints_how_good_it_is_and_writes_the_model(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model.json"
    assert invoke(SpamCommand(), TOPIC, labels, "--out", out) == 0
    header, model, weights, written = capsys.readouterr().out.splitlines()
    assert header.startswith("Trained on ") and header.endswith("of other sites:")
    assert model.split() == ["model", "precision", "1.000", "recall", "1.000"]
    assert weights.startswith("built-in weights")
    assert written == f"{out}: trained on 48 pages"
    assert json.loads(out.read_text())["weights"]["linked"] > 1


def test_pages_of_a_web(labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("a.example", farm(0)), ("b.example", PROSE)):
        (tmp_path / "web" / name).mkdir(parents=True)
        (tmp_path / "web" / name / "page.html").write_text(f"<html><body>{text}")
    lines = "http://a.example/page.html\tspam\nhttp://b.example/page.html\thonest\n"
    labels.write_text(lines, encoding="utf-8-sig")  # as a spreadsheet writes it
    assert invoke(SpamCommand(), TOPIC, labels, "--web", tmp_path / "web", "--out", tmp_path / "m.json") == 0
    assert "Too few sites to hold some out: nothing was measured." in capsys.readouterr().out
    assert invoke(SpamCommand(), TOPIC, labels) == 2
    assert "labels.tsv, line 1: expected --web, where the page is" in capsys.readouterr().err
    labels.write_text("http://c.example/\tspam\n")
    assert invoke(SpamCommand(), TOPIC, labels, "--web", tmp_path / "web") == 2
    assert "labels.tsv, line 1: expected a page that" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("spam1.html spam", "line 1: expected a page and spam or honest"),
        ("spam1.html\tmaybe", "line 1: expected a page and spam or honest"),
        ("gone.html\tspam", "line 1: gone.html cannot be read"),
        ("spam1.html\tspam", "labels.tsv: expected pages of both labels"),
    ],
)
def test_wrong_labels(labels: Path, capsys: pytest.CaptureFixture[str], line: str, error: str) -> None:
    labels.write_text(line + "\n")
    assert invoke(SpamCommand(), TOPIC, labels) == 2
    assert error in capsys.readouterr().err


def test_arguments(labels: Path) -> None:
    with pytest.raises(UsageError, match="a topic and a file of labels"):
        invoke(SpamCommand(), TOPIC)


def test_a_crawl_with_a_model(tmp_path: Path) -> None:
    """A model that classifies every page as spam shows in the history."""
    model = tmp_path / "model.json"
    model.write_text('{"format": 1, "intercept": 3.0, "weights": {}}')
    topic = replace(load_topic(TOPIC), targets=())

    def spam_of(settings: dict[str, str], name: str) -> list[float]:
        stage = Runner(SampleWeb(), lambda _: settings, pages=20, agent="tests")
        [(_, folder, _)] = stage.rehearse(topic, ["breadth_first"], tmp_path / name)
        return [json.loads(line)["spam"] for line in (folder / "history.jsonl").read_text().splitlines()]

    assert max(spam_of({}, "without")) < 0.5
    assert max(spam_of({"CRAWL_SPAM_MODEL": str(model)}, "with")) == pytest.approx(0.905)
    with pytest.raises(BadInput, match=r"setting CRAWL_SPAM_MODEL: none.json: cannot be read"):
        spam_of({"CRAWL_SPAM_MODEL": "none.json"}, "wrong")


def test_a_model_replaces_no_file_of_a_crawl(labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = a_crawl(tmp_path / "crawl")
    before = (crawl / "crawl.json").read_bytes()
    assert invoke(SpamCommand(), TOPIC, labels, "--out", crawl / "crawl.json") == 2
    assert "is for the crawl in" in capsys.readouterr().err and (crawl / "crawl.json").read_bytes() == before
    assert invoke(SpamCommand(), TOPIC, labels, "--out", tmp_path) == 2
    assert "expected the name of a file, not a folder" in capsys.readouterr().err
