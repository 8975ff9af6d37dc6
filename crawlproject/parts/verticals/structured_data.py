"""What a page says about itself in structured data: schema.org in JSON-LD and microdata, microformats, Open Graph.

One reader for what vertical layouts need: types, texts, names, dates, addresses. The library ``extruct`` reads more, but takes
nineteen packages and 40 ms a page, at worst 1.5 s, and raises for one page in thirty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson
from lxml import etree

from crawlproject.pages.html.head import MAX_SCRIPT

_SCRIPT = re.compile(r"<script[^>]{0,200}application/ld\+json[^>]{0,200}>(.*?)(?:</script|\Z)", re.I | re.S)
_OG_TYPE = re.compile(
    r"""<meta\s[^<>]{0,200}property\s*=\s*["']?og:type["']?\s[^<>]{0,50}content\s*=\s*["']?([\w:.-]{1,40})""", re.I
)
_OG_TYPE_LAST = re.compile(
    r"""<meta\s[^<>]{0,50}content\s*=\s*["']?([\w:.-]{1,40})["']?\s[^<>]{0,50}property\s*=\s*["']?og:type""", re.I
)
_MOST = 2_000  # things of a page
_MOST_TEXT = 1_000_000  # characters of their values, pieces of text included: elements may be nested
_MOST_PIECES = 50_000  # of a value
_PIECE = 4  # characters that each piece counts as
_HENTRY = frozenset(("hentry", "h-entry"))
_MICROFORMATS = {
    "entry-title": "headline", "p-name": "headline", "entry-content": "text", "e-content": "text", "published": "datepublished",
    "dt-published": "datepublished", "u-url": "url", "p-author": "author", "author": "author", "vcard": "author",
}  # fmt: skip


@dataclass(slots=True)
class Thing:
    """An item of a page's structured data. ``types`` and names of ``values`` are in lower case, without their vocabulary.

    ``element`` is None for JSON-LD. ``above`` is the thing of which it is a part.
    """

    types: frozenset[str]
    values: dict[str, str] = field(default_factory=dict)
    element: Any = None
    above: Thing | None = None


def things_in(markup: str, root: Any) -> list[Thing]:
    """All things of a page, in document order within each syntax: JSON-LD, microdata, microformats."""
    found: list[Thing] = []
    for script in _SCRIPT.findall(markup):
        if len(script) <= MAX_SCRIPT:
            try:
                document = orjson.loads(script.strip())
            except ValueError:
                continue
            found += _of_json(document)
    if "itemscope" in markup or "itemtype" in markup:
        found += _of_microdata(root)
    if "hentry" in markup or "h-entry" in markup:
        found += _of_microformats(root)
    return found[:_MOST]


def open_graph_type(markup: str) -> str:
    """The value of ``og:type`` in lower case, or empty."""
    found = _OG_TYPE.search(markup) or _OG_TYPE_LAST.search(markup)
    return found[1].lower() if found else ""


def text_of(element: Any, without: Callable[[Any], bool] | None = None) -> str:
    """The text of an element, a line for each of its blocks; elements for which ``without`` is true are left out."""
    return _tidy("".join(_texts(element, without)))


def _texts(element: Any, without: Callable[[Any], bool] | None) -> Iterator[str]:
    block = element.tag in _BLOCKS
    if block:
        yield "\n"
    yield element.text or ""
    for child in element.iterchildren(etree.Element):
        if without is None or not without(child):
            yield from _texts(child, without)
        yield child.tail or ""
    if block:
        yield "\n"


_BLOCKS = frozenset((
    "address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul",
))  # fmt: skip


def _tidy(text: str) -> str:
    return "\n".join([line for part in text.split("\n") if (line := " ".join(part.split()))])


def _of_json(document: Any) -> Iterator[Thing]:
    """Things of a JSON-LD document, each before its parts."""
    stack: list[tuple[Any, Thing | None]] = [(document, None)]
    count = 0
    while stack and count < _MOST:
        value, above = stack.pop()
        count += 1
        if isinstance(value, list):
            stack += [(part, above) for part in reversed(value)]
        elif isinstance(value, dict):
            types = value.get("@type", ())
            several = types if isinstance(types, list) else [types]
            named = frozenset(_short(name) for name in several if isinstance(name, str))
            thing = Thing(named, above=above)
            for name, said in value.items():
                first = said[0] if isinstance(said, list) and said else said
                if isinstance(first, dict):
                    first = first.get("name") or first.get("url") or first.get("@id")
                if isinstance(first, str | int | float):
                    thing.values[name.lower()] = str(first)
            if named:
                yield thing
            parts = [said for said in value.values() if isinstance(said, list | dict)]
            stack += [(part, thing if named else above) for part in reversed(parts)]


def _of_microdata(root: Any) -> Iterator[Thing]:
    holders: dict[Any, Thing] = {}
    count = 0
    for element in root.iter(etree.Element):
        attributes = element.attrib
        name = attributes.get("itemprop", "").lower()
        scoped = "itemscope" in attributes or "itemtype" in attributes
        if not name and not scoped:
            continue
        above = next((holders[parent] for parent in element.iterancestors() if parent in holders), None)
        if scoped:
            named = frozenset(_short(part) for part in attributes.get("itemtype", "").split())
            thing = holders[element] = Thing(named, element=element, above=above)
            yield thing
            if name and above is not None:
                above.values.setdefault(name, _tidy(" ".join(islice(element.itertext(), 50)))[:200])
        elif above is not None:
            count += _take(above, name.split(), element, _MOST_TEXT - count)


def _of_microformats(root: Any) -> Iterator[Thing]:
    holders: dict[Any, Thing] = {}
    count = 0
    for element in root.iter(etree.Element):
        classes = frozenset(element.get("class", "").split())
        if classes & _HENTRY:
            holders[element] = thing = Thing(frozenset(("hentry",)), element=element)
            yield thing
        names = [_MICROFORMATS[name] for name in classes & _MICROFORMATS.keys()]
        names += ["url"] if "bookmark" in element.get("rel", "").split() else []
        if names:
            above = next((holders[parent] for parent in element.iterancestors() if parent in holders), None)
            if above is not None:
                count += _take(above, names, element, _MOST_TEXT - count)


def _take(thing: Thing, names: Iterable[str], element: Any, left: int) -> int:
    """Give a thing those of these properties that it lacks. Returns the cost, in characters and pieces of text.

    The value is an attribute of the element where it has one, else its text.
    """
    wanted = [name for name in names if name not in thing.values]
    if not wanted or left <= 0:
        return 0
    pieces: list[str] = []
    value = next((str(value) for name in ("content", "datetime", "href") if (value := element.get(name))), "")
    if not value:
        pieces = list(islice(_texts(element, None), _MOST_PIECES))
        value = _tidy("".join(pieces))
    thing.values.update(dict.fromkeys(wanted, value))
    return len(value) + _PIECE * len(pieces)


def _short(name: str) -> str:
    return re.split(r"[/#:]", name)[-1].lower()
