"""Where the crawler is logged in, it does not follow links that log it out."""

from __future__ import annotations

import re
from pathlib import Path

from crawlproject.core.part import Part, Setup
from crawlproject.parts.logins.logins import Logins
from crawlproject.parts.logins.options import LoginOptions

_LOGOUT = re.compile(r"(?:log|sign)[-_]?(?:out|off)(?![a-z])|abmelden|deconnexion", re.IGNORECASE)


class LoginPart(Part):
    """There with ``CRAWL_LOGINS``. What is sent is the middleware's."""

    name = "logins"

    def __init__(self, logins: Logins) -> None:
        self._logins = logins

    @classmethod
    def make(cls, setup: Setup) -> LoginPart | None:
        path = setup.options.of(LoginOptions).crawl_logins
        return cls(Logins(Path(path))) if path else None

    def refusal(self, url: str, depth: int) -> str:
        path = url.partition("//")[2].partition("/")[2]
        return "login/logout" if _LOGOUT.search(path) and self._logins.know(url) else ""
