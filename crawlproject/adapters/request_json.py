"""Scrapy requests as text, so that a spider's own requests wait in the frontier and survive a crash.

JSON, not pickle: reading a crawl folder must never run code. What would not come back as it was (objects in ``meta``, an
infinite number) is refused; such a request is then kept in memory only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from scrapy import Request
from scrapy.utils.request import fingerprint, request_from_dict

from crawlproject.adapters.json_values import find, from_plain, to_plain
from crawlproject.adapters.meta import LEASE
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.post import POST, is_form_body, post_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler


def dump_request(request: Request, spider: Spider) -> str:
    """The request as JSON; callbacks by name. Raises ``TypeError`` or ``ValueError`` when it cannot be written down."""
    try:
        return orjson.dumps(to_plain(request.to_dict(spider=spider))).decode()
    except RecursionError:
        raise ValueError("a request that contains itself cannot be written as JSON") from None


def load_request(text: str, spider: Spider) -> Request:
    """The request again, with the spider's callbacks. Raises ``ValueError`` when it cannot be made any more."""
    fields = orjson.loads(text)
    package = type(spider).__module__.partition(".")[0]
    try:
        fields = from_plain(fields, package)
        module, _, name = fields.get("_class", "scrapy.Request").rpartition(".")
        kind = find(module, name, package)  # before Scrapy, which would import any module
        if not (isinstance(kind, type) and issubclass(kind, Request)):
            raise ValueError(f"{fields['_class']} is no Request")
        return request_from_dict(fields, spider=spider)
    except (AttributeError, ImportError, KeyError, NameError, TypeError) as cause:
        raise ValueError(f"not a request that can be made: {cause!r}") from cause


def lease_key(request: Request, canonicalize: Callable[[str], str]) -> str | None:
    """What the frontier knows a request of the topical crawl by: the key it names, else its canonical URL if it has one."""
    key: str | None = request.meta.get(LEASE)
    return key or canonical_or_none(canonicalize, request.url)


def post_key(request: Request, canonicalize: Callable[[str], str]) -> str:
    """What the frontier of the topical crawl knows a POST by; empty for any other request."""
    url = canonical_or_none(canonicalize, request.url) if request.method == POST else None
    body = request.body.decode("ascii", "replace")
    return post_url(url, body) if url and is_form_body(body) else ""


def canonical_identity(request: Request, canonicalize: Callable[[str], str]) -> str:
    """Requests are the same when their canonical URLs are, and for anything but a plain GET their fingerprints, too.

    The fingerprint follows a ``#``, which no canonical URL has.
    """
    url = _url_of(request, canonicalize)
    return url if request.method == "GET" and not request.body else f"{url}#{fingerprint(request).hex()}"


def fingerprint_identity(request: Request, canonicalize: Callable[[str], str], crawler: Crawler) -> str:
    """Requests are the same when ``REQUEST_FINGERPRINTER_CLASS`` says so, as in Scrapy."""
    assert crawler.request_fingerprinter is not None, "the crawler makes it before the scheduler"
    return f"{_url_of(request, canonicalize)}#{crawler.request_fingerprinter.fingerprint(request).hex()}"


def _url_of(request: Request, canonicalize: Callable[[str], str]) -> str:
    """The canonical URL, or for ``ftp:``, ``data:`` and whatever else Scrapy has handlers for the URL without fragment."""
    return canonical_or_none(canonicalize, request.url) or request.url.partition("#")[0]
