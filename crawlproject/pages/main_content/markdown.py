"""The main content of a page as Markdown (CommonMark, with tables of GitHub Flavored Markdown).

Nothing in a page becomes markup that it was not: characters that mean something to Markdown are escaped, ``<`` always, and only
links to http, https and mailto are links.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

from crawlproject.pages.html.encoding import decode
from crawlproject.pages.main_content.extract import is_plain_text, marked_tree
from crawlproject.pages.main_content.inline import Inlines, escaped_line, fenced
from crawlproject.pages.main_content.tables import table_rows, written_table
from crawlproject.pages.main_content.tree import MAX_MARKUP
from crawlproject.pages.text.printable import printable

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section",
    "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_PERMALINK = " \N{PILCROW SIGN}"  # of a heading, in documentation
_LISTS = ("ul", "ol", "menu", "dir")
_LEVELS = 10  # lists and quotes are indented so often: the text may not grow with the square of their number
_LANGUAGE = re.compile(r"(?:^|[\s-])(?:lang|language|highlight|source)-([A-Za-z][\w+#.]{0,19})")


def markdown(body: bytes, *, url: str, content_type: str = "") -> str:
    """The main content of the page at ``url`` in Markdown, empty when there is none. ``content_type`` is the HTTP header.

    A page that is plain text is a code block. Raises nothing, takes about a second at most.
    """
    _, markup = decode(body, content_type)
    if is_plain_text(content_type):
        return fenced(printable(markup[:MAX_MARKUP]).strip("\n"))
    root, kept = marked_tree(markup)
    if root is None or not kept:
        return ""
    base = next((element.get("href") or "" for element in root.iter("base")), "")
    return printable("\n\n".join(_Writer(root, kept, _joined(url, base)).blocks(root, 0)))


class _Writer:
    """Writes the texts of a marked tree that begin with a character of ``kept``."""

    def __init__(self, root: Any, kept: frozenset[str], base: str) -> None:
        self._kept = kept
        self._inlines = Inlines(self._shown, base)
        self._containers = _elements_with_blocks(root)

    def blocks(self, element: Any, level: int) -> list[str]:
        """The blocks in an element, in document order; ``level`` lists and quotes are open."""
        found: list[str] = []
        run: list[str] = [self._inlines.text(element.text)]
        for child in element:
            if child.tag in _BLOCKS or child in self._containers:
                self._end_run(run, found)
                found += self._block(child, level)
            else:
                run.append(self._inlines.element(child))
            run.append(self._inlines.text(child.tail))
        self._end_run(run, found)
        return found

    def _end_run(self, run: list[str], found: list[str]) -> None:
        if paragraph := self._inlines.folded("".join(run)):
            found.append(escaped_line(paragraph))
        run.clear()

    def _block(self, element: Any, level: int) -> list[str]:
        tag = element.tag
        if tag in _HEADINGS:
            title = self._inlines.folded(self._inlines.inside(element)).replace("\n", " ").rstrip(_PERMALINK)
            return [f"{'#' * _HEADINGS[tag]} {title}"] if title else []
        if tag == "pre":
            code = self._code(element).strip("\n").rstrip()
            return [fenced(code, _language_of(element))] if code else []
        if tag in _LISTS and level < _LEVELS:
            return self._list(element, level)
        if tag == "blockquote" and level < _LEVELS:
            quoted = "\n\n".join(self.blocks(element, level + 1))
            return ["\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))] if quoted else []
        if tag == "table":
            rows = table_rows(element)
            if rows and not any(cell in self._containers and _is_rich(cell) for row in rows for cell in row):
                written = written_table([[" ".join(self.blocks(cell, level)) for cell in row] for row in rows], rows)
                return [written] if written else []
        if tag == "dt":
            term = self._inlines.folded(self._inlines.inside(element)).replace("\n", " ")
            return [f"**{term}**"] if term and "**" not in term else [term][: len(term)]
        return self.blocks(element, level)

    def _list(self, element: Any, level: int) -> list[str]:
        start = element.get("start") or "1"
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 8 else 1
        written: list[str] = []
        for blocks in self._items(element, level + 1):
            mark = f"{number}. " if element.tag == "ol" else "- "
            number += 1
            text = blocks[0]
            for block in blocks[1:]:
                text += ("\n" if block.startswith(("- ", "1. ")) else "\n\n") + block
            indent = " " * len(mark)
            written.append(mark + "\n".join(indent + line if line else "" for line in text.split("\n"))[len(mark) :])
        return ["\n".join(written)] if written else []

    def _items(self, element: Any, level: int) -> list[list[str]]:
        """The blocks of each item; what stands between two items is one, and a list there belongs to the item before."""
        items: list[list[str]] = []
        run = [self._inlines.text(element.text)]
        for child in element:
            if child.tag in _BLOCKS or child in self._containers:
                items += self._between(run)
                blocks = self._block(child, level) if child.tag != "li" else self.blocks(child, level)
                if child.tag in _LISTS and items:
                    items[-1] += blocks
                elif blocks:
                    items.append(blocks)
            else:
                run.append(self._inlines.element(child))
            run.append(self._inlines.text(child.tail))
        return items + self._between(run)

    def _between(self, run: list[str]) -> list[list[str]]:
        blocks: list[str] = []
        self._end_run(run, blocks)
        return [blocks] if blocks else []

    def _code(self, element: Any) -> str:
        """The text of an element as it is."""
        for line_break in element.iter("br"):
            line_break.text = "\n"
        return "".join(map(self._shown, element.itertext()))

    def _shown(self, text: str | None) -> str:
        """A text of the tree if it is main content, without its mark. White space has no mark."""
        if not text or text.isspace():
            return text or ""
        return text[1:] if text[0] in self._kept else ""


def _elements_with_blocks(root: Any) -> frozenset[Any]:
    """The elements that have a block somewhere inside, in linear time."""
    found: set[Any] = set()
    for element in root.iter(*_BLOCKS):
        above = element.getparent()
        while above is not None and above not in found:
            found.add(above)
            above = above.getparent()
    return frozenset(found)


def _is_rich(cell: Any) -> bool:
    """Whether a cell of a table has what no cell can have in Markdown."""
    return next(cell.iter("table", "pre", "blockquote", *_LISTS, *_HEADINGS), None) is not None


def _language_of(element: Any) -> str:
    inner = element[0].get("class") if len(element) else None
    outer = element.getparent()
    names = (element.get("class"), inner, outer.get("class") if outer is not None else None)
    found = next(filter(None, (_LANGUAGE.search(name) for name in names if name)), None)
    return found[1].lower() if found else ""


def _joined(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return url
