"""Settings of the part: signs of spam."""

from __future__ import annotations

from crawlproject.options import Options


class SpamOptions(Options):
    """Signs of spam."""

    crawl_spam_model: str = ""
    """| a model trained by [`scrapy spam`](commands.md#scrapy-spam), used instead of the built-in weights of the signs
    of spam | 004 section 6.3"""
