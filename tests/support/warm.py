"""Commands in processes forked from one that has imported everything: a fork costs milliseconds, the imports two seconds.

The parent imports the modules and never runs them, so a command starts as after ``python -m scrapy``: no reactor, no logging.
Where a test needs a new interpreter (another hash seed after a kill), ``crawling.command`` gives the command line of one.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_PRELOAD = ("scrapy.cmdline", "scrapy.crawler", "scrapy.core.downloader.contextfactory", "aiohttp", "numpy", "orjson")
_OURS = ("crawlproject", "spiders", "middlewares", "pipelines")
_OUTPUT = ("out", "err")
_DEAD = "the process that commands are forked from has died"
_lock = threading.Lock()
_parents: dict[Path, subprocess.Popen[bytes]] = {}  # by the folder of the packages


class Started:
    """``scrapy ARGUMENTS`` that runs: what tests need of ``subprocess.Popen``, with all output as text.

    ``root`` is the folder that holds the project's packages.
    """

    def __init__(self, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], root: Path = _ROOT) -> None:
        self.args = list(arguments)
        self.returncode: int | None = None
        self._root = root
        self._folder = tempfile.TemporaryDirectory()
        self._said = ("", "")
        for name in _OUTPUT:
            Path(self._folder.name, name).touch(0o600)
        wish = {"arguments": self.args, "cwd": str(cwd), "environment": dict(environment), "folder": self._folder.name}
        with _lock:
            parent = _parent(root)
            assert parent.stdin and parent.stdout
            parent.stdin.write(json.dumps(wish).encode() + b"\n")
            parent.stdin.flush()
            answer = parent.stdout.readline()
        if not answer:
            raise RuntimeError(_DEAD)
        self.pid = int(answer)

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        code = Path(self._folder.name, "code")
        if self.returncode is None and code.exists():
            self._said = self.said()
            self.returncode = int(code.read_text())
            self._folder.cleanup()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. Raises ``subprocess.TimeoutExpired``."""
        end = time.monotonic() + timeout if timeout is not None else None
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0, *map(str.encode, self.said()))
            if _parent(self._root).poll() is not None:
                raise RuntimeError(_DEAD)
            time.sleep(0.005)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it said, when it has ended. Raises ``subprocess.TimeoutExpired``."""
        self.wait(timeout)
        return self._said

    def said(self) -> tuple[str, str]:
        """Standard output and standard error so far."""
        if self.returncode is not None:
            return self._said
        out, err = (Path(self._folder.name, name).read_text(errors="replace") for name in _OUTPUT)
        return out, err

    def send_signal(self, number: int) -> None:
        """Nothing happens when it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def kill_all(self) -> None:
        """It, and the processes that it has started."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


def run(
    arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], timeout: float, root: Path = _ROOT
) -> subprocess.CompletedProcess[str]:
    """``scrapy ARGUMENTS`` to its end, its output as text. Raises ``subprocess.TimeoutExpired``."""
    process = Started(arguments, cwd, environment, root)
    try:
        out, err = process.communicate(timeout)
    except subprocess.TimeoutExpired:
        process.kill_all()
        process.wait()
        raise
    return subprocess.CompletedProcess(process.args, process.wait(), out, err)


def end(root: Path) -> None:
    """No more commands of the packages in ``root``."""
    with _lock:
        if (parent := _parents.pop(root, None)) is not None:
            parent.communicate()


def _parent(root: Path) -> subprocess.Popen[bytes]:
    """Lives as long as this process: it ends when its input does."""
    if root not in _parents:
        pipe, arguments = subprocess.PIPE, [sys.executable, __file__, str(root)]
        _parents[root] = subprocess.Popen(arguments, cwd=root, stdin=pipe, stdout=pipe, env=_quiet(os.environ))
    return _parents[root]


def _quiet(environment: Mapping[str, str]) -> dict[str, str]:
    """Without threads of numerical libraries, which a fork does not carry over."""
    return {**environment, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _serve(root: str) -> None:
    sys.path[0] = root
    _import_all()
    gc.collect()
    gc.freeze()  # no child looks through the modules again
    running: dict[int, str] = {}  # the folder of each child

    def reap(*_: object) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                code = Path(running.pop(ended[0]), "code")
                with contextlib.suppress(FileNotFoundError):  # nobody waits for it any more
                    code.with_suffix(".new").write_text(str(os.waitstatus_to_exitcode(ended[1])))
                    code.with_suffix(".new").replace(code)

    signal.signal(signal.SIGCHLD, reap)
    wishes, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=0)
    for line in iter(wishes.readline, b""):
        wish = json.loads(line)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            _command(wish)
        running[child] = wish["folder"]
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        answers.write(b"%d\n" % child)


def _import_all() -> None:
    from importlib import import_module
    from importlib.util import find_spec
    from pkgutil import walk_packages

    if find_spec("scrapy.core.downloader.handlers._aiohttp") is None:
        import_module("crawlproject.addon")  # nothing else works with this Scrapy
        return
    for name in (*_PRELOAD, *_OURS):
        import_module(name)
    for package in _OURS:
        for module in walk_packages(sys.modules[package].__path__, f"{package}."):
            if not module.name.endswith(("__main__", ".agent_server")):  # only `scrapy mcp` needs that, and its package
                with contextlib.suppress(
                    *([] if sys.path[0] == str(_ROOT) else [ModuleNotFoundError])
                ):  # a part needs another
                    import_module(module.name)
    assert "twisted.internet.reactor" not in sys.modules


def _command(wish: dict) -> None:
    """Become the command: its folder, environment and files, then what ``python -m scrapy`` does."""
    code: object = 1
    try:
        os.setsid()
        os.chdir(wish["cwd"])
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
        os.environ.clear()
        os.environ.update(wish["environment"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in enumerate(_OUTPUT, 1):
            os.dup2(os.open(Path(wish["folder"], name), os.O_WRONLY | os.O_APPEND), number)
        sys.path[:1] = [wish["cwd"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
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


if __name__ == "__main__":
    _serve(sys.argv[1])
