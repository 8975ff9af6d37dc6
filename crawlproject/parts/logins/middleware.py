"""Downloader middleware: adds to each request the login for its host."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request as BrowserRequest

from scrapy.exceptions import NotConfigured

from crawlproject.adapters.running import NO_LOGIN, RESOURCE, SECRETS, Component
from crawlproject.configuration import read_options
from crawlproject.parts.logins.logins import Logins
from crawlproject.parts.logins.options import LoginOptions

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


def headers_for(logins: Logins, url: str) -> dict[str, str]:
    """The headers for a request for ``url``; cookies are chosen as by a browser (domain, path, https, age)."""
    asked = BrowserRequest(url)
    logins.cookies.add_cookie_header(asked)
    cookie = asked.get_header("Cookie")
    return {**logins.headers(url), **({"Cookie": cookie} if cookie else {})}


class LoginMiddleware(Component):
    """Adds the login headers. A redirected request keeps its old headers, so those of the previous host are removed.

    Resources that a page requests in the browser get no login: a page may request anything from any host.
    """

    def __init__(self, crawler: Crawler) -> None:
        path = read_options(crawler.settings).of(LoginOptions).crawl_logins
        if not path:
            raise NotConfigured
        super().__init__(crawler)
        self._logins = Logins(Path(path))
        self._told: set[str] = set()  # origins without a login that were logged

    def process_request(self, request: Request) -> None:
        if RESOURCE in request.meta or NO_LOGIN in request.meta or not request.url.startswith(("http:", "https:")):
            return
        if (origin := self._logins.withhold(request.url)) and origin not in self._told:
            self._told.add(origin)
            logger.warning("CRAWL_LOGINS names another origin of this host: %s is fetched without the login", origin)
        for name in request.meta.get(SECRETS, ()):
            request.headers.pop(name, None)
        headers = headers_for(self._logins, request.url)
        for name, value in headers.items():
            request.headers.setdefault(name, value)
        request.meta[SECRETS] = tuple(headers)
