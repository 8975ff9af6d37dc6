"""Why a page to which no page links was offered: it is the front page of a host."""

from __future__ import annotations

from collections.abc import Iterator

from crawlproject.reports.why.asked import Asked
from crawlproject.reports.why.lookup import links_to
from crawlproject.storage.read import LINKS
from crawlproject.urls.hosts import origin_of


def sentences(asked: Asked) -> Iterator[str]:
    """Yield a sentence for a page that was offered as a front page, except in a rehearsal, which keeps no links.

    Raises ``BadCrawlDir``.
    """
    found = asked.found
    record = found.visit or (found.frontier and found.frontier.record)
    may_be = found.url == f"{origin_of(found.url)}/" and (asked.folder / LINKS).exists()
    if not (may_be and record and record.parent and not record.anchor):
        return
    if not any(link.source == record.parent for link in links_to(asked.folder, found.url)):
        yield "That page does not link to it, but to others of its host, whose front page it is (CRAWL_FRONT_PAGES)."
