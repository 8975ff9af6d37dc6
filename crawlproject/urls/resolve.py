"""Resolves the ``href`` of a link to an absolute URL, by concatenation (RFC 3986 section 5.2).

Only leading ``../`` segments are resolved here; the parser normalises the rest. So the links of neighbouring pages to the
same page are equal strings, which are parsed only once. The result is equivalent to the WHATWG join for http and https
bases, and several times faster to compute, because the base is split once per page.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import ada_url

from crawlproject.errors import InvalidUrl

MAX_LENGTH = 16_384  # characters; longer URLs are data or traps, and only cost time and memory

_CONTROLS_AND_SPACE = "".join(map(chr, range(0x21)))
_TABS_AND_NEWLINES = str.maketrans("", "", "\t\n\r")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_SLASHES = ("/", "\\")


class Base(NamedTuple):
    """The parts of the URL of a page that a relative reference may need."""

    scheme: str  # http
    origin: str  # http://host:8080
    directory: str  # http://host:8080/a/
    document: str  # http://host:8080/a/b
    url: str  # http://host:8080/a/b?c


def cleaned(href: str) -> str:
    """Return ``href`` without fragment, surrounding white space, tabs and newlines."""
    href = href.partition("#")[0].strip(_CONTROLS_AND_SPACE)
    return href if href.isprintable() else href.translate(_TABS_AND_NEWLINES)


def scheme_of(href: str) -> str:
    """Return the lower-case scheme of a cleaned ``href``; empty if it is relative."""
    found = _SCHEME.match(href) if ":" in href else None
    return found[1].lower() if found else ""


def absolute(href: str, base: str) -> str:
    """Resolve a cleaned ``href`` against the URL of its page. Raises InvalidUrl if that URL is needed but invalid."""
    if href.startswith(("http://", "https://")):
        return href
    scheme = scheme_of(href)
    if not scheme:
        return _relative(href, base_of(base))
    if scheme in ("http", "https") and base_of(base).scheme == scheme:  # "http:a/b", an old way to write "a/b"
        return _relative(href[len(scheme) + 1 :], base_of(base))
    return href


def _relative(href: str, base: Base) -> str:
    if href.startswith(_SLASHES):
        return (f"{base.scheme}:" if href[1:2] in _SLASHES else base.origin) + href
    if not href:
        return base.url
    if href[0] == "?":
        return base.document + href
    if href[0] == ".":
        return _climbed(href, base)
    return base.directory + href


def _climbed(href: str, base: Base) -> str:
    climbs = 0
    while href.startswith("../", 3 * climbs):
        climbs += 1
    directory = base.directory
    for _ in range(climbs):
        if len(directory) == len(base.origin) + 1:
            break
        directory = directory[: directory.rindex("/", 0, -1) + 1]
    return directory + href[3 * climbs :]


@lru_cache(maxsize=256)
def base_of(url: str) -> Base:
    """Split the URL of a page. Raises InvalidUrl."""
    if len(url) > MAX_LENGTH:
        raise InvalidUrl(url, f"the base URL is longer than {MAX_LENGTH} characters")
    try:
        href = ada_url.normalize_url(url.partition("#")[0])
    except ValueError:
        raise InvalidUrl(url, "the base URL cannot be read") from None
    scheme, mark, rest = href.partition("://")
    if scheme not in ("http", "https") or not mark:
        raise InvalidUrl(url, "the base URL is neither http nor https")
    document = href.partition("?")[0]
    origin = f"{scheme}://{rest.partition('/')[0]}"
    return Base(scheme, origin, document[: document.rindex("/") + 1], document, href)
