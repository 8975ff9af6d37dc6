"""Which query parameter names a version: ``/tree/main.c?id=6f1a9c2e`` shows a file as it once was.

A repository shows each of its files at each check-in. Links alone are enough to recognise such a parameter: its values are
hashes, one value appears in URLs that otherwise differ, and otherwise equal URLs have several values. If a product id is a hash,
each product has a different one, so that parameter names no version.

Of URLs that differ only in this parameter, the URL without it is preferred, or else the first one found: pages mostly link to
the newest version. The others are crawled last.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import ClassVar

from xxhash import xxh3_64_intdigest

from crawlproject.records import FetchEvent
from crawlproject.urls.hosts import host_of

ENOUGH = 3  # values in several URLs, and URLs with several values, that a version parameter must have

_PARAMETERS = 200  # that are remembered
_SEEN = 2_000  # URLs, and values, that are remembered of a parameter
_HASH = re.compile(r"[?&;]([A-Za-z_][\w.-]{0,30})=((?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,64})(?=[&;]|$)")


class VersionParameter:
    """A parameter of a host. ``value_of``: digest of the rest of a URL -> first value; ``rest_of``: the other way round."""

    __slots__ = ("rest_of", "shared", "value_of", "varied")

    def __init__(self) -> None:
        self.value_of: dict[int, str] = {}
        self.rest_of: dict[str, int] = {}
        self.varied: set[int] = set()  # rests with several values
        self.shared: set[str] = set()  # values with several rests

    def add(self, rest: int, value: str) -> None:
        if len(self.value_of) < _SEEN and self.value_of.setdefault(rest, value) != value and len(self.varied) < ENOUGH:
            self.varied.add(rest)
        if len(self.rest_of) < _SEEN and self.rest_of.setdefault(value, rest) != rest and len(self.shared) < ENOUGH:
            self.shared.add(value)

    def names_version(self) -> bool:
        return len(self.varied) >= ENOUGH and len(self.shared) >= ENOUGH


class UrlVersions:
    """Learns which parameters name versions. ``known`` says whether a URL waits or was fetched."""

    LEARNED: ClassVar[tuple[str, ...]] = ("parameters",)

    def __init__(self, known: Callable[[str], bool]) -> None:
        self._known = known
        self.parameters: OrderedDict[str, VersionParameter] = OrderedDict()  # by host and name

    def learn(self, event: FetchEvent) -> None:
        """Learn from the links of a page."""
        for url in event.links:
            for key, rest, value, _ in _versions(url) if "=" in url else ():
                parameter = self.parameters.get(key)
                if parameter is None:
                    parameter = self.parameters[key] = VersionParameter()
                    if len(self.parameters) > _PARAMETERS:
                        self.parameters.popitem(last=False)
                parameter.add(rest, value)

    def is_old(self, url: str) -> bool:
        """Whether a canonical URL shows another version of a page that a known URL shows."""
        for key, rest, value, without in _versions(url) if "=" in url else ():
            parameter = self.parameters.get(key)
            if parameter is None or not parameter.names_version():
                continue
            if parameter.value_of.get(rest, value) != value or self._known(without):
                return True
        return False


def _versions(url: str) -> Iterator[tuple[str, int, str, str]]:
    """Yield for each parameter with a hash: host and name, digest of the rest of the URL, value, URL without the parameter."""
    for found in _HASH.finditer(url):
        start, end = found.span()
        first = url[start] == "?" and end < len(url)
        without = url[: start + 1] + url[end + 1 :] if first else url[:start] + url[end:]
        rest = xxh3_64_intdigest(f"{url[: found.start(2)]}{url[end:]}".encode("utf-8", "replace"))
        yield f"{host_of(url)} {found[1]}", rest, found[2], without
