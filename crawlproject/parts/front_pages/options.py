"""Settings of the part: front pages."""

from __future__ import annotations

from crawlproject.options import Options


class FrontPageOptions(Options):
    """Front pages."""

    crawl_front_pages: bool = True
    """also offer the [front page](#front-pages) of a host that a page links to"""
