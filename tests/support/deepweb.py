"""Search forms of generated sites, for crawls over real sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.deep_web_sites import DeepSite
from benchmarks.twenty_deep_sites import DeepWeb, twenty_sites
from crawlproject.http.virtual_web_server import Access, read_log
from crawlproject.records import QUERY, Reply
from support.crawling import history

LIMIT = 12  # queries per source


class ForbiddenSite(DeepSite):
    """A site whose robots.txt forbids the script behind its form."""

    def get(self, url: str) -> Reply:
        if url.endswith("/robots.txt"):
            rules = b"User-agent: *\nDisallow: /find$\nDisallow: /find?\n"
            return Reply("", 200, {"content-type": "text/plain"}, rules)
        return super().get(url)


def some_sites(*, by_post: bool = False) -> DeepWeb:
    """One site of each kind, and one that forbids queries."""
    kinds = {site.kind: site for site in twenty_sites(0.02, posts=by_post)}
    return DeepWeb([*kinds.values(), ForbiddenSite("forbidden.example", "search", 50, posts=by_post)])


def queries(folder: Path) -> list[dict[str, Any]]:
    """The lines of a crawl's history that are queries."""
    return [line for line in history(folder) if line["kind"] == QUERY]


def posts(log: Path) -> list[Access]:
    """The POST requests that a server received."""
    return [access for access in read_log(log) if access["method"] == "POST"]
