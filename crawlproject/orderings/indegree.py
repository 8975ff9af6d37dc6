"""Prioritize by indegree (paper 004 section 4.1, which cites 002 for it)."""

from __future__ import annotations

from crawlproject.orderings.backlink_count import BacklinkCount


class Indegree(BacklinkCount):
    """The name that paper 004 has for ``backlink_count``: incoming links from pages already fetched.

    The definitions agree, so the code is the same; both names stand for whoever comes from either paper.
    """

    part = "indegree"
