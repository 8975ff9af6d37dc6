"""Commands in processes forked from one that has imported everything: a fork costs milliseconds, the imports two seconds.

The first process imports third-party modules; one child for each folder of packages imports the project from there; its
children are the commands. The parents only import, so a command starts like ``python -m scrapy``: no reactor, no logging.
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
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, BinaryIO

_ROOT = Path(__file__).resolve().parents[2]
_PRELOAD = (
    *(
        "scrapy.cmdline",
        "scrapy.crawler",
        "scrapy.core.downloader.contextfactory",
        "aiohttp",
        "numpy",
        "orjson",
        "httpx",
    ),
    *("jinja2", "lxml.html", "prometheus_client", "pydantic", "redis.asyncio", "scipy.sparse", "spacy", "tantivy"),
)
_OURS = ("crawlproject", "spiders", "middlewares", "pipelines")
_OUTPUT = ("out", "err")
_DEAD = "the process that commands are forked from has died"
_lock = threading.Lock()
_first: subprocess.Popen[bytes] | None = None


class Started:
    """A running ``scrapy ARGUMENTS`` or ``topical``: the part of ``subprocess.Popen`` that tests need, with output as text.

    ``root`` is the folder that holds the project's packages.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        root: Path = _ROOT,
        program: str = "scrapy",
    ) -> None:
        self.args = list(arguments)
        self.returncode: int | None = None
        self._folder = tempfile.TemporaryDirectory()
        self._said = ("", "")
        for name in _OUTPUT:
            Path(self._folder.name, name).touch(0o600)
        wish = {"program": program, "arguments": self.args, "cwd": str(cwd), "environment": dict(environment)}
        wish["folder"] = self._folder.name
        self._parent, self.pid = _ask(root, wish)

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
        """Return the exit code. Raises ``subprocess.TimeoutExpired``."""
        end = time.monotonic() + timeout if timeout is not None else None
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0, *map(str.encode, self.said()))
            if not _is_there(self._parent):
                raise RuntimeError(_DEAD)
            time.sleep(0.005)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return its output when it has ended. Raises ``subprocess.TimeoutExpired``."""
        self.wait(timeout)
        return self._said

    def said(self) -> tuple[str, str]:
        """Standard output and standard error so far."""
        if self.returncode is not None:
            return self._said
        out, err = (Path(self._folder.name, name).read_text(errors="replace") for name in _OUTPUT)
        return out, err

    def send_signal(self, number: int) -> None:
        """Send a signal; do nothing if it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def kill_all(self) -> None:
        """Kill it and the processes that it started."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


def run(
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    timeout: float,
    root: Path = _ROOT,
    program: str = "scrapy",
) -> subprocess.CompletedProcess[str]:
    """Run ``scrapy ARGUMENTS`` to its end, with its output as text. Raises ``subprocess.TimeoutExpired``."""
    process = Started(arguments, cwd, environment, root, program)
    try:
        out, err = process.communicate(timeout)
    except subprocess.TimeoutExpired:
        process.kill_all()
        process.wait()
        raise
    return subprocess.CompletedProcess(process.args, process.wait(), out, err)


def end(root: Path) -> None:
    """Accept no more commands of the packages in ``root``."""
    _ask(root, None)


def _ask(root: Path, wish: dict[str, Any] | None) -> list[int]:
    """Return the answer of the first process. Raises ``RuntimeError`` if it or its child for ``root`` has died."""
    global _first
    with _lock:
        if _first is None:  # it ends when its input does
            pipe, arguments = subprocess.PIPE, [sys.executable, __file__]
            _first = subprocess.Popen(arguments, cwd=_ROOT, stdin=pipe, stdout=pipe, env=_quiet(os.environ))
        assert _first.stdin and _first.stdout
        _first.stdin.write(json.dumps([str(root), wish]).encode() + b"\n")
        _first.stdin.flush()
        answer = _first.stdout.readline()
    if not answer.strip():
        raise RuntimeError(_DEAD)
    return json.loads(answer)


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _quiet(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without threads of numerical libraries, which do not survive a fork."""
    return {**environment, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _serve_all() -> None:
    """Forward each wish to the child for its folder, and return the answer: an empty line when the child has died."""
    with contextlib.suppress(ImportError):  # with an old Scrapy nothing works but the add-on
        for name in _PRELOAD:
            import_module(name)
    _freeze()

    def reap(*_: object) -> None:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    signal.signal(signal.SIGCHLD, reap)
    wishes, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=0)
    children: dict[str, tuple[BinaryIO, BinaryIO, int]] = {}
    for line in iter(wishes.readline, b""):
        root, wish = json.loads(line)
        if wish is None:
            for pipe in children.pop(root, ())[:2]:
                pipe.close()
            answers.write(b"[]\n")
            continue
        if root not in children:
            held = [answers, *(pipe for other in children.values() for pipe in other[:2])]
            children[root] = _fork_for(root, held)
        ours, theirs, child = children[root]
        with contextlib.suppress(BrokenPipeError):
            ours.write(json.dumps(wish).encode() + b"\n")
        started = theirs.readline()
        answers.write(b"[%d, %d]\n" % (child, int(started)) if started else b"\n")


def _fork_for(root: str, held: list[BinaryIO]) -> tuple[BinaryIO, BinaryIO, int]:
    """Fork a child for the packages in ``root``; return its input, output and PID. It holds no pipe of other children open."""
    (wishes, to), (back, answers) = os.pipe(), os.pipe()
    if (child := os.fork()) == 0:
        for number in (to, back, *(pipe.fileno() for pipe in held)):
            os.close(number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        _serve(root, os.fdopen(wishes, "rb"), os.fdopen(answers, "wb", buffering=0))
        os._exit(0)
    os.close(wishes)
    os.close(answers)
    return os.fdopen(to, "wb", buffering=0), os.fdopen(back, "rb"), child


def _serve(root: str, wishes: BinaryIO, answers: BinaryIO) -> None:
    """Fork commands of the packages in ``root``."""
    sys.path[0] = root
    os.chdir(root)
    _import_all()
    _read_all()
    _freeze()
    running: dict[int, str] = {}  # the folder of each child

    def reap(*_: object) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                code = Path(running.pop(ended[0]), "code")
                with contextlib.suppress(FileNotFoundError):  # the caller no longer waits for it
                    code.with_suffix(".new").write_text(str(os.waitstatus_to_exitcode(ended[1])))
                    code.with_suffix(".new").replace(code)

    signal.signal(signal.SIGCHLD, reap)
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


def _freeze() -> None:
    """Exclude the modules from garbage collection in all children."""
    gc.collect()
    gc.freeze()


def _import_all() -> None:
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


def _read_all() -> None:
    """Read the project files that a crawl or a report reads and caches: a third of the CPU time of a short crawl."""
    with contextlib.suppress(ImportError):  # with an old Scrapy there is nothing
        from crawlproject.pages.text.languages import tokenizer
        from crawlproject.reports import html
        from crawlproject.urls.hosts import registrable_domain
        from crawlproject.webs.open import sample_web

        tokenizer("english")
        registrable_domain("example.org")
        sample_web()
        for template in resources.files(html.__package__).joinpath("templates").iterdir():
            html.environment(html.__package__, html.program).get_template(template.name)


def _command(wish: dict[str, Any]) -> None:
    """Become the command: set its folder, environment and files, then run ``python -m scrapy`` or ``topical``."""
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
        sys.argv = [wish["program"], *wish["arguments"]]
        if wish["program"] == "topical":
            from crawlproject.__main__ import main as execute
        else:
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
    _serve_all()
