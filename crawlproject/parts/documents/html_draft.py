"""The HTML of a document: metadata in the head, blocks in the body. Without ``class``, ``id`` and sectioning elements, all of
it is main content (``pages/main_content.py``, rule 2).

Document text reaches the page as text, never as markup: it is escaped here, and only links to the web become links.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from html import escape

MAX_SECONDS = 10.0  # of CPU time: the page is what was read by then
LONGEST_TITLE = 300  # characters
LONGEST_HREF = 2_048

Inline = str | tuple[str, str]  # text, or a link: address and text

_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_LANGUAGE = re.compile(r"[A-Za-z]{2}(?=$|[-_])")
# Titles that programs write if their user gave none.
_NO_TITLE = re.compile(
    r"(?:untitled|unknown|document|title|slide|powerpoint presentation|microsoft (?:word|powerpoint|excel))[\s\d]*"
    r"|microsoft (?:word|powerpoint|excel) - .*|\S+\.(?:docx?|dvi|epub|html?|indd|odt|p65|pdf|pptx?|ps|qxd|rtf|tex|txt)",
    re.IGNORECASE,
)


class Unreadable(Exception):
    """A document cannot be read; ``reason`` is one of the errors listed in ``opener.py``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Full(Exception):
    """The page has as many bytes, or took as many seconds, as it may."""


class HtmlDraft:
    """Collects the blocks of a document in order. ``most`` is in bytes of HTML; a block that is longer than the space left is
    cut, and ``Full`` is raised.
    """

    def __init__(self, most: int) -> None:
        self.title = ""
        self.authors: list[str] = []
        self.published = ""  # in ISO 8601, or as the document writes it
        self.language = ""
        self._blocks: list[str] = []
        self._left = most
        self._first = ""  # the first heading, else the first line
        self._has_heading = False
        self._list = False
        self._until = time.process_time() + MAX_SECONDS

    def heading(self, level: int, inlines: Iterable[Inline]) -> None:
        inlines = [*inlines]
        if not self._has_heading and (text := folded("".join(map(_text, inlines)))):
            self._first, self._has_heading = text, True
        self._add(f"h{min(max(level, 1), 6)}", markup(inlines))

    def paragraph(self, inlines: Iterable[Inline]) -> None:
        inlines = [*inlines]
        self._first = self._first or folded("".join(map(_text, inlines)))
        self._add("p", markup(inlines))

    def item(self, inlines: Iterable[Inline]) -> None:
        """Add an item to the open list, or to a new one."""
        self._add("li", markup([*inlines]), in_list=True)

    def table(self, rows: Iterable[Iterable[Iterable[Inline]]]) -> None:
        cells = ("".join(f"<td>{markup([*cell])}</td>" for cell in row) for row in rows)
        self._add("table", "".join(f"<tr>{row}</tr>" for row in cells))

    def html(self, markup: str, first: str = "") -> None:
        """Add blocks that are HTML already, free of scripts; ``first`` is the text of their first heading."""
        if first and not self._has_heading:
            self._first, self._has_heading = folded(first), True
        self._add("", markup)

    def document(self, name: str) -> bytes:
        """The HTML; ``name`` is the file name, the title if there is no other. Raises ``Unreadable`` if there is no text."""
        self._close_list()
        body = "\n".join(self._blocks)
        if not re.sub(r"<[^>]*>", "", body).strip():
            raise Unreadable("document/textless")
        known = folded(self.title)
        title = known if known and not _NO_TITLE.fullmatch(known) else self._first or name
        language = _LANGUAGE.match(self.language.strip())
        head = [
            f'<!DOCTYPE html>\n<html{f" lang={language[0].lower()}" if language else ""}><head><meta charset="utf-8">',
            f"<title>{_escaped(title[:LONGEST_TITLE])}</title>",
            *(
                f'<meta name="author" content="{_escaped(folded(author))}">'
                for author in self.authors
                if author.strip()
            ),
            *([f'<meta name="date" content="{_escaped(folded(self.published))}">'] if self.published else []),
        ]
        return f"{''.join(head)}</head><body>\n{body}\n</body></html>\n".encode("utf-8", "replace")

    def _add(self, tag: str, inner: str, *, in_list: bool = False) -> None:
        if not inner:
            return
        if not in_list:
            self._close_list()
        elif not self._list:
            self._blocks.append("<ul>")
            self._list = True
        block = f"<{tag}>{inner}</{tag}>" if tag else inner
        size = len(block.encode("utf-8", "replace"))
        if size > self._left:
            self._blocks.append(_beginning(block, self._left))
            raise Full
        self._left -= size
        self._blocks.append(block)
        if time.process_time() > self._until:
            raise Full

    def _close_list(self) -> None:
        if self._list:
            self._blocks.append("</ul>")
            self._list = False


def markup(inlines: Iterable[Inline]) -> str:
    """Text and links as HTML, with whitespace folded."""
    return re.sub(r"\s+", " ", "".join(_marked(inlines))).strip()


def _beginning(block: str, size: int) -> str:
    """The first ``size`` bytes of a block, without a cut tag: a chapter of a book, or a table, may be larger than a page."""
    text = block.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
    tag = text.rfind("<")
    return text[:tag] if tag > text.rfind(">") else text


def folded(text: str) -> str:
    return " ".join(_CONTROLS.sub(" ", text).split())


def is_web(href: str) -> bool:
    """Whether a link leads to the web, not into the document or to a program."""
    return len(href) <= LONGEST_HREF and _WEB.match(href.strip()) is not None


def _marked(inlines: Iterable[Inline]) -> Iterator[str]:
    for inline in inlines:
        if isinstance(inline, str):
            yield _escaped(inline)
        elif is_web(inline[0]):
            yield f'<a href="{_escaped(inline[0].strip())}">{_escaped(inline[1])}</a>'
        else:
            yield _escaped(inline[1])


def _text(inline: Inline) -> str:
    return inline if isinstance(inline, str) else inline[1]


def _escaped(text: str) -> str:
    return escape(_CONTROLS.sub(" ", text))
