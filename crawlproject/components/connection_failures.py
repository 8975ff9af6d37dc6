"""Which failures of a download mean that nobody answered: these say nothing about the page."""

from __future__ import annotations

import aiohttp
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)

_SILENT = (CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError, TimeoutError, ConnectionError)


class Unanswered(Exception):
    """Nobody answered when robots.txt was asked for; ``error`` names the failure."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


def connection_failure(failure: BaseException) -> str:
    """The name of a failure to connect (no address, refused, broken off, timeout); empty for any other."""
    if isinstance(failure, Unanswered):
        return failure.error
    broken_off = isinstance(failure, DownloadFailedError) and isinstance(
        failure.__cause__, aiohttp.ClientConnectionError
    )
    return type(failure).__name__ if broken_off or isinstance(failure, _SILENT) else ""
