"""Scrapy requests as text, so that a spider's own requests wait in the frontier and survive a crash.

JSON, not pickle: reading a crawl folder must never run code. What would not come back as it was (objects in ``meta``, an
infinite number) is refused; such a request is then kept in memory only.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

import orjson
from scrapy import Request
from scrapy.utils.misc import load_object
from scrapy.utils.request import fingerprint, request_from_dict

from crawlproject.errors import InvalidUrl

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider

# A JSON object with one of these names stands for what JSON does not have.
_BYTES = "__bytes__"
_TUPLE = "__tuple__"
_PAIRS = "__pairs__"  # a dict whose keys are not text, or that has one of these names for a key
_MARKS = frozenset((_BYTES, _TUPLE, _PAIRS))
_PLAIN = frozenset((str, int, float, bool, type(None)))


def dump_request(request: Request, spider: Spider) -> str:
    """The request as JSON; callbacks by name. Raises ``TypeError`` or ``ValueError`` when it cannot be written down."""
    try:
        return orjson.dumps(_plain(request.to_dict(spider=spider))).decode()
    except RecursionError:
        raise ValueError("a request that contains itself cannot be written as JSON") from None


def load_request(text: str, spider: Spider) -> Request:
    """The request again, with the spider's callbacks. Raises ``ValueError`` when it cannot be made any more."""
    fields = orjson.loads(text)
    try:
        fields = _rich(fields)
        kind = load_object(fields.get("_class", Request))
        if not (isinstance(kind, type) and issubclass(kind, Request)):
            raise ValueError(f"{fields['_class']} is no Request")
        return request_from_dict(fields, spider=spider)
    except (AttributeError, ImportError, KeyError, NameError, TypeError) as cause:
        raise ValueError(f"not a request that can be made: {cause!r}") from cause


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


def _plain(value: Any) -> Any:
    """``value`` as JSON has it. Sub-classes are refused: they would come back as something else."""
    kind = type(value)
    if kind is bytes:
        return {_BYTES: b64encode(value).decode()}
    if kind is tuple:
        return {_TUPLE: [_plain(part) for part in value]}
    if kind is list:
        return [_plain(part) for part in value]
    if kind is dict:
        return _plain_dict(value)
    if kind not in _PLAIN or (kind is float and not math.isfinite(value)):
        raise TypeError(f"a request with {value!r:.100} in it cannot be written as JSON")
    return value


def _plain_dict(value: dict[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str and key not in _MARKS for key in value):
        return {key: _plain(part) for key, part in value.items()}
    return {_PAIRS: [[_plain(key), _plain(part)] for key, part in value.items()]}


def _rich(value: Any) -> Any:
    if isinstance(value, list):
        return [_rich(part) for part in value]
    if not isinstance(value, dict):
        return value
    if _BYTES in value:
        return b64decode(value[_BYTES], validate=True)
    if _TUPLE in value:
        return tuple(_rich(part) for part in value[_TUPLE])
    if _PAIRS in value:
        return {_rich(key): _rich(part) for key, part in value[_PAIRS]}
    return {key: _rich(part) for key, part in value.items()}
