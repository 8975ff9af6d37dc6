"""Run the project's commands as a person does, one process for each crawl."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import warm

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 900.0  # seconds; no command takes that long, not even on a machine ten times slower
QUICK = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "CRAWL_PROGRESS_SECONDS": 0, "LOG_LEVEL": "WARNING"}


def command(*arguments: object, **settings: object) -> list[str]:
    """``scrapy ARGUMENTS -s NAME=VALUE ...`` as a list."""
    chosen = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    return [sys.executable, "-m", "scrapy", *map(str, arguments), *chosen]


def environment(port: int | None = None) -> dict[str, str]:
    """The environment of a crawl; with ``port``, all its requests go to the proxy on that port."""
    inherited = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    proxy = f"http://127.0.0.1:{port}"
    return inherited | ({"http_proxy": proxy, "https_proxy": proxy} if port else {})


def scrapy(*arguments: object, port: int | None = None, timeout: float = PATIENCE, **settings: object):
    """Run a command to its end; return the finished process with its output as text."""
    return warm.run(command(*arguments, **settings)[3:], ROOT, environment(port), timeout)


def topical(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``topical ARGUMENTS`` to its end."""
    return warm.run(list(map(str, arguments)), ROOT, environment(), PATIENCE, program="topical")


def crawl(
    topic: Path,
    folder: Path,
    *,
    port: int | None = None,
    ordering: str = "dom",
    timeout: float = PATIENCE,
    **settings: object,
):
    """Run ``scrapy crawl topical``, without politeness unless the settings ask for it."""
    chosen = {**QUICK, "CRAWL_DIR": folder, **settings}
    arguments = ("crawl", "topical", "-a", f"topic={topic}", "-a", f"ordering={ordering}")
    return scrapy(*arguments, port=port, timeout=timeout, **chosen)


def start(*arguments: object, port: int | None = None, **settings: object) -> warm.Started:
    """Start a command without waiting for its end."""
    return warm.Started(command(*arguments, **settings)[3:], ROOT, environment(port))


def start_anew(*arguments: object, port: int | None = None, **settings: object) -> subprocess.Popen[bytes]:
    """Like ``start``, but in a new interpreter with another hash seed; the output is discarded."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        command(*arguments, **settings), cwd=ROOT, env=environment(port), stdout=quiet, stderr=quiet
    )


def kill_after_growth(
    folder: Path,
    lines: int,
    settings: dict[str, object],
    port: int,
    topic: Path,
    begin: Callable[..., warm.Started | subprocess.Popen[bytes]] = start,
    named: str = "topic",
) -> None:
    """Start the crawl and kill it when its history has grown by ``lines`` lines (or it ended before)."""
    path = folder / "history.jsonl"
    before = path.read_bytes().count(b"\n") if path.exists() else 0
    with begin("crawl", "topical", "-a", f"{named}={topic}", port=port, **settings) as process:
        while process.poll() is None:
            if path.exists() and path.read_bytes().count(b"\n") >= before + lines:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.005)


def topic_file(folder: Path, *seeds: str, keywords: str = "coral reef", extra: str = "") -> Path:
    """Write a topic file."""
    path = folder / "topic.toml"
    path.write_text(f"keywords = {json.dumps(keywords)}\nseeds = {json.dumps(list(seeds))}\n{extra}")
    return path


def history(folder: Path) -> list[dict[str, Any]]:
    """The lines of ``history.jsonl``, without an incomplete last line."""
    *lines, _ = (folder / "history.jsonl").read_text().split("\n")
    return list(map(json.loads, lines))


def stored(folder: Path) -> set[str]:
    """The URLs of the stored pages."""
    return {line["url"] for line in history(folder) if line["md5"]}


def refusals(folder: Path) -> dict[str, int]:
    """Refused links by reason."""
    return json.loads((folder / "refused.json").read_text())["counts"]
