"""Settings of the part: several topics in one crawl."""

from __future__ import annotations

from crawlproject.options import Options, Share


class TopicsOptions(Options):
    """Several topics in one crawl."""

    crawl_fairness: Share = 0.5
    """share | of its quota of fetches that each of [several topics](topics.md#weights-and-shares) is sure of; 0:
    fetches go where the worth is, 1: they are shared out by weight"""
