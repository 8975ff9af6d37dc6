"""Settings of the part: languages that are wanted."""

from __future__ import annotations

from crawlproject.options import Names, Options


class LanguageOptions(Options):
    """Wanted languages."""

    crawl_languages: Names = []
    """codes of the wanted [languages](#languages), such as `["en"]`; empty: all"""
    crawl_languages_keep: bool = False
    """also store pages in other languages; their links are not followed"""
