"""What comes back to a probe, and what is made of it."""

from __future__ import annotations

from dataclasses import dataclass

from crawlproject.inspection.natures import NATURES
from crawlproject.records import Fetch, Page

HONEST = "honest"  # a browser is shown the same; what is not there is said not to be
CLOAKED = "cloaked"  # we are shown what a browser is not
MADE_UP = "soft_404"  # what is not there is answered like a page
UNDECIDED = "undecided"  # nothing can be said, and it is not tried again
OPEN = ""  # another copy has to be fetched

_ASKING = (429, 503)  # statuses that mean the host, not the page
_UNWELCOME = (401, 403, *_ASKING)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a probe brought: a ``page``, the canonical URL of a ``redirect``, or an ``error`` as in the history."""

    fetch: Fetch
    page: Page | None = None
    redirect: str = ""
    error: str = ""

    @property
    def nature(self) -> str:
        """Why the page is no content; empty when it is some, or when there is none."""
        return next((nature for nature in NATURES if self.page and self.page.signs.get(nature)), "")

    @property
    def blocks(self) -> bool:
        """Whether the host does not want to be asked: then it rests as after a wall."""
        return self.fetch.status in _ASKING or self.nature.startswith("block/")

    @property
    def trouble(self) -> str:
        """Why nothing can be told from it; empty when something can."""
        if self.page is None and not self.redirect:
            return self.error or f"http {self.fetch.status}"
        return self.nature if self.nature.startswith(("block/", "parked")) else ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of ``probes.jsonl``: one step of a probe.

    ``url`` was fetched as ``step`` because of ``page``. ``verdict`` is one of the above; ``why`` says it in words. ``hidden``
    is which share of what we are shown a browser is not, ``churn`` which share comes and goes by itself, both 0 to 1.
    ``redirect``, ``title``, ``links`` and ``text`` are by what a missing page is known again (``missing.py``).
    """

    url: str
    step: str
    page: str
    at: float
    seconds: float
    status: int
    verdict: str
    why: str = ""
    hidden: float = 0.0
    churn: float = 0.0
    redirect: str = ""
    title: str = ""
    links: int = 0
    text: str = ""

    @property
    def unwelcome(self) -> bool:
        """Whether the host turned the probe away: it is not probed again."""
        return self.status in _UNWELCOME or self.why.startswith("block/")
