"""The handler of each kind of URL that a crawl has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from crawlproject.core.entry_rules import EntryRules
from crawlproject.core.kinds.handler import Handler
from crawlproject.core.kinds.page import PageHandler, PageParts
from crawlproject.core.outlinks import Outlinks
from crawlproject.options import Options
from crawlproject.parts.listings.handler import ListingHandler
from crawlproject.parts.listings.listing import ListingReader
from crawlproject.parts.probes.handler import ProbeHandler
from crawlproject.parts.revisits.reread_handler import RereadHandler
from crawlproject.parts.revisits.revisit_handler import RevisitHandler
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.parts.revisits.steps import RevisitSteps
from crawlproject.parts.revisits.subscribe_handler import SubscribeHandler
from crawlproject.records import PAGE, PROBE, QUERY, REREAD, REVISIT, SUBSCRIBE

if TYPE_CHECKING:
    from crawlproject.parts.forms.forms import Forms


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
        from crawlproject.parts.forms.handler import QueryHandler

        kinds[QUERY] = QueryHandler(parts, forms, agent)
    if revisits and revisit_steps:
        holds = inspection.holds
        kinds[REVISIT] = RevisitHandler(admission, frontier, holds, revisits, canonicalize, revisit_steps)
        kinds[REREAD] = RereadHandler(admission, frontier, holds, revisits, listings, outlinks)
        kinds[SUBSCRIBE] = SubscribeHandler(admission, frontier, holds, revisits)
    return kinds
