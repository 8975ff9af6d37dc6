"""Scrapy requests as text, so that a spider's own requests wait in the frontier and survive a crash.

JSON, not pickle: reading a crawl folder must never run code. What JSON cannot hold (objects in ``meta``) raises
``TypeError``; such a request is then kept in memory only.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

import orjson
from scrapy.utils.request import fingerprint, request_from_dict

from crawlproject.errors import InvalidUrl

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request, Spider

_BYTES = "__bytes__"
_TUPLE = "__tuple__"


def dump_request(request: Request, spider: Spider) -> str:
    """The request as JSON; callbacks by name. Raises ``TypeError`` or ``ValueError`` when it cannot be written down."""
    return orjson.dumps(_plain(request.to_dict(spider=spider))).decode()


def load_request(text: str, spider: Spider) -> Request:
    """The request again, with the spider's callbacks."""
    return request_from_dict(_rich(orjson.loads(text)), spider=spider)


def frontier_key(request: Request, canonicalize: Callable[[str], str], serial: int) -> str:
    """What the frontier knows a request by.

    A plain GET is its canonical URL. Anything else carries, behind a ``#`` that no canonical URL has, what tells it apart:
    its fingerprint, or the ``serial`` number when the spider asked not to filter it. Raises ``InvalidUrl``.
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


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: b64encode(value).decode()}
    if isinstance(value, tuple):
        return {_TUPLE: [_plain(part) for part in value]}
    if isinstance(value, dict):
        return {_text(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value


def _text(key: Any) -> str:
    """Header names are bytes; ``Request`` takes them as text as well."""
    if isinstance(key, bytes):
        return key.decode("latin-1")
    if isinstance(key, str):
        return key
    raise TypeError(f"a request with the key {key!r} in a dict cannot be written as JSON")


def _rich(value: Any) -> Any:
    if isinstance(value, dict):
        if _BYTES in value:
            return b64decode(value[_BYTES])
        if _TUPLE in value:
            return tuple(_rich(part) for part in value[_TUPLE])
        return {key: _rich(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_rich(part) for part in value]
    return value
