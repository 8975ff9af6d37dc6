"""On hosts with a login, the crawler follows no logout links, and marks the pages with a sign."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from crawlproject.core.part import Part, Setup
from crawlproject.parts.logins.logins import Logins
from crawlproject.parts.logins.options import LoginOptions
from crawlproject.records import LOGGED_IN, Fetch, Page

_LOGOUT = re.compile(r"(?:log|sign)[-_]?(?:out|off)(?![a-z])|abmelden|deconnexion", re.IGNORECASE)


class LoginPart(Part):
    """The part of a crawl with ``CRAWL_LOGINS``. The middleware sends the logins."""

    name = "logins"

    def __init__(self, logins: Logins) -> None:
        self._logins = logins

    @classmethod
    def make(cls, setup: Setup) -> LoginPart | None:
        path = setup.options.of(LoginOptions).crawl_logins
        return cls(Logins(Path(path))) if path else None

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """Mark the pages of hosts with a login, which may be private (paper 004 section 8); other pages are public."""
        return replace(page, signs={**page.signs, LOGGED_IN: 1.0}) if self._logins.know(page.url) else page

    examine_again = examine

    def refusal(self, url: str, depth: int) -> str:
        path = url.partition("//")[2].partition("/")[2]
        return "login/logout" if _LOGOUT.search(path) and self._logins.know(url) else ""
