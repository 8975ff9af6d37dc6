"""Settings of the part: budgets and health of sites."""

from __future__ import annotations

from crawlproject.options import Count, Options, Seconds


class SiteOptions(Options):
    """Budgets and health of sites."""

    crawl_site_budget: Seconds = 1.0
    """times | factor for the fetches that a site [earns](adr/0016-budgets-of-sites.md) by links from other sites and by
    its pages; URLs over budget wait; sites of seeds and allowed domains have no budget [without
    evidence](adr/0029-what-a-person-named-has-no-budget.md); 0: no budgets | 004 section 6"""
    crawl_blocks_until_given_up: Count = 6
    """blocks | blocks minus successful pages at which a host is given up and its URLs are refused as `host/given_up`;
    0: never"""
