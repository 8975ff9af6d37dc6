"""Crawl processes that are forked from a process that has imported everything: each saves two seconds of CPU time."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from pkgutil import walk_packages

_THEIRS = ("scrapy.cmdline", "scrapy.crawler", "scrapy.core.downloader.contextfactory", "aiohttp", "numpy", "orjson")
_OURS = ("crawlproject", "spiders", "middlewares", "pipelines")
_NOT = ("__main__", "agent_server")


class Forked:
    """Runs ``scrapy ARGUMENTS`` in the folder ``root`` and appends its output to ``log``; a subset of ``Popen``."""

    def __init__(self, arguments: Sequence[str], root: Path, environment: Mapping[str, str], log: Path) -> None:
        _import_all()
        self._arguments = list(arguments)
        self._process = get_context("fork").Process(target=_run, args=(self._arguments, root, dict(environment), log))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(self._arguments, timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


@cache
def _import_all() -> None:
    for name in (*_THEIRS, *_OURS):
        import_module(name)
    for package in _OURS:
        for module in walk_packages(sys.modules[package].__path__, f"{package}."):
            if not module.name.endswith(_NOT):
                with suppress(ModuleNotFoundError):  # a part that needs a package that is not installed
                    import_module(module.name)
    gc.collect()
    gc.freeze()  # the garbage collector of a child need not scan the modules again


def _run(arguments: list[str], root: Path, environment: dict[str, str], log: Path) -> None:
    """Turn the forked process into the command."""
    code: object = 1
    try:
        os.chdir(root)
        os.environ.clear()
        os.environ.update(environment)
        file = os.open(log, os.O_WRONLY | os.O_APPEND)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(file, 1)
        os.dup2(file, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
        sys.path[:1] = [str(root)]
        sys.argv = ["scrapy", *arguments]
        from scrapy.cmdline import execute

        execute()
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)
