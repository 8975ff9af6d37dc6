"""A part in a separate package, as in docs/parts.md, takes part in a crawl once it is installed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.crawling import PATIENCE, QUICK, ROOT, command, environment, refusals
from support.markdown import doc, fences

NAME = "shallow"
TOPIC = ROOT / "topics" / "demo.toml"


def crawl(folder: Path, path: str, **more: object) -> subprocess.CompletedProcess[str]:
    """A crawl of the sample web in a new interpreter, which also finds packages on ``path``."""
    settings = {**QUICK, "VIRTUAL_WEB": "sample", "CRAWL_DIR": folder, "CRAWL_MAX_PAGES": 60, **more}
    started = command("crawl", "topical", "-a", f"topic={TOPIC}", **settings)
    found = os.pathsep.join(filter(None, (path, environment().get("PYTHONPATH", ""))))
    run = {"cwd": ROOT, "env": {**environment(), "PYTHONPATH": found}, "timeout": PATIENCE}
    return subprocess.run(started, capture_output=True, text=True, check=False, **run)  # type: ignore[call-overload]


def install(folder: Path) -> None:
    """Write the files that ``pip install`` creates for the package of the recipe."""
    code, options, *_ = fences(doc("parts.md"), "python")
    declared, *_ = fences(doc("parts.md"), "ini")
    (folder / NAME).mkdir(parents=True)
    (folder / NAME / "part.py").write_text(code)
    (folder / NAME / "options.py").write_text(options)
    info = folder / f"{NAME}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(declared.replace("project.entry-points.", "").replace('"', ""))


@pytest.mark.slow
def test_an_installed_part_is_asked(tmp_path: Path) -> None:
    install(tmp_path / "site")
    without = crawl(tmp_path / "without", "")
    assert without.returncode == 0, without.stderr
    assert "shallow/deep" not in refusals(tmp_path / "without")
    ended = crawl(tmp_path / "with", str(tmp_path / "site"))
    assert ended.returncode == 0, ended.stderr
    refused = refusals(tmp_path / "with")["shallow/deep"]
    counters = json.loads((tmp_path / "with" / "crawl.json").read_text())["stats"]
    assert refused > 0 and counters["shallow/pages"] == 60


@pytest.mark.slow
def test_it_has_settings_of_its_own(tmp_path: Path) -> None:
    install(tmp_path / "site")
    ended = crawl(tmp_path / "deep", str(tmp_path / "site"), SHALLOW_FOLDERS=9)
    assert ended.returncode == 0, ended.stderr
    assert "shallow/deep" not in refusals(tmp_path / "deep")
    assert json.loads((tmp_path / "deep" / "crawl.json").read_text())["settings"]["shallow_folders"] == 9
    wrong = crawl(tmp_path / "wrong", str(tmp_path / "site"), SHALLOW_FOLDERS=-1)
    assert wrong.returncode == 2 and "setting SHALLOW_FOLDERS: " in wrong.stderr and "Traceback" not in wrong.stderr
