"""The handler of each kind of URL that a crawl has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from crawlproject.crawl.entry_rules import EntryRules
from crawlproject.crawl.kinds.handler import Handler
from crawlproject.crawl.kinds.listing import ListingHandler
from crawlproject.crawl.kinds.page import PageHandler, PageParts
from crawlproject.crawl.kinds.probe import ProbeHandler
from crawlproject.crawl.kinds.reread import RereadHandler
from crawlproject.crawl.kinds.revisit import RevisitHandler
from crawlproject.crawl.kinds.subscribe import SubscribeHandler
from crawlproject.crawl.listing import ListingReader
from crawlproject.crawl.outlinks import Outlinks
from crawlproject.crawl.revisits.revisits import Revisits
from crawlproject.crawl.revisits.steps import RevisitSteps
from crawlproject.options import Options
from crawlproject.records import PAGE, PROBE, QUERY, REREAD, REVISIT, SUBSCRIBE

if TYPE_CHECKING:
    from crawlproject.crawl.forms import Forms


def make_handlers(
    parts: PageParts,
    options: Options,
    rules: EntryRules,
    *,
    canonicalize: Callable[..., str],
    listings: Mapping[str, ListingReader],
    outlinks: Outlinks,
    forms: Forms | None,
    revisits: Revisits | None,
    revisit_steps: RevisitSteps | None,
    agent: str,
) -> dict[str, Handler]:
    """Handlers by kind. ``listings`` are readers by kind; search forms and revisits have handlers where the crawl has them."""
    admission, frontier, inspection = parts.admission, parts.frontier, parts.inspection
    kinds: dict[str, Handler] = {
        PAGE: PageHandler(parts),
        **{kind: ListingHandler(parts, reader, outlinks, revisits) for kind, reader in listings.items()},
        PROBE: ProbeHandler(canonicalize, frontier, inspection, options, rules, parts.steps),
    }
    if forms is not None:
        from crawlproject.crawl.kinds.query import QueryHandler

        kinds[QUERY] = QueryHandler(parts, forms, agent)
    if revisits and revisit_steps:
        holds = inspection.holds
        kinds[REVISIT] = RevisitHandler(admission, frontier, holds, revisits, canonicalize, revisit_steps)
        kinds[REREAD] = RereadHandler(admission, frontier, holds, revisits, listings, outlinks)
        kinds[SUBSCRIBE] = SubscribeHandler(admission, frontier, holds, revisits)
    return kinds
