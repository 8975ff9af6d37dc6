"""Benchmarks leave no temporary folder behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from benchmarks import judges, probes

PAGE = "<title>Reefs</title><p>" + "Corals build reefs in warm water. " * 20 + "<a href=0.html>reefs</a>"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return place


@pytest.fixture
def web(tmp_path: Path) -> Path:
    for number in range(6):
        page = tmp_path / "web" / "a.example" / f"{number}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(PAGE)
    return tmp_path / "web"


def test_pages_that_are_probed(temporary: Path, web: Path) -> None:
    assert len(list(probes.pages_of(str(web)))) == 6
    assert not list(temporary.iterdir())


def test_judges(temporary: Path, web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topic = tmp_path / "reefs.toml"
    targets = [f"http://a.example/{number}.html" for number in range(4)]
    topic.write_text(f'keywords = ["reefs"]\nseeds = ["http://a.example/0.html"]\ntargets = {targets}\n')
    judges.main([str(web), str(topic), "--judge", "terms", "--examples", "2", "--draws", "1"])
    assert "terms 2" in capsys.readouterr().out
    assert not list(temporary.iterdir())
