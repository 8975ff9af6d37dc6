"""The manifest: a crawl folder is never mistaken for that of another crawl."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from crawlproject.errors import BadCrawlDir
from crawlproject.records import Topic
from crawlproject.storage.manifest import Manifest

TOPIC = Topic("reef", ("coral reef", "polyp"), ("http://a.example/",), targets=("http://b.example/",))


def begun(folder: Path, now: float = 100.0) -> Manifest:
    manifest = Manifest(folder, TOPIC, "dom", {"alpha": 0.25})
    manifest.begin({"crawl_seed": 1}, "sample", now)
    return manifest


def found(folder: Path) -> dict:
    return json.loads((folder / "crawl.json").read_text())


def test_it_says_what_the_folder_holds(tmp_path: Path) -> None:
    manifest = begun(tmp_path)
    assert not Manifest(tmp_path / "other", TOPIC, "dom", {}).resumed
    assert found(tmp_path)["topic"]["targets"] == ["http://b.example/"]
    expected = {"ordering": "dom", "parameters": {"alpha": 0.25}, "web": "sample", "started": 100.0}
    assert found(tmp_path).items() >= {**expected, "finished": None, "reason": ""}.items()
    manifest.finish("finished", 160.0, {"history/pages": 9})
    assert found(tmp_path)["reason"] == "finished"
    assert found(tmp_path)["finished"] == 160.0
    assert found(tmp_path)["stats"] == {"history/pages": 9}


def test_a_resume_keeps_the_start_and_is_counted(tmp_path: Path) -> None:
    begun(tmp_path).finish("page budget", 160.0, {"history/pages": 9})
    for now in (200.0, 300.0):
        assert Manifest(tmp_path, TOPIC, "dom", {}).resumed
        begun(tmp_path, now)
    assert found(tmp_path)["started"] == 100.0
    assert found(tmp_path)["resumes"] == [200.0, 300.0]
    assert found(tmp_path)["reason"] == "" and found(tmp_path)["finished"] is None, "it runs again"
    assert found(tmp_path)["stats"] == {"history/pages": 9}


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", "reefs"), ("keywords", ("coral reef",)), ("seeds", ("http://a.example/", "http://c.example/"))],
)
def test_another_topic_is_refused(tmp_path: Path, field: str, value: object) -> None:
    begun(tmp_path)
    other = dataclasses.replace(TOPIC, **{field: value})
    with pytest.raises(BadCrawlDir, match=rf"{tmp_path}: .*another topic \({field} differs\).*CRAWL_DIR"):
        Manifest(tmp_path, other, "dom", {})
    assert found(tmp_path)["topic"]["name"] == "reef"


def test_what_does_not_steer_the_crawl_may_change(tmp_path: Path) -> None:
    begun(tmp_path)
    changed = dataclasses.replace(TOPIC, description="new", targets=(), settings={"CRAWL_SEED": 2})
    Manifest(tmp_path, changed, "dom", {"alpha": 0.5}).begin({"crawl_seed": 2}, "", 200.0)
    assert found(tmp_path)["parameters"] == {"alpha": 0.5}


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"version": 2}', '{"version": 1}', '{"version": 1, "topic": ["reef"]}']
)
def test_a_damaged_manifest_is_named(tmp_path: Path, damage: str) -> None:
    (tmp_path / "crawl.json").write_text(damage)
    with pytest.raises(BadCrawlDir, match=r"crawl\.json: expected the manifest of a crawl"):
        Manifest(tmp_path, TOPIC, "dom", {})


FETCHED = {"url": "http://a.example/", "status": 200, "at": 50.0, "seconds": 2.0, "parent": None, "depth": 0}


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"version": 1, "topic"', '{"reason": "finished"}', "\0" * 64])
def test_a_damaged_manifest_of_this_crawl_is_written_anew(tmp_path: Path, damage: str) -> None:
    lines = [FETCHED, {**FETCHED, "url": "http://b.example/", "at": 60.0, "parent": "http://a.example/"}]
    (tmp_path / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "crawl.json").write_text(damage)
    manifest = begun(tmp_path, 200.0)
    assert manifest.resumed and "crawl.json was damaged" in manifest.warnings[0]
    assert found(tmp_path)["topic"]["name"] == "reef"
    assert (found(tmp_path)["started"], found(tmp_path)["resumes"]) == (48.0, [200.0])
    assert (tmp_path / "crawl.json.damaged").read_text() == damage
    assert not begun(tmp_path, 300.0).warnings


@pytest.mark.parametrize(
    ("manifest", "topic"),
    [("{", dataclasses.replace(TOPIC, seeds=("http://other.example/",))), ('{"version": 2, "topic": {}}', TOPIC)],
)
def test_a_manifest_that_may_be_of_another_crawl_is_left_alone(tmp_path: Path, manifest: str, topic: Topic) -> None:
    (tmp_path / "history.jsonl").write_text(json.dumps(FETCHED) + "\n")
    (tmp_path / "crawl.json").write_text(manifest)
    with pytest.raises(BadCrawlDir, match="expected the manifest of a crawl"):
        Manifest(tmp_path, topic, "dom", {})
    assert (tmp_path / "crawl.json").read_text() == manifest
