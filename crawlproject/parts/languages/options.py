"""Settings of the part: languages that are wanted."""

from __future__ import annotations

from crawlproject.options import Names, Options


class LanguageOptions(Options):
    """Languages that are wanted."""

    crawl_languages: Names = []
    """codes of the [languages](#languages) that you want, such as `["en"]`; empty: all"""
    crawl_languages_keep: bool = False
    """store pages in other languages, too; their links are not followed"""
