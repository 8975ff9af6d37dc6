"""The sources of the software: packages of Debian, PyPI and npm, all below one folder where possible."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


class CannotBeHad(Exception):
    """Raised when a site cannot be served here; the message is one line that says what is missing."""


class Packages:
    """Unpacks and installs packages below ``folder``. Debian packages are installed only if ``may_install`` is set."""

    def __init__(self, folder: Path, *, may_install: bool) -> None:
        self.folder = folder
        self._may_install = may_install

    def unpacked(self, package: str) -> Path:
        """The folder with the files of a Debian package, without its dependencies and scripts."""
        target = self.folder / "debian" / package
        if not target.exists():
            downloads = self.folder / "downloads" / package
            for folder in (downloads, target.parent):
                folder.mkdir(parents=True, exist_ok=True)
            _run(["apt-get", "download", package], downloads, f"Debian has no package {package} for this machine")
            files = sorted(downloads.glob("*.deb"))
            _run(["dpkg-deb", "-x", str(files[-1]), str(target)], downloads, f"{package} cannot be unpacked")
        return target

    def need(self, packages: Sequence[str]) -> None:
        """Require Debian packages: install missing ones if that is allowed, else raise ``CannotBeHad``."""
        missing = [package for package in packages if not _is_installed(package)]
        if not missing:
            return
        if not self._may_install:
            raise CannotBeHad(f"needs {' '.join(missing)}; --install installs them")
        command = ["apt-get", "install", "--yes", "--no-install-recommends", *missing]
        _run(command, Path("/"), f"{' '.join(missing)} cannot be installed")

    def python(self, name: str, packages: Sequence[str]) -> Path:
        """The ``bin`` folder of a separate virtual environment with packages of PyPI."""
        target = self.folder / "python" / name
        if not (target / "complete").exists():
            _run([sys.executable, "-m", "venv", str(target)], Path("/"), "venv does not work")
            install = [str(target / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *packages]
            _run(install, Path("/"), f"pip cannot install {' '.join(packages)}")
            (target / "complete").touch()
        return target / "bin"

    def node(self, name: str, packages: Sequence[str]) -> Path:
        """A folder whose ``node_modules`` contains packages of npm."""
        target = self.folder / "node" / name
        if not (target / "complete").exists():
            target.mkdir(parents=True, exist_ok=True)
            (target / "package.json").write_text('{"private": true}\n')
            install = [
                "npm",
                "install",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--silent",
                "--prefix",
                str(target),
                *packages,
            ]
            _run(install, target, f"npm cannot install {' '.join(packages)}")
            (target / "complete").touch()
        return target


def run_quietly(command: Sequence[str], folder: Path, *, said: str = "", **environment: str) -> str:
    """Run a command in ``folder`` and return its output. Raises ``CannotBeHad`` with the last line of it on failure."""
    return _run(command, folder, f"{Path(command[0]).name} failed", said, **environment)


def _run(command: Sequence[str], folder: Path, complaint: str, said: str = "", **environment: str) -> str:
    variables = {**os.environ, **environment}
    try:
        done = subprocess.run(command, cwd=folder, env=variables, input=said, capture_output=True, text=True)
    except FileNotFoundError:
        raise CannotBeHad(f"{complaint}: there is no {command[0]}") from None
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise CannotBeHad(f"{complaint}: {lines[-1].strip()[:200] if lines else f'exit code {done.returncode}'}")
    return done.stdout


def _is_installed(package: str) -> bool:
    command = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout == "installed"
    except FileNotFoundError:
        raise CannotBeHad("needs Debian, or what has its packages") from None
