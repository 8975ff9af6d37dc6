"""What hubs were asked to say about a feed (WebSub)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from crawlproject.parts.websub.subscription import read_subscriptions
from crawlproject.reports.console import in_words, moment
from crawlproject.reports.why.asked import Asked


def sentences(asked: Asked) -> Iterator[str]:
    """Raises ``BadCrawlDir``."""
    yield from subscription_sentences(asked.folder, asked.found.url, asked.now)


def subscription_sentences(folder: Path, url: str, now: float) -> Iterator[str]:
    """The subscriptions to a feed; none where the file is another user's. Raises ``BadCrawlDir``."""
    found = []
    with suppress(PermissionError):
        found = [known for known in read_subscriptions(folder) if known.feed == url]
    for known in found:
        tried = known.true + known.false
        worth = f" {known.true:,} of {tried:,} readings for its deliveries brought news." if tried else ""
        if known.is_live(now):
            yield f"The hub {known.hub} reports its changes until {moment(known.ends)}.{worth}"
        elif known.leaving:
            yield f"The hub {known.hub} is asked to stop reporting its changes."
        else:
            when = f"it is asked again in {in_words(known.due - now)}" if known.due > now else "it is asked now"
            yield f"The hub {known.hub} does not report its changes; {when}.{worth}"
