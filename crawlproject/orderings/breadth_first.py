"""Breadth-first: a queue (paper 003 section 4.2). The baseline of every comparison."""

from __future__ import annotations

from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import Link, Page


class BreadthFirst(BaseOrdering):
    """Every link has the same score, and the frontier returns equal scores first in, first out."""

    def score(self, page: Page, link: Link) -> float:
        return 0.0

    def seed_score(self, url: str) -> float:
        return 0.0
