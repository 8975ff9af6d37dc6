"""Settings of the part: sitemaps and feeds."""

from __future__ import annotations

from crawlproject.options import Count, Options, Positive


class ListingOptions(Options):
    """Sitemaps and feeds."""

    crawl_sitemaps: Count = 0
    """sitemaps | maximum sitemaps read per host, of those in its robots.txt; 0: none; see [sitemaps](#sitemaps)"""
    crawl_sitemap_urls: Positive = 1_000
    """links | maximum links followed per sitemap (those with words nearest to the topic, then the last changed) or feed
    (the first)"""
    crawl_feeds: Count = 0
    """feeds | maximum [feeds](page-content.md#feeds) read per host; 0: none"""
