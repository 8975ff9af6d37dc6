"""Scrapy's settings of TLS, tried before a crawl begins: Scrapy would log them and crawl without a handler."""

from __future__ import annotations

from ssl import SSLError
from typing import TYPE_CHECKING

from scrapy.utils.ssl import _make_ssl_context

from crawlproject.errors import BadSetting

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def refuse_tls_settings(settings: BaseSettings) -> None:
    """Raise ``BadSetting`` for ``DOWNLOAD_TLS_MIN_VERSION``, ``_MAX_VERSION`` or ciphers that OpenSSL does not know."""
    try:
        _make_ssl_context(settings)
    except ValueError as wrong:
        raise BadSetting("settings DOWNLOAD_TLS_*", f"expected TLSv1.0 to TLSv1.3 ({wrong})") from None
    except SSLError:
        name = "DOWNLOADER_CLIENT_TLS_CIPHERS"
        raise BadSetting(f"setting {name}", f"expected ciphers that OpenSSL knows, not {settings[name]!r}") from None
