"""What comes back to a probe."""

from __future__ import annotations

from dataclasses import dataclass

from crawlproject.pages.page_types import NATURES
from crawlproject.records import Fetch, Page

_ASKING = (429, 503)  # statuses that mean the host, not the page


@dataclass(frozen=True, slots=True)
class ProbeResponse:
    """What a probe brought: a ``page``, the canonical URL of a ``redirect``, or an ``error`` as in the history."""

    fetch: Fetch
    page: Page | None = None
    redirect: str = ""
    error: str = ""

    @property
    def page_type(self) -> str:
        """Why the page is no content; empty when it is some, or when there is none."""
        return next((page_type for page_type in NATURES if self.page and self.page.signs.get(page_type)), "")

    @property
    def blocks(self) -> bool:
        """Whether the host does not want to be asked: then it rests as after a captcha."""
        return self.fetch.status in _ASKING or self.page_type.startswith("block/")

    @property
    def trouble(self) -> str:
        """Why nothing follows from it; empty when something does."""
        if self.page is None and not self.redirect:
            return self.error or f"http {self.fetch.status}"
        return self.page_type if self.page_type.startswith(("block/", "parked")) else ""
