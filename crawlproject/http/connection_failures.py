"""Interprets failed exchanges, and refuses TLS settings with which all exchanges would fail.

Some failures of a download mean that the host did not answer: these say nothing about the page. Scrapy's TLS settings are
checked before a crawl begins, because Scrapy would only log an error and crawl without a handler.
"""

from __future__ import annotations

import ssl
from ssl import SSLError
from typing import TYPE_CHECKING

import aiohttp
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.utils.ssl import _make_ssl_context

from crawlproject.errors import BadSetting

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_SILENT = (CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError, TimeoutError, ConnectionError)


class Unanswered(Exception):
    """No usable robots.txt came; ``error`` names the failure."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class ExchangeLost(DownloadFailedError):
    """An exchange failed through no fault of the host: the page waits for another try, and no failure is counted.

    ``reason``: the process was ``suspended`` or ``busy``, the server had closed an ``idle_connection``, or a redirect of its
    robots.txt led to a ``busy_host`` that waits for it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TlsFailed(DownloadConnectionRefusedError):
    """The TLS handshake with a server failed; ``error`` says why, in the words of OpenSSL."""

    def __init__(self, failure: ssl.SSLError) -> None:
        super().__init__(str(failure))
        self.error = f"tls {(failure.reason or 'failed').lower().replace('_', ' ')}"


def tls_failure(failure: aiohttp.ClientError) -> TlsFailed | None:
    """The TLS failure behind ``failure``, or None. A connection that merely ends is not a TLS failure."""
    cause = failure.os_error if isinstance(failure, aiohttp.ClientConnectorError) else failure.__cause__
    if not isinstance(cause, ssl.SSLError) or isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return None
    return TlsFailed(cause)


def connection_failure(failure: BaseException) -> str:
    """The name of a connection failure (no address, refused, no TLS, aborted, time-out); empty for any other failure."""
    if isinstance(failure, ExchangeLost):
        return failure.reason
    if isinstance(failure, Unanswered | TlsFailed):
        return failure.error
    broken_off = isinstance(failure, DownloadFailedError) and isinstance(
        failure.__cause__, aiohttp.ClientConnectionError
    )
    return type(failure).__name__ if broken_off or isinstance(failure, _SILENT) else ""


def refuse_tls_settings(settings: BaseSettings) -> None:
    """Raise ``BadSetting`` if OpenSSL does not know ``DOWNLOAD_TLS_MIN_VERSION``, ``_MAX_VERSION`` or the ciphers."""
    try:
        _make_ssl_context(settings)
    except ValueError as wrong:
        raise BadSetting("settings DOWNLOAD_TLS_*", f"expected TLSv1.0 to TLSv1.3 ({wrong})") from None
    except SSLError:
        name = "DOWNLOADER_CLIENT_TLS_CIPHERS"
        raise BadSetting(f"setting {name}", f"expected ciphers that OpenSSL knows, not {settings[name]!r}") from None
