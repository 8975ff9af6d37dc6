"""Reads EPUB (W3C EPUB 3.3, IDPF 2.0.1) into a ``HtmlDraft`` with lxml: the chapters in the order of the spine.

Elements that carry meaning in text are kept, without their attributes. Links to the web stay links; links within the book
become text.
"""

from __future__ import annotations

import posixpath
import re
from html import unescape
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from crawlproject.parts.documents.html_draft import HtmlDraft, Unreadable, is_web
from crawlproject.parts.documents.zipped import checked

MAX_CHAPTERS = 2_000
CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"

_FONTS = re.compile(r"\.(?:otf|ttf|woff2?)$", re.IGNORECASE)  # obfuscated fonts do not hide any text
_KEPT = frozenset((
    "a", "b", "blockquote", "br", "caption", "cite", "code", "dd", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4",
    "h5", "h6", "hr", "i", "kbd", "li", "ol", "p", "pre", "q", "samp", "strong", "sub", "sup", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul", "var",
))  # fmt: skip
_BLOCKS = frozenset(
    ("address", "article", "aside", "body", "center", "figcaption", "figure", "header", "main", "section")
)
_DROPPED = ("script", "style", "svg", "math", "object", "iframe", "template", "form", "nav", "audio", "video", "head")


def read(body: bytes, draft: HtmlDraft) -> None:
    """Read ``body`` into ``draft``. Raises ``Unreadable``, and what ``zipfile`` and lxml raise for a broken book."""
    with checked(body) as archive:
        if _is_protected(archive):
            raise Unreadable("document/encrypted")
        package = _package(archive)
        root = _parsed(archive.read(package))
        _know(root, draft)
        files = {item.get("id"): item.get("href") or "" for item in _named(root, "item")}
        for reference in _named(root, "itemref")[:MAX_CHAPTERS]:
            href = files.get(reference.get("idref"), "")
            place = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(href.partition("#")[0])))
            try:
                chapter = archive.read(place)
            except KeyError:  # the book lacks this chapter
                continue
            markup, first = _cleaned(chapter)
            draft.html(markup, first)


def _is_protected(archive: ZipFile) -> bool:
    if ENCRYPTION not in archive.namelist():
        return False
    found = [element.get("URI") or "" for element in _named(_parsed(archive.read(ENCRYPTION)), "CipherReference")]
    return any(not _FONTS.search(uri) for uri in found)


def _package(archive: ZipFile) -> str:
    roots = _named(_parsed(archive.read(CONTAINER)), "rootfile")
    if not roots:
        raise Unreadable("document/broken")
    return str(roots[0].get("full-path") or "")


def _know(root: Any, draft: HtmlDraft) -> None:
    said = {name: [element.text or "" for element in _named(root, name)] for name in ("title", "creator", "language")}
    draft.title, draft.language = ((said[name] or [""])[0] for name in ("title", "language"))
    draft.authors = said["creator"]
    dates = [element for element in _named(root, "date") if element.text]
    issued = [date for date in dates if "publication" in (value.lower() for value in date.attrib.values())]
    draft.published = (issued or dates)[0].text or "" if dates else ""


def _parsed(data: bytes) -> Any:
    """The root of an XML file. Its own entities are not expanded, since they could grow without end."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    root = etree.fromstring(data, parser)
    if root is None:
        raise Unreadable("document/broken")
    return root


def _named(root: Any, name: str) -> list[Any]:
    return [element for element in root.iter(etree.Element) if etree.QName(element).localname == name]


def _cleaned(chapter: bytes) -> tuple[str, str]:
    """The blocks of a chapter as HTML, and the text of its first heading."""
    body = _body(chapter)
    if body is None:
        return "", ""
    etree.strip_elements(body, *_DROPPED, with_tail=False)
    other = set()
    for element in body.iter(etree.Element):
        if element.tag in _BLOCKS:
            element.tag = "div"
        elif element.tag not in _KEPT:
            other.add(element.tag)
        href = (element.get("href") or "").strip()
        element.attrib.clear()
        if element.tag == "a":
            if is_web(href):
                element.set("href", href)
            else:
                element.tag = "span"
                other.add("span")
    if other:
        etree.strip_tags(body, *other)
    first = next((_heading(found) for found in body.iter("h1", "h2", "h3")), "")
    if not "".join(body.itertext()).strip():
        return "", ""
    return etree.tostring(body, method="html", encoding="unicode", with_tail=False), first


def _heading(element: Any) -> str:
    """The text of a heading. The entities of HTML, which a document type outside the book declares, are still unresolved."""
    text = "".join(element.itertext())
    return " ".join((text if next(element.iter(etree.Entity), None) is None else unescape(text)).split())


def _body(chapter: bytes) -> Any | None:
    """The ``body`` of a chapter. It is parsed as XML, as it should be, or else as HTML: ``<script/>`` differs between them."""
    try:
        root = etree.fromstring(
            chapter, etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
        )
    except etree.XMLSyntaxError:
        parser = etree.HTMLParser(remove_comments=True, remove_pis=True, no_network=True, encoding="utf-8")
        root = etree.fromstring(chapter, parser)
    if root is None:
        return None
    for element in root.iter(etree.Element):
        element.tag = etree.QName(element).localname
    return next(root.iter("body"), None)
