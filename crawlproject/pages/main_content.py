"""Extracts the main content of a page, without navigation, advertisements and footers.

1. A page with one ``main`` element marks it itself (HTML Standard, "The main element"): everything in it except
   navigation, asides, footers and forms.
2. A page without class, id and sectioning elements has no template: all of it is main content.
3. For any other page, Resiliparse decides (Bevendorff et al., "An Empirical Comparison of Web Content
   Extraction Algorithms", SIGIR 2023).

docs/page-content.md compares the quality with that of other libraries.

The running time of extractors grows with the square or the cube of the depth of a tree (64 kB of nested ``div``: five
seconds), so they get a tree of limited size, depth and number of attributes. libxml2 stops at a depth of 256; its time is
linear in everything else except the attributes of an element.
"""

from __future__ import annotations

import re
from contextlib import suppress
from copy import deepcopy
from itertools import chain
from typing import Any

from lxml import etree

from crawlproject.pages.html.encoding import decode
from crawlproject.pages.text.printable import printable

try:
    from crawlproject.pages.html import tree_walk
except Exception:  # not built, in a zip file, or built for another lxml
    tree_walk = None  # type: ignore[assignment]

MAX_MARKUP = 524_288  # characters that are read
MAX_DEPTH = 250

_TEMPLATE = re.compile(
    r"<[a-z][^<>]{0,500}\s(?:class|id)\s*=|<(?:nav|header|footer|aside|main|article|section)\b", re.I
)
_BESIDE = ("nav", "aside", "footer", "form", "button", "dialog")  # no content, even in ``main``
_FEW_WORDS = 20  # a ``main`` with fewer words is filled by a script, or misused
_FIRST_MARK = 0xF0000  # private use area: such characters are removed from the page
_MARKS = range(_FIRST_MARK, 0xFFFFE)
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # lxml reads these, but refuses to write them
_MARK = re.compile(f"[{chr(_MARKS[0])}-{chr(_MARKS[-1])}]")
_UNREAD = ("script", "style", "select", "template", "noscript", "svg", "iframe", "object", "canvas", "textarea")
_READ = frozenset((
    "class", "content", "datetime", "hidden", "href", "id", "itemprop", "itemscope",
    "itemtype", "name", "property", "rel", "role", "start",
    "style",
))  # fmt: skip


def main_text(body: bytes, content_type: str = "") -> str:
    """Return the main content of a page, one line per block, without control characters; plain text is returned whole.

    ``content_type`` is the HTTP header. Raises nothing; takes less than a second.
    """
    _, markup = decode(body, content_type)
    if is_plain_text(content_type):
        return _lines(markup[:MAX_MARKUP])
    root = read_tree(markup)
    return "" if root is None else _lines(_extracted(root, markup))


def marked_tree(markup: str) -> tuple[Any | None, frozenset[str]]:
    """Return the tree of a page, each text prefixed with a unique mark character, and the marks of the main content.

    At most 65,534 texts, including ``tail`` texts, are marked; the others are emptied.
    """
    root = read_tree(_MARK.sub("", markup[:MAX_MARKUP]))
    if root is None:
        return None, frozenset()
    numbers = iter(_MARKS)
    for element in root.iter(etree.Element):
        for name in ("text", "tail"):
            text = getattr(element, name)
            if text and not text.isspace():
                number = next(numbers, None)
                setattr(element, name, "" if number is None else chr(number) + _NO_XML.sub("", text))
    return root, frozenset(_MARK.findall(_extracted(root, markup)))


def is_plain_text(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind.startswith("text/") and kind not in ("text/html", "text/xml")


def _extracted(root: Any, markup: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text  # takes 6 MB: imported on demand

    main = _main_element(root)
    guess = main is None and _TEMPLATE.search(markup, 0, MAX_MARKUP) is not None
    html = etree.tostring(root if main is None else main, method="html", encoding="unicode")
    return str(
        extract_plain_text(html, main_content=guess, preserve_formatting=True, list_bullets=False, alt_texts=False)
    )


def _main_element(root: Any) -> Any | None:
    """Return a copy of the only ``main`` element without non-content; None if there is none, several, or hardly any text."""
    found = [element for element in root.iter(etree.Element) if element.tag == "main" or element.get("role") == "main"]
    if not found or (len(found) > 1 and not set(found) <= set(found[0].iter())):
        return None
    main = deepcopy(found[0])
    main.tail = None
    for element in main.iter(etree.Element):
        if element.get("role") == "navigation":
            element.tag = "nav"
    etree.strip_elements(main, *_BESIDE, with_tail=False)
    words = sum(len(text.split()) for text in main.itertext())
    return main if words >= _FEW_WORDS else None


def _lines(text: str) -> str:
    pieces = chain.from_iterable(line.split("\n") for line in text.splitlines())
    words = (printable(line).split() for line in pieces)  # line by line, since ``printable`` removes carriage returns
    return "\n".join([" ".join(line) for line in words if line])


def read_tree(markup: str) -> Any | None:
    """Return the root element of ``markup``, without scripts, comments and the like; None if nothing can be read."""
    data = markup[:MAX_MARKUP].replace("\0", "").encode("utf-8", "replace")
    quick = tree_walk is not None and not tree_walk.is_crowded(data)
    target = None if quick else _FewAttributes()
    parser = etree.HTMLParser(
        target=target, encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False, no_network=True
    )
    root = None
    with suppress(etree.XMLSyntaxError, AssertionError):  # lxml asserts that a target has built something
        root = etree.fromstring(data, parser)
    if root is not None:
        etree.strip_elements(root, *_UNREAD, with_tail=False)
    return root


class _FewAttributes:
    """A parser target that builds a tree with only the attributes in ``_READ``, in linear time."""

    def __init__(self) -> None:
        self._builder = etree.TreeBuilder()
        self._depth = 0

    def start(self, tag: str, attributes: Any) -> None:
        self._depth += 1
        if self._depth <= MAX_DEPTH:
            self._builder.start(tag, {name: value for name, value in attributes.items() if name in _READ})

    def end(self, tag: str) -> None:
        if self._depth <= MAX_DEPTH:
            self._builder.end(tag)
        self._depth -= 1

    def data(self, text: str) -> None:
        if 0 < self._depth <= MAX_DEPTH:
            self._builder.data(text)

    def close(self) -> Any:
        return self._builder.close()
