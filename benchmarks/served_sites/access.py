"""A line of the access log, the only record of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit


@dataclass(frozen=True, slots=True)
class Access:
    """A request that was answered; ``at`` is the end of the answer, ``url`` the URL as requested."""

    at: float
    seconds: float
    url: str
    method: str
    status: int
    content_type: str
    location: str
    bytes: int

    @property
    def split(self) -> SplitResult:
        """The parts of the URL."""
        return urlsplit(self.url)
