"""Settings of the part: several topics in one crawl."""

from __future__ import annotations

from crawlproject.options import Options, Share


class TopicsOptions(Options):
    """Several topics in one crawl."""

    crawl_fairness: Share = 0.5
    """share | guaranteed part of the quota of fetches of each of [several topics](topics.md#weights-and-shares); 0:
    fetches go to the most valuable URLs; 1: fetches are divided by weight"""
