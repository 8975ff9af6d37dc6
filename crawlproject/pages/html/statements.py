"""The author and the licence that a document states, in addition to its day of publication (``head.py``).

Sources in order of trust. Author: JSON-LD (schema.org ``author``), ``<meta>``; ``rel`` and ``itemprop`` would have given no
further author in 800 archived pages. Licence: ``rel="license"`` (HTML Standard, "Link type license"), JSON-LD (schema.org
``license``), ``<meta>`` or ``itemprop="license"``, a linked Creative Commons licence if there is only one. Nothing is verified.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

import orjson

from crawlproject.pages.html.head import MAX_SCRIPT, Published, attributes_of, values_of
from crawlproject.pages.text.printable import printable

MAX_AUTHORS = 10
_LONGEST_NAME = 100  # characters
_LONGEST_LICENSE = 300
_AUTHORS = frozenset(
    ("author", "byl", "citation_author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author")
)
_LICENSES = frozenset(("dc.rights.license", "dcterms.license", "licence", "license"))
_SAID = ('"datePublished"', '"author"', '"license"')
_LOOKED_AT = 200  # occurrences of a word in the markup that are examined
_FAR = 1_000  # bytes of a tag before and after the word
_NEAR = 40  # bytes from the name of an attribute to a word in its value
_CC = re.compile(
    r"https?://(?:www\.)?creativecommons\.org/(licenses/[a-z+-]{2,12}/\d\.\d(?:/[a-z]{2,3}(?=[/\"'#?]|$))?|publicdomain/(?:zero|mark)/1\.0)"
)
_CC_LINK = re.compile(rb"href\s*=\s*[\"']?" + _CC.pattern.encode())


class Statements:
    """Collects the statements in the head and the JSON-LD of a document; ``published`` collects the publication dates."""

    def __init__(self) -> None:
        self.published = Published()
        self._authors: list[str] = []
        self._license = ""
        self._from_data: list[str] = []
        self._license_in_data = ""

    def meta(self, attributes: Mapping[str, str]) -> None:
        """Take in a ``<meta>`` element."""
        name = (
            (attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or "").strip().lower()
        )
        if name in _AUTHORS:
            self._authors.append(attributes.get("content", ""))
        elif name in _LICENSES:
            self._license = self._license or attributes.get("content", "")
        else:
            self.published.meta(attributes)

    def script(self, text: str) -> None:
        """Take in a script of type ``application/ld+json``."""
        if len(text) > MAX_SCRIPT or not any(said in text for said in _SAID):
            return
        try:
            document = orjson.loads(text)
        except ValueError:
            return
        self.published.linked_data(document)
        named = {} if '"@id"' not in text else {value["@id"]: value for value in _named(document)}
        if not self._from_data:
            self._from_data = next(filter(None, (_names(value, named) for value in values_of(document, "author"))), [])
        if not self._license_in_data:
            self._license_in_data = next(filter(None, map(_address, values_of(document, "license"))), "")

    @property
    def author(self) -> str:
        """The names of the authors, separated by commas; empty if the document names none."""
        return joined_names(self._from_data or self._authors)

    @property
    def license(self) -> str:
        """The licence as written; empty if the document states none."""
        return self._license_in_data or self._license


def license_in(body: bytes, encoding: str, url: str, said: str) -> str:
    """Return the licence of the document at ``url``: an absolute URL or a short text. ``said`` is ``Statements.license``."""
    marked = ""
    for start, end in _tags_with(body, b"license"):
        tag = attributes_of(body[start:end].decode(encoding, "replace"))
        href = html.unescape(tag.get("href") or "").strip()
        if href and "license" in tag.get("rel", "").lower().split():
            return _absolute(href, url)
        if "license" in tag.get("itemprop", "").lower().split():
            marked = marked or (_absolute(href, url) if href else tag.get("content", ""))
    if said := " ".join(printable(said or marked).split()):
        is_address = said.startswith(("http://", "https://", "/")) and " " not in said
        return _absolute(said, url) if is_address else said[:_LONGEST_LICENSE]
    found = {match[1] for match in _CC_LINK.finditer(body)} if b"creativecommons.org" in body else set()
    return f"https://creativecommons.org/{found.pop().decode()}/" if len(found) == 1 else ""


def _absolute(href: str, url: str) -> str:
    """Return an absolute web URL, or nothing. Creative Commons URLs get one form, whatever their scheme and language."""
    if found := _CC.match(href):
        return f"https://creativecommons.org/{found[1]}/"
    try:
        joined = urljoin(url, href)
    except ValueError:
        return ""
    return printable(joined) if joined.startswith(("http://", "https://")) and len(joined) <= _LONGEST_LICENSE else ""


def joined_names(names: list[str]) -> str:
    """Join names of persons into one line, each once; URLs and account names are left out."""
    found = (" ".join(printable(name).split())[:_LONGEST_NAME] for name in names[:MAX_AUTHORS])
    return ", ".join(
        dict.fromkeys(name for name in found if name and "://" not in name and not name.startswith(("@", "/")))
    )


def _names(value: Any, named: Mapping[str, Any]) -> list[str]:
    """Return the names in a value of ``author``: a text, a person, a reference to a person, or a list of these."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, list):
        return [name for each in value[:MAX_AUTHORS] if not isinstance(each, list) for name in _names(each, named)]
    if not isinstance(value, dict):
        return []
    name = value.get("name")
    if not name and isinstance(value.get("@id"), str):
        name = named.get(value["@id"], {}).get("name")
    return [name] if isinstance(name, str) and name.strip() else []


def _address(value: Any) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("url") or value.get("@id") or value.get("name")
    return value if isinstance(value, str) else ""


def _named(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a JSON-LD graph that have an ``@id``."""
    graph = document.get("@graph") if isinstance(document, dict) else document
    for value in graph if isinstance(graph, list) else ():
        if isinstance(value, dict) and isinstance(value.get("@id"), str):
            yield value


def _tags_with(body: bytes, word: bytes) -> Iterator[tuple[int, int]]:
    """Yield start and end of the tags that may have a word in ``rel`` or ``itemprop``."""
    at = -1
    for _ in range(_LOOKED_AT):
        at = body.find(word, at + 1)
        if at < 0:
            return
        before = body[max(0, at - _NEAR) : at]
        if b"rel=" not in before and b"itemprop=" not in before:
            continue
        start = body.rfind(b"<", max(0, at - _FAR), at)
        end = body.find(b">", at, at + _FAR) + 1
        if start >= 0 and end and body.find(b">", start, at) < 0:
            yield start, end
