"""What probes have found about a page, its site and its host."""

from __future__ import annotations

from collections.abc import Iterable

from crawlproject.parts.probes.report import probe_sentences
from crawlproject.reports.why.asked import Asked


def sentences(asked: Asked) -> Iterable[str]:
    """The findings; none when nothing was probed. Raises ``BadCrawlDir``."""
    return probe_sentences(asked.folder, asked.found.url)
