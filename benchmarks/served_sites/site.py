"""The description of a site: its packages, how its content is made, how it is served, and which of its pages are content."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult

from benchmarks.served_sites.access import Access
from benchmarks.served_sites.packages import CannotBeHad, Packages

LOOPBACK = "127.0.0.1"
HTML = ("text/html", "application/xhtml+xml")
TEXT = "text/plain"

_PATIENCE = 60.0  # seconds that a server may take until it listens


@dataclass(frozen=True)
class Place:
    """The place of a site: its own ``folder``, the ``packages``, and servers that end with ``stack``."""

    folder: Path
    packages: Packages
    stack: ExitStack

    def serve(self, command: Sequence[str | Path], *, port: int = 0, path: Path | None = None, **more: object) -> None:
        """Start a server that runs until the site is done; return when it listens on ``port`` or at the socket ``path``."""
        process = self.stack.enter_context(_running([str(part) for part in command], self.folder, **more))
        ends = time.monotonic() + _PATIENCE
        while not (_listens(port) if path is None else path.exists()):
            if process.poll() is not None or time.monotonic() > ends:
                raise CannotBeHad(f"{Path(command[0]).name} does not start: {_last_words(self.folder)}")
            time.sleep(0.1)


class Site:
    """Base class with what most sites have in common. ``entry`` is the path where the crawl starts."""

    name: str
    keywords: Sequence[str]
    entry: str = "/"
    unpacked: Sequence[str] = ()  # Debian packages whose files suffice
    installed: Sequence[str] = ()  # Debian packages that have to be installed
    python: Sequence[str] = ()  # packages of PyPI
    node: Sequence[str] = ()  # packages of npm
    types: Sequence[str] = HTML  # content types of pages
    settings: Sequence[str] = ()  # NAME=VALUE that our crawler needs for this site

    @property
    def host(self) -> str:
        """A host name that nobody can own (``.example`` is reserved)."""
        return f"{self.name}.site.example"

    @property
    def seed(self) -> str:
        return f"http://{self.host}{self.entry}"

    def prepare(self, place: Place) -> None:
        """Make the content in the folder of the site, unless it is there."""

    def locations(self, place: Place) -> str:
        """Start the servers; return the ``location`` blocks of nginx that lead to them."""
        raise NotImplementedError

    def content(self, split: SplitResult) -> str:
        """An identifier of the content that a URL shows, the same for all URLs that show it; empty if it shows none."""
        return split.path

    def expected(self, place: Place) -> set[str]:
        """All ``content`` that the site is known to have; empty if unknown."""
        return set()

    def is_page(self, access: Access) -> bool:
        """Whether an answer is a page."""
        return access.status == 200 and access.content_type.partition(";")[0].strip().lower() in self.types

    def shown(self, access: Access) -> str:
        """The ``content`` of an answer; empty if it has none."""
        return self.content(access.split) if self.is_page(access) else ""


def free_port() -> int:
    """A free loopback port."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def passed_on(port: int) -> str:
    """The ``location`` block that passes all paths to the server on ``port``, with the requested host name."""
    return (
        f"location / {{ proxy_pass http://{LOOPBACK}:{port}; proxy_set_header Host $host; proxy_read_timeout 120s; }}"
    )


@contextmanager
def _running(command: Sequence[str], folder: Path, **more: object) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "server.log").open("ab") as log:
        try:
            process = subprocess.Popen(  # type: ignore[call-overload]
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **more
            )
        except FileNotFoundError:
            raise CannotBeHad(f"there is no {command[0]}") from None
    try:
        yield process
    finally:
        _end(process, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            _end(process, signal.SIGKILL)
            process.wait()


def _end(process: subprocess.Popen[bytes], by: signal.Signals) -> None:
    """Stop a process together with its children, which some servers leave behind."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, by)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def _last_words(folder: Path) -> str:
    lines = (folder / "server.log").read_text("utf-8", "replace").splitlines()
    return lines[-1][:200] if lines else "it says nothing"
