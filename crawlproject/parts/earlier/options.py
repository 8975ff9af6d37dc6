"""Settings of the part: what earlier crawls know."""

from __future__ import annotations

from crawlproject.options import Names, Options


class EarlierOptions(Options):
    """Pages from earlier crawls."""

    crawl_earlier: Names = []
    """folders | earlier crawls, or folders that contain some; their ten best pages about the topic are fetched [right
    after the seeds](#earlier-crawls) | 003 section 6"""
