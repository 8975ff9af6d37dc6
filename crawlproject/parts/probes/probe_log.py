"""The steps of probes, their verdicts, and ``probes.jsonl``: one line per probe fetch, which a resumed crawl reads again."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from crawlproject.pages.page_types import NATURES
from crawlproject.records import Fetch, Page
from crawlproject.storage.append_log import AppendLog, read_lines, unexpected
from crawlproject.storage.crawl_files import PROBES as NAME
from crawlproject.urls.hosts import host_of

HONEST = "honest"  # a browser, or a client without the login, is shown the same page; a missing page is a 404
CLOAKED = "cloaked"  # the crawler is shown text that a browser is not
PERSONALISED = "personalised"  # the crawler is shown text that a client without the login is not
MADE_UP = "soft_404"  # a missing page is answered like an existing one
UNDECIDED = "undecided"  # no decision is possible, and the probe is not repeated
OPEN = ""  # another copy must be fetched
BROWSER = "browser"  # the page as a browser is shown it
AGAIN = "again"  # the page as we are shown it, once more
BROWSER_AGAIN = "browser-again"  # the page as a browser is shown it, once more
STRANGER = "stranger"  # the page as a client without the login is shown it
LOGGED_IN_AGAIN = "logged-in-again"  # the page as we are shown it, once more
STRANGER_AGAIN = "stranger-again"  # the page as a client without the login is shown it, once more
MISSING = "missing"  # a made-up URL
DISGUISED = frozenset((BROWSER, BROWSER_AGAIN))  # steps under another User-Agent
WITHOUT_LOGIN = frozenset((STRANGER, STRANGER_AGAIN))  # steps without the login
OURS = frozenset((AGAIN, LOGGED_IN_AGAIN))  # steps like the first fetch of the page
ABOUT_LOGINS = WITHOUT_LOGIN | {LOGGED_IN_AGAIN}

_UNWELCOME = (401, 403, 429, 503)  # statuses of hosts that refuse a probe
_ASKING = (429, 503)  # statuses that mean the host, not the page


@dataclass(frozen=True, slots=True)
class Finding:
    """One step of a probe: a line of ``probes.jsonl``.

    ``url`` was fetched as ``step`` (such as ``BROWSER``) because of ``page``. The fetch took ``seconds`` and ended ``at``
    seconds since the epoch; ``status`` is 0 without a response. ``verdict`` is one of the above, ``why`` the reason in
    words. ``hidden`` is the share of text shown to the crawler but not to a browser, or to a stranger, ``churn`` the share that
    changes between any two fetches, both 0 to 1 (``cloaking.py``). ``redirect``, ``title``, ``links`` (a digest of the link
    targets) and ``text`` (32-bit digests of shingles, in base64) identify the soft 404 of a host (``soft_404.py``).
    """

    url: str
    step: str
    page: str
    at: float
    seconds: float
    status: int
    verdict: str
    why: str = ""
    hidden: float = 0.0
    churn: float = 0.0
    redirect: str = ""
    title: str = ""
    links: int = 0
    text: str = ""

    @property
    def unwelcome(self) -> bool:
        """Whether the host refused the probe; then it is not probed again."""
        return self.status in _UNWELCOME or self.why.startswith("block/")


class ProbeLog:
    """Writes findings in the order in which probes ended. The file is created with its first line. Raises ``StorageFailed``."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._log: AppendLog | None = None

    def append(self, finding: Finding) -> None:
        """Record a step of a probe."""
        self._log = self._log or AppendLog(self._path)
        self._log.append(finding)

    def close(self) -> None:
        """Close the file."""
        if self._log:
            self._log.close()
            self._log = None


def read_findings(folder: Path) -> Iterator[Finding]:
    """The findings of a crawl folder, in order; none when there is no file. Raises ``BadCrawlDir``."""
    path = folder / NAME
    for number, line in enumerate(read_lines(path), start=1):
        try:
            yield _finding(line)
        except (IndexError, TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from damage


def _finding(line: Any) -> Finding:
    finding = Finding(**line)
    for field in fields(finding):
        wanted = (int, float) if field.type == "float" else int if field.type == "int" else str
        if not isinstance(getattr(finding, field.name), wanted):
            raise TypeError(f"{field.name} is not of type {field.type}")
    if not (host_of(finding.url) and host_of(finding.page)):
        raise ValueError("it is about no URL")
    if len(b64decode(finding.text, validate=True)) % 4:
        raise ValueError("text is not a list of digests")
    return finding


@dataclass(frozen=True, slots=True)
class ProbeResponse:
    """What a probe brought: a ``page``, the canonical URL of a ``redirect``, or an ``error`` as in the history."""

    fetch: Fetch
    page: Page | None = None
    redirect: str = ""
    error: str = ""

    @property
    def page_type(self) -> str:
        """Why the page is no content; empty when it is content, or when there is no page."""
        return next((page_type for page_type in NATURES if self.page and self.page.signs.get(page_type)), "")

    @property
    def blocks(self) -> bool:
        """Whether the host does not want requests now: then it rests as after a captcha."""
        return self.fetch.status in _ASKING or self.page_type.startswith("block/")

    @property
    def trouble(self) -> str:
        """Why nothing follows from the response; empty when something does."""
        if self.page is None and not self.redirect:
            return self.error or f"http {self.fetch.status}"
        return self.page_type if self.page_type.startswith(("block/", "parked")) else ""
