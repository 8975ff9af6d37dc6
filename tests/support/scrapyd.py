"""A real Scrapyd on loopback in a separate folder, and the API calls that a user makes."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

from support.crawling import ROOT, environment

PROJECT = "topical"
PACKAGES = ("crawlproject", "spiders", "middlewares", "pipelines", "topics")
BUILD = (
    "Makefile",
    "README.md",
    "pyproject.toml",
    "requirements.txt",
    "requirements-dev.txt",
    "scrapy.cfg",
    "setup.py",
)
CONFIG = """
[scrapyd]
http_port = {port}
poll_interval = 0.2
max_proc = 2
logs_dir = logs
items_dir = items
jobs_dir = jobs
jobs_to_keep = 100
"""
_direct = build_opener(ProxyHandler({}))


class Scrapyd:
    """Its folder and its address."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}/"

    def get(self, call: str, **fields: str) -> dict[str, Any]:
        return self._ask(f"{call}.json?{urlencode(fields)}", None)

    def post(self, call: str, *settings: str, **fields: str) -> dict[str, Any]:
        """Call the API by POST; each of ``settings`` is ``NAME=VALUE``."""
        pairs = [*fields.items(), *(("setting", setting) for setting in settings)]
        return self._ask(f"{call}.json", urlencode([("project", PROJECT), *pairs]).encode())

    def schedule(self, topic: str, *settings: str) -> str:
        """Schedule a crawl; return the ID of the new job."""
        answer = self.post("schedule", *settings, spider="topical", topic=topic)
        assert answer["status"] == "ok", answer
        return answer["jobid"]

    def wait_until(self, state: str, job: str, seconds: float = 90.0) -> None:
        deadline = time.monotonic() + seconds
        while (found := self.get("status", job=job)["currstate"]) != state:
            assert time.monotonic() < deadline, f"job {job} is {found}, not {state}: {self.log(job)}"
            time.sleep(0.05)

    def log(self, job: str) -> str:
        path = self.folder / "logs" / PROJECT / "topical" / f"{job}.log"
        return path.read_text() if path.exists() else ""

    def items(self, job: str) -> list[dict[str, Any]]:
        path = self.folder / "items" / PROJECT / "topical" / f"{job}.jl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def crawl_folder(self, topic: str) -> Path:
        return self.folder / "jobs" / PROJECT / "topical" / "crawls" / topic

    def _ask(self, call: str, body: bytes | None) -> dict[str, Any]:
        with _direct.open(self.url + call, data=body, timeout=900) as answer:
            return json.loads(answer.read())


@contextmanager
def running_scrapyd(folder: Path) -> Iterator[Scrapyd]:
    """Run Scrapyd from ``folder``, which contains nothing of the project."""
    folder.mkdir()
    port = free_port()
    (folder / "scrapyd.conf").write_text(CONFIG.format(port=port))
    environ = {**_environ(), "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    arguments = [sys.executable, "-W", "ignore", "-m", "scrapyd"]
    with (folder / "scrapyd.log").open("wb") as log:
        process = subprocess.Popen(arguments, cwd=folder, env=environ, stdout=log, stderr=subprocess.STDOUT)
    try:
        server = Scrapyd(folder, port)
        _wait_for(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(30)


def make_deploy(server: Scrapyd, tree: Path) -> subprocess.CompletedProcess[str]:
    """Run ``make deploy`` in a copy of the project, with the environment of the tests instead of a new one."""
    tree.mkdir()
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in BUILD:
        shutil.copy(ROOT / name, tree / name)
    installed = ".venv/.installed-dev"
    given = [f"SCRAPYD_URL={server.url}", f"BIN={Path(sys.executable).parent}"]
    return subprocess.run(
        ["make", "-o", installed, "deploy", *given],
        cwd=tree,
        env=_environ(),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def _environ() -> dict[str, str]:
    """The environment without proxies and without variables that lead Python or Scrapy to the project."""
    return {name: value for name, value in environment().items() if not re.match("PYTHONPATH|SCRAPY|MAKE", name)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(server: Scrapyd, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            assert server.get("daemonstatus")["status"] == "ok"
            return
        except OSError as refused:
            told = (server.folder / "scrapyd.log").read_text()
            assert process.poll() is None and time.monotonic() < deadline, f"{refused}\n{told}"
            time.sleep(0.1)
