"""Commands in processes forked from one that has imported everything: a fork costs milliseconds, the imports a second.

The parent imports the modules and never runs them, so a command starts as after ``python -m scrapy``: no reactor, no logging.
Where a test needs a new interpreter (a kill, a hash seed), ``crawling.command`` gives the command line of one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_PRELOAD = ("scrapy.cmdline", "scrapy.crawler", "scrapy.core.downloader.contextfactory", "aiohttp", "numpy", "orjson")
_OURS = ("crawlproject", "spiders", "middlewares", "pipelines")
_lock = threading.Lock()


def run(
    arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """``scrapy ARGUMENTS`` to its end, its output as text. Raises ``subprocess.TimeoutExpired``. One at a time."""
    with tempfile.TemporaryDirectory() as folder, _lock:
        out, err = Path(folder, "out"), Path(folder, "err")
        wish = {"arguments": list(arguments), "cwd": str(cwd), "environment": dict(environment), "timeout": timeout}
        parent = _parent()
        assert parent.stdin and parent.stdout
        parent.stdin.write(json.dumps(wish | {"out": str(out), "err": str(err)}).encode() + b"\n")
        parent.stdin.flush()
        answer = parent.stdout.readline()
        if not answer:
            raise RuntimeError("the process that commands are forked from has died")
        code = json.loads(answer)
        if code is None:
            raise subprocess.TimeoutExpired(list(arguments), timeout, out.read_bytes(), err.read_bytes())
        return subprocess.CompletedProcess(list(arguments), code, out.read_text(), err.read_text())


@cache
def _parent() -> subprocess.Popen[bytes]:
    """Lives as long as this process: it ends when its input does."""
    return subprocess.Popen(
        [sys.executable, __file__], cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_quiet(os.environ)
    )


def _quiet(environment: Mapping[str, str]) -> dict[str, str]:
    """Without threads of numerical libraries, which a fork does not carry over."""
    return {**environment, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _serve() -> None:
    sys.path[0] = str(_ROOT)
    _import_all()
    wishes, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=0)
    for line in iter(wishes.readline, b""):
        wish = json.loads(line)
        child = os.fork()
        if child == 0:
            _command(wish)
        answers.write(json.dumps(_wait(child, wish["timeout"])).encode() + b"\n")


def _import_all() -> None:
    from importlib import import_module
    from pkgutil import walk_packages

    for name in (*_PRELOAD, *_OURS):
        import_module(name)
    for package in _OURS:
        for module in walk_packages(sys.modules[package].__path__, f"{package}."):
            if not module.name.endswith(("__main__", ".agent_server")):  # only `scrapy mcp` needs that, and its package
                import_module(module.name)
    assert "twisted.internet.reactor" not in sys.modules


def _command(wish: dict) -> None:
    """Become the command: its folder, environment and files, then what ``python -m scrapy`` does."""
    code: object = 1
    try:
        os.setsid()
        os.chdir(wish["cwd"])
        os.environ.clear()
        os.environ.update(wish["environment"])
        for number, mode, path in (
            (0, os.O_RDONLY, os.devnull),
            *((n + 1, os.O_WRONLY | os.O_CREAT, wish[p]) for n, p in enumerate(("out", "err"))),
        ):
            file = os.open(path, mode, 0o600)
            os.dup2(file, number)
        sys.path[0] = wish["cwd"]
        sys.argv = ["scrapy", *wish["arguments"]]
        from scrapy.cmdline import execute

        execute()
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _wait(child: int, timeout: float) -> int | None:
    """The exit code, negative for a signal; None when the time was up."""
    end = time.monotonic() + timeout
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.005)


if __name__ == "__main__":
    _serve()
