"""The project after ``pip install``: a wheel built from a copy of the tree, installed into a folder without its requirements.

The requirements are those of the tests. The compiled parts are left out, as on a machine without a compiler.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.crawling import PATIENCE, ROOT, environment

FOLDERS = ("crawlproject", "spiders", "middlewares", "pipelines", "topics")
FILES = ("README.md", "pyproject.toml", "requirements.txt", "setup.py")
_WITHOUT_CYTHON = "import runpy, sys; sys.modules['Cython'] = None; runpy.run_path('setup.py', run_name='__main__')"


class Installed:
    """``packages`` is its site-packages folder; commands run in ``home``, which is empty at first."""

    def __init__(self, folder: Path) -> None:
        self.packages = folder / "site-packages"
        self.home = folder / "home"
        self.home.mkdir()

    def python(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, **self.place(), capture_output=True, text=True, timeout=PATIENCE, check=False)

    def topical(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return self.python(*self.command(*arguments)[1:])

    def command(self, *arguments: object) -> list[str]:
        """``topical ARGUMENTS`` as a list."""
        return [sys.executable, str(self.packages / "bin" / "topical"), *map(str, arguments)]

    def place(self) -> dict[str, Any]:
        """Working folder and environment of a command; neither leads to the checkout."""
        environ = {name: value for name, value in environment().items() if not name.startswith("SCRAPY")}
        return {"cwd": self.home, "env": {**environ, "PYTHONPATH": str(self.packages), "PYTHONSAFEPATH": "1"}}


def install(folder: Path) -> Installed:
    tree = folder / "tree"
    tree.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)
    _run(tree, "-c", _WITHOUT_CYTHON, "--quiet", "bdist_wheel", "--dist-dir", str(folder))
    (wheel,) = folder.glob("*.whl")
    _run(folder, "-m", "pip", "install", "--quiet", "--no-deps", "--target", "site-packages", str(wheel))
    return Installed(folder)


def _run(folder: Path, *arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
