"""Which attributes of a page anybody reads: ``unread_attributes`` may leave out all others before a page is parsed."""

from __future__ import annotations

READ_OF_ALL = frozenset(("class", "hidden", "id", "style"))
READ = {  # by element, besides those of all
    "a": frozenset(("href", "rel")),
    "area": frozenset(("alt", "href", "rel")),
    "base": frozenset(("href",)),
    "frame": frozenset(("rel", "src")),
    "html": frozenset(("lang", "xml:lang")),
    "img": frozenset(("alt",)),
    "meta": frozenset(("content", "http-equiv", "itemprop", "name", "property")),
    "script": frozenset(("type",)),
    "time": frozenset(("datetime", "itemprop", "pubdate")),
}
