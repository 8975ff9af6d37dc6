"""Parse the project's documentation: fences, tables, links, sections."""

from __future__ import annotations

import re
from pathlib import Path

from support.crawling import ROOT

DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")


def doc(name: str) -> str:
    """The text of a page of ``docs/``."""
    return (DOCS / name).read_text(encoding="utf-8")


def fences(text: str, *languages: str) -> list[str]:
    """The bodies of the fenced blocks in these languages."""
    return [body for language, body in _FENCE.findall(text) if language in languages]


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    return _FENCE.sub("", text)


def inline_code(text: str) -> list[str]:
    """The texts between single backticks in the prose."""
    return _CODE.findall(prose(text))


def links(text: str) -> list[str]:
    """The targets of the links in the prose."""
    return _LINK.findall(prose(text))


def section(text: str, heading: str) -> str:
    """The section of level two below ``heading``; raises ``KeyError`` when there is none."""
    for part in re.split(r"^## ", prose(text), flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        if title.strip() == heading:
            return body
    raise KeyError(heading)


def headings(text: str) -> list[str]:
    """The headings of level two."""
    return re.findall(r"^## (.+)$", prose(text), flags=re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors that a link into the page may name after ``#``, as GitHub derives them from headings."""
    found = re.findall(r"^#+ (.+)$", prose(text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def rows(text: str) -> list[list[str]]:
    """The cells of every table row in ``text``, without heads and rules."""
    lines = [line for line in prose(text).splitlines() if line.startswith("|")]
    head = {number - 1 for number, line in enumerate(lines) if re.fullmatch(r"[|\s:-]+", line)}
    kept = [line for number, line in enumerate(lines) if number not in head and number - 1 not in head]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in kept]


def first_cells(text: str) -> list[str]:
    """The first cell of every row, without backticks."""
    return [row[0].strip("`") for row in rows(text)]


def page_id(path: Path) -> str:
    """The name of a page in the output of the tests."""
    return str(path.relative_to(ROOT))
