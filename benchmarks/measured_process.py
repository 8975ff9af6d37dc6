"""A process whose CPU time and peak memory are measured."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
USAGE = ROOT / "benchmarks" / "usage.py"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process used: user and system seconds, and its peak resident memory in MB.

    ``code`` is its exit code, negative when a signal ended it; ``overdue`` says that it was stopped for taking too long.
    """

    cpu_seconds: float
    peak_mb: float
    code: int
    overdue: bool = False


class MeasuredProcess:
    """Starts ``command`` in the project's folder; ``stop`` kills it, ``wait`` returns its usage.

    ``output`` is the text of its standard output, once it has ended. Its standard error goes to ``errors``.
    """

    def __init__(self, command: list[str], *, environment: Mapping[str, str], errors: Path) -> None:
        self.output = ""
        self._folder = TemporaryDirectory()
        self._report = Path(self._folder.name) / "usage.json"
        with errors.open("ab") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(USAGE), str(self._report), *command],
                cwd=ROOT,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )

    def stop(self) -> None:
        """Kill the command; may be called from any thread, and more than once."""
        self._process.terminate()

    def wait(self, seconds: float | None = None) -> Usage:
        """Wait until the command ends; return its usage. After ``seconds``, or if waiting is interrupted, stop it."""
        overdue = False
        try:
            self.output, _ = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            overdue = True
            self.stop()
            self.output, _ = self._process.communicate()
        except BaseException:
            self.stop()
            raise
        with self._folder:
            return Usage(**json.loads(self._report.read_text()), overdue=overdue)
