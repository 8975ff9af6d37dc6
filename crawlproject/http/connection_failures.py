"""What a failed or refused exchange means, and TLS settings that would make all fail.

Some failures of a download mean that nobody answered: these say nothing about the page. Scrapy's settings of TLS are tried
before a crawl begins: Scrapy would log them and crawl without a handler.
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
    """No robots.txt came that can be followed; ``error`` names the failure."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class ExchangeLost(DownloadFailedError):
    """An exchange came to nothing by no fault of the host: the page waits for another try, and nobody counts a failure.

    ``reason``: the process was ``suspended`` or ``busy``, or the server had closed an ``idle_connection``.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TlsFailed(DownloadConnectionRefusedError):
    """A server and this crawler do not agree on TLS; ``error`` says why, in the words of OpenSSL."""

    def __init__(self, failure: ssl.SSLError) -> None:
        super().__init__(str(failure))
        self.error = f"tls {(failure.reason or 'failed').lower().replace('_', ' ')}"


def tls_failure(failure: aiohttp.ClientError) -> TlsFailed | None:
    """What ``failure`` says of TLS, if it is about that: a connection that only ends is not."""
    cause = failure.os_error if isinstance(failure, aiohttp.ClientConnectorError) else failure.__cause__
    if not isinstance(cause, ssl.SSLError) or isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return None
    return TlsFailed(cause)


def connection_failure(failure: BaseException) -> str:
    """The name of a failure to connect (no address, refused, no TLS, broken off, timeout); empty for any other."""
    if isinstance(failure, ExchangeLost):
        return failure.reason
    if isinstance(failure, Unanswered | TlsFailed):
        return failure.error
    broken_off = isinstance(failure, DownloadFailedError) and isinstance(
        failure.__cause__, aiohttp.ClientConnectionError
    )
    return type(failure).__name__ if broken_off or isinstance(failure, _SILENT) else ""


def refuse_tls_settings(settings: BaseSettings) -> None:
    """Raise ``BadSetting`` for ``DOWNLOAD_TLS_MIN_VERSION``, ``_MAX_VERSION`` or ciphers that OpenSSL does not know."""
    try:
        _make_ssl_context(settings)
    except ValueError as wrong:
        raise BadSetting("settings DOWNLOAD_TLS_*", f"expected TLSv1.0 to TLSv1.3 ({wrong})") from None
    except SSLError:
        name = "DOWNLOADER_CLIENT_TLS_CIPHERS"
        raise BadSetting(f"setting {name}", f"expected ciphers that OpenSSL knows, not {settings[name]!r}") from None
