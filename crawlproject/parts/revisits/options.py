"""Settings of the part: pages that are visited again, and who is told of changes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from crawlproject.options import Count, Options, Seconds, Share, StarterOnly


class RevisitOptions(Options):
    """Revisits of pages, and notifications of changes."""

    crawl_revisit: str = ""
    """| how pages are [visited again](revisits.md): a policy such as `"adaptive"`; empty: each page is visited once
    | 004 section 5"""
    crawl_revisit_round: Count = 0
    """fetches | fetches after which a crawl with revisits ends, made as fast as politeness permits; 0: it never ends"""
    crawl_rate: Seconds = 0.0
    """fetches an hour | rate after the first harvest (`CRAWL_MAX_PAGES`), of new and old pages; 0: as many a week as
    the collection has pages"""
    crawl_new_share: Literal["price"] | Share = "price"
    """share | share of these fetches for new URLs, while some wait. `"price"`: whichever is worth more, if the policy
    weighs new pages against old ones; otherwise half | 004 section 5"""
    crawl_revisit_min: Seconds = 3_600.0
    """seconds | minimum time between two visits of a page"""
    crawl_clicks: str = ""
    """a file of clicks (a query, a URL and a number on each line, separated by tabs): visits are worth the clicks of a
    page instead of its relevance"""
    crawl_keep_pages: Count = 0
    """pages | maximum pages in a collection, the most relevant ones; others are retired and not fetched again; 0:
    `CRAWL_MAX_PAGES` | 004 section 8"""
    crawl_change_hook: Annotated[str, Field(exclude=True), StarterOnly("it runs a command")] = ""  # may carry a token
    """a command, or an http or https URL, that is [notified of changes and of the end](revisits-running.md#a-hook); not
    in topic files, and not written to `crawl.json`"""
    crawl_hook_pages: Count = 0
    """pages | number of new relevant pages that the hook [receives at a time](agents.md#a-hook-for-pipelines); 0:
    none"""
