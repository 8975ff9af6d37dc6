"""The exceptions with which a middleware ends a request for a reason that is counted."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest


class Refused(IgnoreRequest):
    """A middleware refuses a request. ``reason`` has the form ``component/rule``, for example ``robots/forbidden``."""

    def __init__(self, reason: str, url: str) -> None:
        super().__init__(f"{reason}: {url}")
        self.reason = reason
        self.url = url


class NoRedirect(IgnoreRequest):
    """The response, with this ``status``, redirects to something that is not a URL."""

    def __init__(self, status: int) -> None:
        super().__init__("redirect to no URL")
        self.status = status
