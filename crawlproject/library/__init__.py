"""The crawler for programs and notebooks (``docs/library.md``)."""

from crawlproject.library.crawling import crawl
from crawlproject.library.rehearsing import Rehearsal, Rehearsals, rehearse
from crawlproject.library.stored_crawl import StoredCrawl, open_crawl
from crawlproject.library.stored_pages import StoredPage, StoredPages
from crawlproject.orderings.registry import ordering
from crawlproject.records import Topic

__all__ = [
    "Rehearsal",
    "Rehearsals",
    "StoredCrawl",
    "StoredPage",
    "StoredPages",
    "Topic",
    "crawl",
    "open_crawl",
    "ordering",
    "rehearse",
]
