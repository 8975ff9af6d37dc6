"""The processes of one crawl, and the state of its folder between them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.chaos.forked import Forked
from benchmarks.chaos.web import PORTAL

ROOT = Path(__file__).resolve().parents[2]
CONCURRENT = 8
DELAY = 0.06
TIMEOUT = 3.0
PATIENCE = 60.0  # seconds that a process has to end
_SHIFTED = "import time\n_true = time.time\ntime.time = lambda: _true() + {seconds}\n"
_WORD = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b")

Process = Forked | subprocess.Popen[bytes]


@dataclass
class Crawler:
    """A crawl in ``folder / "crawl"`` of one worker, or of several that share a Redis."""

    folder: Path
    port: int
    settings: dict[str, object]
    ordering: str
    names: list[str] = field(default_factory=lambda: ["w0"])
    shifts: dict[str, float] = field(default_factory=dict)  # seconds by which the clock of a worker is ahead
    own: dict[str, dict[str, object]] = field(default_factory=dict)  # settings of a worker
    limits: str = ""  # of the shell that starts it

    def __post_init__(self) -> None:
        self.running: dict[str, Process] = {}
        self._topic = self.folder / "topic.toml"
        self._topic.write_text(f'name = "chaos"\nkeywords = "coral reef"\nseeds = ["{PORTAL}"]\n')
        self.log = self.folder / "messages"
        self.log.touch()

    # ------------------------------------------------------------ processes

    def start(self, name: str = "w0") -> Process:
        settings = {
            "CRAWL_DIR": self.folder / "crawl",
            "CRAWL_WORKER": name,
            "CONCURRENT_REQUESTS": CONCURRENT,
            "POLITENESS_MIN_DELAY": DELAY,
            "POLITENESS_FACTOR": 0,
            "DOWNLOAD_TIMEOUT": TIMEOUT,
            "CRAWL_PROGRESS_SECONDS": 0,
            "LOG_LEVEL": "WARNING",
            **self.settings,
            **self.own.get(name, {}),
        }
        chosen = [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]
        arguments = ["crawl", "topical", "-a", f"topic={self._topic}", "-a", f"ordering={self.ordering}"]
        proxy = f"http://127.0.0.1:{self.port}"
        environment = {**os.environ, "http_proxy": proxy, "https_proxy": proxy}
        shift = self.shifts.get(name)
        if not shift and not self.limits:
            self.running[name] = Forked([*arguments, *chosen], ROOT, environment, self.log)
            return self.running[name]
        command = [sys.executable, "-m", "scrapy", *arguments, *chosen]
        if shift:
            place = self.folder / f"clock of {name}"
            place.mkdir(exist_ok=True)
            (place / "sitecustomize.py").write_text(_SHIFTED.format(seconds=shift))
            environment["PYTHONPATH"] = str(place)
        if self.limits:
            command = ["sh", "-c", f'{self.limits}; exec "$@"', "sh", *command]
        with self.log.open("ab") as log:
            self.running[name] = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        return self.running[name]

    def kill(self, name: str) -> None:
        self.running[name].send_signal(signal.SIGKILL)
        self.running[name].wait()

    def kill_all(self) -> None:
        for name, process in self.running.items():
            if process.poll() is None:
                self.kill(name)

    def reach(self, lines: int) -> bool:
        """Wait until the histories have ``lines`` lines; return False if the crawl ended before."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if sum(path.read_bytes().count(b"\n") for path in self._files("history.jsonl")) >= lines:
                return True
            if all(process.poll() is not None for process in self.running.values()):
                return False
            time.sleep(0.004)
        raise TimeoutError(f"no {lines} lines after {PATIENCE:.0f} s")

    def wait(self) -> list[int]:
        """Wait for all processes and return their exit codes; a process that does not end is killed."""
        end = time.monotonic() + PATIENCE
        codes = []
        for name, process in self.running.items():
            try:
                codes.append(process.wait(max(0.1, end - time.monotonic())))
            except subprocess.TimeoutExpired:
                self.kill(name)
                codes.append(-signal.SIGALRM)
        return codes

    # ------------------------------------------------------------ the folder

    @property
    def folders(self) -> list[Path]:
        crawl = self.folder / "crawl"
        return [crawl / "workers" / name for name in self.names] if self.settings["FRONTIER"] == "redis" else [crawl]

    def _files(self, name: str) -> Iterator[Path]:
        return (path for folder in self.folders if (path := folder / name).exists())

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The readable lines of all workers."""
        found = []
        for path in self._files(name):
            for line in path.read_bytes().split(b"\n")[:-1]:
                try:
                    found.append(json.loads(line))
                except ValueError:  # damaged; a resume keeps only the lines before a zero byte
                    if b"\0" in line:
                        break
        return found

    def said(self, since: int = 0) -> list[str]:
        """Warnings and errors after the first ``since`` bytes of the messages, and the last line of each refusal."""
        text = self.log.read_bytes()[since:].decode("utf-8", "replace").splitlines()
        return [line for line in text if _WORD.search(line) or str(self.folder) in line or "rror:" in line]

    def follow_advice(self, since: int) -> str:
        """Follow the advice of a refused resume (remove a line, a file, the frontier). Empty if it gave no advice."""
        said = " ".join(self.log.read_bytes()[since:].decode("utf-8", "replace").split())
        for folder in self.folders:
            place = re.search(rf"({re.escape(str(folder))}/[\w./-]*\w)(?:, (?:line|byte) (\d+))?", said)
            if not place:
                continue
            path, number = Path(place[1]), int(place[2] or 0)
            if "remove the line" in said and number:
                lines = path.read_bytes().split(b"\n")
                path.write_bytes(b"\n".join(lines[: number - 1] + lines[number:]))
                return f"removed line {number} of {path.name}"
            if path.is_relative_to(folder / "frontier") and "remove" in said:
                shutil.rmtree(folder / "frontier")
                return "removed frontier/"
            if "remove" in said and path.is_file():
                path.unlink()
                return f"removed {path.name}"
        return ""
