"""Words, emphasis, code and links in Markdown, and what has to be escaped so that text stays text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urljoin

_STRONG = ("b", "strong")
_EMPHASIS = ("em", "i")
_CODE = ("code", "kbd", "samp", "tt", "var")
_BREAK = "\x01"  # stands for a line break until white space is folded; no page has it, as none has control characters
_SPECIAL = re.compile(r"[\\`*\[\]<]|(?<!\w)_|_(?!\w)|&(?=[A-Za-z#][\w#]{0,31};)|~(?=~)")
_SPACE = re.compile(r"[ \t\r\n\f\v\xa0\u200b]+")
_BLOCK_MARK = re.compile(r"(?m)^(?=#{1,6}(?:\s|$)|>|~{3}|[-+](?:\s|$)|[-=]+\s*$|\|)")
_NUMBER = re.compile(r"(?m)^(\d{1,9})(?=[.)](?:\s|$))")
_LONGEST_HREF = 2_048


class Inlines:
    """Writes what stands inside a paragraph. ``shown`` gives the part of a text of the tree that is wanted."""

    def __init__(self, shown: Callable[[str | None], str], base: str) -> None:
        self._shown = shown
        self._base = base

    def text(self, text: str | None) -> str:
        return escaped(self._shown(text).replace(_BREAK, "")) if text else ""

    def inside(self, element: Any) -> str:
        """The texts of an element and of all in it."""
        pieces = [self.text(element.text)]
        for child in element:
            pieces.append(self.element(child))
            pieces.append(self.text(child.tail))
        return "".join(pieces)

    def element(self, element: Any) -> str:
        tag = element.tag
        if tag == "br":
            return _BREAK
        if tag in _CODE:
            return _code(_SPACE.sub(" ", "".join(map(self._shown, element.itertext()))))
        inside = self.inside(element)
        if tag in _STRONG:
            return _around(inside, "**")
        if tag in _EMPHASIS:
            return _around(inside, "*")
        target = self._target(element.get("href")) if tag == "a" else ""
        return _around(inside, "[", f"]({target})") if target else inside

    def folded(self, text: str) -> str:
        """White space folded; a line for each line break."""
        lines = (line.strip() for line in _SPACE.sub(" ", text).split(_BREAK))
        return "  \n".join(filter(None, lines))

    def _target(self, href: str | None) -> str:
        """Where a link leads, absolute and safe to write; empty for what is no web or mail address, or leads inside the page."""
        if not href or href.lstrip().startswith("#") or len(href) > _LONGEST_HREF:
            return ""
        try:
            target = urljoin(self._base, href.strip())
        except ValueError:
            return ""
        if not target.startswith(("http://", "https://", "mailto:")):
            return ""
        return quote(target, safe="!#$%&'*+,/:;=?@[]~", errors="replace")


def escaped(text: str) -> str:
    """Text of which nothing is read as markup inside a paragraph."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def escaped_line(paragraph: str) -> str:
    """A paragraph none of whose lines begins like a heading, a list, a quotation or a table."""
    return _NUMBER.sub(r"\1\\", _BLOCK_MARK.sub(r"\\", paragraph))


def fenced(code: str, language: str = "") -> str:
    """A code block, behind a fence that the code does not have."""
    longest = max(map(len, re.findall("`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}" if code else ""


def _code(text: str) -> str:
    text = text.replace(_BREAK, "").strip()
    if not text:
        return ""
    longest = max(map(len, re.findall("`+", text)), default=0)
    mark = "`" * (longest + 1)
    return f"{mark} {text} {mark}" if longest else f"{mark}{text}{mark}"


def _around(text: str, before: str, after: str = "") -> str:
    """``text`` between marks, which touch no white space."""
    bare = text.strip(" \t\r\n\f\v\xa0" + _BREAK)
    if not bare or (before in ("*", "**") and before in bare):
        return text
    start = text.index(bare)
    return f"{text[:start]}{before}{bare}{after or before}{text[start + len(bare) :]}"
