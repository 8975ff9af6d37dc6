"""Settings of the part: pages that are visited again, and who is told of changes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from crawlproject.options import Count, Options, Seconds, Share, StarterOnly


class RevisitOptions(Options):
    """Pages that are visited again, and who is told of changes."""

    crawl_revisit: str = ""
    """| how pages are [visited again](revisits.md): a policy such as `"adaptive"`; empty: each page is visited once
    | 004 section 5"""
    crawl_revisit_round: Count = 0
    """fetches | after which such a crawl ends, made as fast as politeness permits; 0: it never ends"""
    crawl_rate: Seconds = 0.0
    """fetches an hour | after the first harvest (`CRAWL_MAX_PAGES`), of new pages and old; 0: as many a week as the
    collection has pages"""
    crawl_new_share: Literal["price"] | Share = "price"
    """share | of these fetches for new URLs, while some wait. `"price"`: where the policy weighs new pages against
    old ones, what is worth more; with the others a half | 004 section 5"""
    crawl_revisit_min: Seconds = 3_600.0
    """seconds | between two visits of a page, at least"""
    crawl_clicks: str = ""
    """a file of clicks (a query, a URL and a number on each line, tabs between them): pages are worth visits by
    their clicks instead of by their relevance"""
    crawl_keep_pages: Count = 0
    """pages | that a collection keeps, the most relevant ones; the others are retired and not fetched again; 0:
    `CRAWL_MAX_PAGES` | 004 section 8"""
    crawl_change_hook: Annotated[str, Field(exclude=True), StarterOnly("it runs a command")] = ""  # may carry a token
    """a command, or an http or https URL, that is [told of changes, and of the end](revisits-running.md#a-hook);
    not in topic files, and not written to `crawl.json`"""
    crawl_hook_pages: Count = 0
    """pages | new relevant pages after which the hook is [told of them](agents.md#a-hook-for-pipelines), each time;
    0: never"""
