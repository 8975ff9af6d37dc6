"""Orders of a list that are paths: ``/shop/by-price/2`` next to ``/shop/2``, ``/list/sort/name/2`` next to ``/list/2``.

A URL may be another order of the URL that remains without one or two named segments, if that URL is known. It may also be a
category. Their items distinguish them: orders show each other's items and those of the list, each category shows its own.

Patterns group a site's URLs: some lead to content, some to another view of it. Unlike the templates of ``traps.py``, patterns
keep the words that name a view: values (``view=print``) and the last segment (``/print``). Cai and others group URLs of a board
in this way: "iRobot: An Intelligent Crawler for Web Forums", WWW 2008.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from xxhash import xxh3_64_intdigest

from crawlproject.urls.hosts import host_of, origin_of

FEWEST = 8  # items by which an order is recognised
COVERED = 0.8  # share of the items of each order that the others, and the list, have to show
LIST = ""  # the name of the list itself
ANY = "*"

_GROUPS = 100
_NAMES = 12  # orders of a list
_LINKS = 600  # of a page, and of an order; an int in a Counter takes about 100 bytes, so 70 MB at most
_MOST_SEGMENTS = 8  # of a path
_NAME = re.compile(r"[a-z]{1,24}(?:[-_.][a-z]{1,16})?")  # a segment named by people; others are ids and titles
_WORD = re.compile(r"[a-z_]{1,16}")  # a value that names a view; others are numbers, ids, texts


@dataclass(slots=True)
class _Lists:
    """The links of the possible orders of one list: by name of the order, the number of its pages that have each link."""

    links: dict[str, Counter[int]] = field(default_factory=dict)
    refused: bool = False

    def add(self, name: str, links: Iterable[int]) -> None:
        if name not in self.links and len(self.links) >= _NAMES:
            return
        counts = self.links.setdefault(name, Counter())
        for link in links:
            if link in counts or len(counts) < _LINKS:
                counts[link] += 1
        self.refused = self._are_orders()

    def _are_orders(self) -> bool:
        """Whether these are orders. A link on several pages of one order belongs to the frame of the site: it is no item."""
        frame = {link for counts in self.links.values() for link, pages in counts.items() if pages > 1}
        if not frame:
            return False
        items = {name: counts.keys() - frame for name, counts in self.links.items()}
        shown = Counter(link for found in items.values() for link in found)
        known = 0
        for name, found in items.items():
            if name == LIST or not found:
                continue
            if sum(shown[link] > 1 for link in found) < COVERED * len(found):
                return False
            known += len(found) >= FEWEST
        return known >= 2


class PathOrders:
    """Learns the orders of lists. ``known`` says whether a URL waits or was fetched. URLs with a query are ignored."""

    def __init__(self, known: Callable[[str], bool]) -> None:
        self._known = known
        self._groups: OrderedDict[str, _Lists] = OrderedDict()  # by the pattern of the orders
        self._of_list: dict[str, set[str]] = {}  # pattern of a list -> keys of its groups
        self._origins: set[str] = set()  # those with orders that are refused: most links are of others

    def add(self, url: str, links: Iterable[str]) -> None:
        """Learn from a fetched page with these links."""
        if "?" in url:
            return
        found = [(key, name, view_patterns(base)[0]) for key, name, base in self._orders(url)]
        for key, _, place in found:
            if key not in self._groups:
                self._groups[key] = _Lists()
                self._of_list.setdefault(place, set()).add(key)
        own = view_patterns(url)[0]
        found += [(key, LIST, own) for key in self._of_list.get(own, ())]
        looked_at = islice(dict.fromkeys(links), _LINKS) if found else ()
        told = [(xxh3_64_intdigest(link.encode()), view_patterns(link)[0], _patterns(link)) for link in looked_at]
        for key, name, place in found:
            items = [link for link, pattern, others in told if pattern != place and key not in others]
            self._groups[key].add(name, items)
            self._groups.move_to_end(key)
        while len(self._groups) > _GROUPS:
            gone, _ = self._groups.popitem(last=False)
            self._of_list = {place: kept for place, keys in self._of_list.items() if (kept := keys - {gone})}
        if found:
            self._origins = {origin_of(key) for key, group in self._groups.items() if group.refused}

    def is_order(self, url: str) -> bool:
        """Whether ``url`` is another order of a known list."""
        if not self._origins or "?" in url or origin_of(url) not in self._origins:
            return False
        return any(key in self._groups and self._groups[key].refused for key, _, _ in self._orders(url))

    def _orders(self, url: str) -> Iterator[tuple[str, str, str]]:
        """``(pattern, name, list)`` for each known list of which ``url`` may be an order."""
        for key, name, base in _without_segments(url):
            if self._known(base):
                yield key, name, base


def _patterns(url: str) -> frozenset[str]:
    return frozenset(key for key, _, _ in _without_segments(url))


def _without_segments(url: str) -> Iterator[tuple[str, str, str]]:
    """``(pattern, name, rest)`` for any one or two adjacent named segments: the pattern has ``+`` in their place."""
    origin, path = url[: url.index("/", 8)], url[url.index("/", 8) :]
    segments = path.split("/")[1:]
    named = view_patterns(url)[0].partition("/")[2].split("/")
    if "?" in url or not 2 <= len(segments) <= _MOST_SEGMENTS:
        return
    for count in (1, 2):
        for start in range(1, len(segments) - count + 1):
            chosen = segments[start : start + count]
            if not all(chosen) or "*" in named[start : start + count]:
                continue
            kept = segments[:start] + segments[start + count :]
            shape = named[:start] + ["+"] * count + named[start + count :]
            yield f"{origin}/{'/'.join(shape)}", "/".join(chosen), f"{origin}/{'/'.join(kept)}"


def view_patterns(url: str) -> tuple[str, ...]:
    """The patterns of a canonical URL, narrowest first, each different from the others.

    Of ``http://a.example/board/thread-17/print?page=2&order=asc``:

    - its path without ids and titles, with names and words of the query: ``a.example/board/*/print?order=asc&page``
    - the same without the words: ``a.example/board/*/print?order&page``
    - with a query: everything below its first segment: ``a.example/board/**?order&page``
    - without a query: everything that ends with this name, wherever it is
    """
    host = host_of(url)
    path, _, query = url[url.index("/", 8) :].lower().partition("?")
    segments = [segment if _NAME.fullmatch(segment) else ANY for segment in path.split("/")[1:] if segment]
    shape = f"{host}/{'/'.join(segments)}"
    if not query:
        named = len(segments) > 1 and segments[-1] != ANY
        return (shape, f"{host}/**/{segments[-1]}") if named else (shape,)
    pairs = sorted({(name, value) for name, _, value in (pair.partition("=") for pair in query.split("&"))})
    words = "&".join(f"{name}={value}" if _WORD.fullmatch(value) else name for name, value in pairs)
    names = "&".join(dict.fromkeys(name for name, _ in pairs))
    below = f"{host}/{segments[0]}/**" if len(segments) > 1 else f"{host}/**"
    return tuple(dict.fromkeys((f"{shape}?{words}", f"{shape}?{names}", f"{below}?{names}")))


def names_in(pattern: str) -> tuple[str, frozenset[str]]:
    """The path of a pattern, and the names of its query."""
    path, _, query = pattern.partition("?")
    return path, frozenset(pair.partition("=")[0] for pair in query.split("&")) if query else frozenset()
