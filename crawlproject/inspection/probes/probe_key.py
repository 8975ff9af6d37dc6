"""Under which key a probe waits in the frontier: a URL with a fragment, which no canonical URL has."""

from __future__ import annotations

from typing import NamedTuple

BROWSER = "browser"  # the page as a browser is shown it
AGAIN = "again"  # the page as we are shown it, once more
BROWSER_AGAIN = "browser-again"  # and as a browser is, once more
MISSING = "missing"  # a URL that nobody has ever made

DISGUISED = frozenset((BROWSER, BROWSER_AGAIN))  # steps that go under another User-Agent

_MARK = "#probe/"


class Probe(NamedTuple):
    """The URL to fetch, and which step of a probe this is."""

    url: str
    step: str


def key_of(url: str, step: str) -> str:
    """The key of a step of a probe of a canonical ``url``."""
    return f"{url}{_MARK}{step}"


def is_probe(key: str) -> bool:
    """Whether a key of the frontier is that of a probe."""
    return _MARK in key


def probe_of(key: str) -> Probe:
    """The URL and step of the key of a probe."""
    url, _, step = key.partition(_MARK)
    return Probe(url, step)
