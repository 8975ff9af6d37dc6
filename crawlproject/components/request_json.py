"""Scrapy requests as text, so that a spider's own requests wait in the frontier and survive a crash.

JSON, not pickle: reading a crawl folder must never run code. What would not come back as it was (objects in ``meta``, an
infinite number) is refused; such a request is then kept in memory only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from scrapy import Request
from scrapy.utils.misc import load_object
from scrapy.utils.request import fingerprint, request_from_dict

from crawlproject.components.json_values import from_plain, to_plain
from crawlproject.components.meta import LEASE
from crawlproject.errors import InvalidUrl
from crawlproject.urls.canonical import canonical_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider


def dump_request(request: Request, spider: Spider) -> str:
    """The request as JSON; callbacks by name. Raises ``TypeError`` or ``ValueError`` when it cannot be written down."""
    try:
        return orjson.dumps(to_plain(request.to_dict(spider=spider))).decode()
    except RecursionError:
        raise ValueError("a request that contains itself cannot be written as JSON") from None


def load_request(text: str, spider: Spider) -> Request:
    """The request again, with the spider's callbacks. Raises ``ValueError`` when it cannot be made any more."""
    fields = orjson.loads(text)
    try:
        fields = from_plain(fields, type(spider).__module__.partition(".")[0])
        kind = load_object(fields.get("_class", Request))
        if not (isinstance(kind, type) and issubclass(kind, Request)):
            raise ValueError(f"{fields['_class']} is no Request")
        return request_from_dict(fields, spider=spider)
    except (AttributeError, ImportError, KeyError, NameError, TypeError) as cause:
        raise ValueError(f"not a request that can be made: {cause!r}") from cause


def lease_key(request: Request, canonicalize: Callable[[str], str]) -> str | None:
    """What the frontier knows a request of the topical crawl by: the key it names, else its canonical URL if it has one."""
    key: str | None = request.meta.get(LEASE)
    return key or canonical_or_none(canonicalize, request.url)


def frontier_key(request: Request, canonicalize: Callable[[str], str], serial: int) -> str:
    """What the frontier knows a request by.

    A plain GET is its canonical URL. Anything else carries, behind a ``#`` that no canonical URL has, what tells it apart:
    its fingerprint, or the ``serial`` number when the spider asked not to filter it.
    """
    try:
        url = canonicalize(request.url)
    except InvalidUrl:
        url = request.url.split("#")[0]  # ftp:, data:, s3: and whatever else Scrapy has handlers for
    if request.dont_filter:
        return f"{url}#{serial}"
    if request.method != "GET" or request.body:
        return f"{url}#{fingerprint(request).hex()}"
    return url
