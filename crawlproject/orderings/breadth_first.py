"""Breadth-first: a queue (paper 003 section 4.2). The baseline of every comparison."""

from __future__ import annotations

from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import Link, Page


class BreadthFirst(BaseOrdering):
    """Every link scores the same, and the frontier lets equal scores leave first in, first out."""

    def score(self, page: Page, link: Link) -> float:
        return 0.0

    def seed_score(self, url: str) -> float:
        return 0.0
