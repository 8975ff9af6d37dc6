"""Naive best-first (paper 000 section 3.1, eq. 1; paper 003 section 4.3)."""

from __future__ import annotations

from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import Link, Page


class BestFirst(BaseOrdering):
    """The score of a link is the relevance of its page: the cosine of page and keywords, both as term frequencies."""

    def score(self, page: Page, link: Link) -> float:
        return page.relevance
