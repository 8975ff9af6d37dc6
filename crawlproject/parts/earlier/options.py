"""Settings of the part: what earlier crawls know."""

from __future__ import annotations

from crawlproject.options import Names, Options


class EarlierOptions(Options):
    """What earlier crawls know."""

    crawl_earlier: Names = []
    """folders | of earlier crawls, or that hold such: their ten best pages about the topic are fetched [right after the
    seeds](#earlier-crawls) | 003 section 6"""
