"""What the fetches of a probe are for: the ``variant`` of its records in the frontier."""

from __future__ import annotations

BROWSER = "browser"  # the page as a browser is shown it
AGAIN = "again"  # the page as we are shown it, once more
BROWSER_AGAIN = "browser-again"  # and as a browser is, once more
MISSING = "missing"  # a URL that nobody has ever made

DISGUISED = frozenset((BROWSER, BROWSER_AGAIN))  # steps that go under another User-Agent
