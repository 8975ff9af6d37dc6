"""Settings of the part: sitemaps and feeds."""

from __future__ import annotations

from crawlproject.options import Count, Options, Positive


class ListingOptions(Options):
    """Sitemaps and feeds."""

    crawl_sitemaps: Count = 0
    """sitemaps | read per host, of those that its robots.txt names; 0: none; see [sitemaps](#sitemaps)"""
    crawl_sitemap_urls: Positive = 1_000
    """links | followed per sitemap: those whose words are nearest to the topic, then the latest changed; of a feed,
    the first"""
    crawl_feeds: Count = 0
    """feeds | of a host that are read ([feeds](page-content.md#feeds)); 0: none"""
