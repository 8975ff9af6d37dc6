"""Serialises Scrapy requests, so that a spider's own requests wait in the frontier and survive a crash.

The format is JSON, not pickle: reading a crawl folder must never run code. Items (of Scrapy, dataclasses, attrs) are restored
without calling their constructors, as pickle does, and only if their class is already imported or belongs to the ``package``
of the spider. A value that would not be restored exactly (objects in ``meta``, an infinite number) is refused; such a request
is then kept in memory only.
"""

from __future__ import annotations

import math
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
from itemadapter import ItemAdapter
from lxml.etree import _ElementUnicodeResult as XPathText
from scrapy import Item, Request
from scrapy.utils.request import fingerprint, request_from_dict

from crawlproject.adapters.running import LEASE
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.post import POST, is_form_body, post_url

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from crawlproject.core.crawl import Crawl
    from crawlproject.records import CrawlUrl

# A JSON object with one of these names represents a type that JSON does not have.
_BYTES = "__bytes__"
_PAIRS = "__pairs__"  # a dict with keys that are not text, or with one of these names as a key
_ITEM = "__item__"  # module, class and fields
_LISTS: dict[str, Callable[[Iterable[Any]], Any]] = {"__tuple__": tuple, "__set__": set, "__frozenset__": frozenset}
_TEXTS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "__datetime__": (datetime, datetime.isoformat, datetime.fromisoformat),
    "__date__": (date, date.isoformat, date.fromisoformat),
    "__time__": (time, time.isoformat, time.fromisoformat),
    "__decimal__": (Decimal, str, Decimal),
    "__uuid__": (UUID, str, UUID),
}
_SECONDS = "__timedelta__"  # days, seconds, microseconds
_MARKS = frozenset((_BYTES, _PAIRS, _ITEM, _SECONDS, *_LISTS, *_TEXTS))
_PLAIN = frozenset((str, int, float, bool, type(None)))
_LIST_MARK = {kind: mark for mark, kind in _LISTS.items()}
_TEXT_MARK = {kind: mark for mark, (kind, _, _) in _TEXTS.items()}


def dump_request(request: Request, spider: Spider) -> str:
    """Serialise a request as JSON, with callbacks by name. Raises ``TypeError`` or ``ValueError`` if that is impossible."""
    try:
        return orjson.dumps(to_plain(request.to_dict(spider=spider))).decode()
    except RecursionError:
        raise ValueError("a request that contains itself cannot be written as JSON") from None


def load_request(text: str, spider: Spider) -> Request:
    """Restore a request, with the spider's callbacks. Raises ``ValueError`` if that is no longer possible."""
    fields = orjson.loads(text)
    package = type(spider).__module__.partition(".")[0]
    try:
        fields = from_plain(fields, package)
        module, _, name = fields.get("_class", "scrapy.Request").rpartition(".")
        kind = find(module, name, package)  # checked before Scrapy, which would import any module
        if not (isinstance(kind, type) and issubclass(kind, Request)):
            raise ValueError(f"{fields['_class']} is not a Request")
        return request_from_dict(fields, spider=spider)
    except (AttributeError, ImportError, KeyError, NameError, TypeError) as cause:
        raise ValueError(f"not a request that can be made: {cause!r}") from cause


def lease_key(request: Request, canonicalize: Callable[[str], str]) -> str | None:
    """The frontier key of a request of the topical crawl: the key in its ``meta``, else its canonical URL, if it has one."""
    key: str | None = request.meta.get(LEASE)
    return key or canonical_or_none(canonicalize, request.url)


def lease_of(crawl: Crawl | None, request: Request) -> CrawlUrl | None:
    """The open lease of a topical crawl for which a request was made, or None."""
    key = lease_key(request, crawl.canonicalize) if crawl else None
    return crawl.frontier.leased(key) if crawl and key else None


def post_key(request: Request, canonicalize: Callable[[str], str]) -> str:
    """The frontier key of a POST of the topical crawl; empty for any other request."""
    url = canonical_or_none(canonicalize, request.url) if request.method == POST else None
    body = request.body.decode("ascii", "replace")
    return post_url(url, body) if url and is_form_body(body) else ""


def canonical_identity(request: Request, canonicalize: Callable[[str], str]) -> str:
    """The identity of a request: its canonical URL and, unless it is a plain GET, its fingerprint.

    The fingerprint follows a ``#``, which no canonical URL contains.
    """
    url = _url_of(request, canonicalize)
    return url if request.method == "GET" and not request.body else f"{url}#{fingerprint(request).hex()}"


def fingerprint_identity(request: Request, canonicalize: Callable[[str], str], crawler: Crawler) -> str:
    """The identity of a request by ``REQUEST_FINGERPRINTER_CLASS``, as in Scrapy."""
    assert crawler.request_fingerprinter is not None, "the crawler makes it before the scheduler"
    return f"{_url_of(request, canonicalize)}#{crawler.request_fingerprinter.fingerprint(request).hex()}"


def _url_of(request: Request, canonicalize: Callable[[str], str]) -> str:
    """The canonical URL; for ``ftp:``, ``data:`` and other schemes that Scrapy handles, the URL without its fragment."""
    return canonical_or_none(canonicalize, request.url) or request.url.partition("#")[0]


def to_plain(value: Any) -> Any:
    """Convert ``value`` to JSON types. Raises ``TypeError`` or ``ValueError`` for a value that would not be restored exactly."""
    kind = type(value)
    if kind in _PLAIN:
        if kind is float and not math.isfinite(value):
            raise _refused(value)
        return value
    if kind is dict:
        return _plain_dict(value)
    if kind is list:
        return [to_plain(part) for part in value]
    if kind is bytes:
        return {_BYTES: b64encode(value).decode()}
    if kind in _LIST_MARK:
        return {_LIST_MARK[kind]: [to_plain(part) for part in value]}
    if kind is XPathText:
        return str(value)  # equal, but without the tree in which it was found
    if kind in _TEXT_MARK:
        return _plain_text(_TEXT_MARK[kind], value)
    if kind is timedelta:
        return {_SECONDS: [value.days, value.seconds, value.microseconds]}
    if _is_item_class(kind):
        return _plain_item(value)
    raise _refused(value)


def from_plain(value: Any, package: str = "") -> Any:
    """Restore a value. ``package`` is the top-level package whose item classes may be imported.

    Raises ``ValueError``, ``TypeError`` or ``KeyError`` for values that ``to_plain`` did not write.
    """
    if isinstance(value, list):
        return [from_plain(part, package) for part in value]
    if not isinstance(value, dict):
        return value
    mark = next(iter(value), None) if len(value) == 1 else None
    if mark not in _MARKS:
        return {key: from_plain(part, package) for key, part in value.items()}
    held = value[mark]
    if mark == _BYTES:
        return b64decode(held, validate=True)
    if mark == _PAIRS:
        return {from_plain(key, package): from_plain(part, package) for key, part in held}
    if mark == _SECONDS:
        return timedelta(*held)
    if mark == _ITEM:
        module, name, fields = held
        return _rich_item(module, name, fields, package)
    if mark in _LISTS:
        return _LISTS[mark](from_plain(part, package) for part in held)
    return _TEXTS[mark][2](held)


def _plain_dict(value: dict[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str and key not in _MARKS for key in value):
        return {key: to_plain(part) for key, part in value.items()}
    return {_PAIRS: [[to_plain(key), to_plain(part)] for key, part in value.items()]}


def _plain_text(mark: str, value: Any) -> dict[str, str]:
    _, write, read = _TEXTS[mark]
    text = write(value)
    if repr(read(text)) != repr(value):
        raise _refused(value)  # such as a named time zone
    return {mark: text}


# ------------------------------------------------------------ items


def _is_item_class(kind: type) -> bool:
    return issubclass(kind, Item) or is_dataclass(kind) or hasattr(kind, "__attrs_attrs__")


def _plain_item(value: Any) -> dict[str, list[Any]]:
    kind = type(value)
    fields = dict(ItemAdapter(value))
    if find(kind.__module__, kind.__qualname__) is not kind or _hidden(value, fields):
        raise _refused(value)
    return {_ITEM: [kind.__module__, kind.__qualname__, {name: to_plain(part) for name, part in fields.items()}]}


def _hidden(value: Any, fields: dict[str, Any]) -> set[str]:
    """Attributes of an item that are not among its fields."""
    return set() if isinstance(value, Item) else set(getattr(value, "__dict__", ())) - set(fields)


def _rich_item(module: str, name: str, fields: dict[str, Any], package: str) -> Any:
    kind = find(module, name, package)
    if not (isinstance(kind, type) and _is_item_class(kind)):
        raise ValueError(f"{module}.{name} is not an item class of this project")
    values = {field: from_plain(part, package) for field, part in fields.items()}
    if issubclass(kind, Item):
        item = kind()
        for field, part in values.items():
            item[field] = part
        return item
    thing: Any = kind.__new__(kind)
    for field, part in values.items():
        object.__setattr__(thing, field, part)  # works for frozen classes, too
    return thing


def find(module: str, name: str, package: str = "") -> Any:
    """The object with this name in an imported module, or None. Only modules of ``package`` are imported."""
    if package and module.partition(".")[0] == package:
        import_module(module)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _refused(value: Any) -> TypeError:
    return TypeError(f"a request with {value!r:.100} in it cannot be written as JSON")
