"""A headless Chromium for tests that read pages as a person does."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.crawling import start
from support.warm import Started

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def browser() -> Iterator[Any]:
    """Yield a browser; skip the test where none is installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium: scripts/install-chromium installs one")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()


class Watcher:
    """Records what a page must never do: run a script from the web, load something from elsewhere, fail."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.problems: list[str] = []
        self.requests: list[str] = []
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        page.on("request", lambda request: self.requests.append(request.url))

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def wait_until(page: Any, expression: str, seconds: float = 40.0) -> None:
    """Wait until an expression is true. The content security policy of our pages forbids ``Page.wait_for_function``."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"it did not happen: {expression}"
        page.wait_for_timeout(100)


def fits(page: Any) -> bool:
    """Whether nothing overflows the page on the right."""
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@contextmanager
def serving(
    folder: Path, *arguments: object, printed: str = "Dashboard: ", port: int | None = None, **settings: object
) -> Iterator[str]:
    """Run a command that prints an address (a dashboard's, unless ``printed`` says otherwise) and yield that address.

    With ``port`` its requests go to the proxy on that port. Its output is written to ``serving.log`` in the folder.
    """
    process = start(*arguments, port=port, DASHBOARD_PORT=0, COMPANION_PORT=0, **settings)
    try:
        yield _address(process, printed)
    finally:
        if process.poll() is None:
            process.send_signal(2)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        (folder / "serving.log").write_text("".join(process.said()))


def _address(process: Started, printed: str) -> str:
    for _ in range(6000):
        for line in "\n".join(process.said()).splitlines():
            if line.startswith(printed):
                return line.removeprefix(printed).rstrip("/")
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError(f"no address: {process.said()}")
