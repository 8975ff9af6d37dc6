"""Prioritize by trans-domain indegree (paper 004 section 4.1; D. Fetterly, N. Craswell, V. Vinay, SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Collection

from crawlproject.orderings.backlink_count import BacklinkCount
from crawlproject.records import Page
from crawlproject.urls.domains import domain_of


class TransDomainIndegree(BacklinkCount):
    """The number of fetched pages of other registrable domains that link to a URL.

    Links within a site do not count: menus give each page of a site as many backlinks as the site has pages.
    """

    part = "links from other domains"

    def counted(self, page: Page) -> Collection[str]:
        own = domain_of(page.url)
        return {link.url for link in page.links if domain_of(link.url) != own}
