"""Settings of the part: what is never fetched."""

from __future__ import annotations

from crawlproject.options import Names, Options


class FilterOptions(Options):
    """URLs that are never fetched."""

    crawl_excluded: Names = []
    """| hosts, domains, beginnings of URLs and `/regular expressions/` that are [never
    fetched](#what-is-never-fetched) | 004"""
    crawl_excluded_file: str = ""
    """a file with more exclusions, one per line, read again when it changes; empty: none"""
