"""A stored page as Markdown."""

from __future__ import annotations

import re

from crawlproject.exporting.selection import Item
from crawlproject.library.stored_crawl import StoredCrawl

_MARKUP = re.compile(r"([\\`*_\[\]<>#|])")


def page_markdown(stored: StoredCrawl, item: Item) -> str:
    """Title, URL and visible text, a paragraph a line; what Markdown would read as markup is escaped."""
    lines = [
        f"# {_escaped(item['title'] or item['url'])}",
        f"<{item['url']}>",
        *map(_escaped, item["text"].splitlines()),
    ]
    return "\n\n".join(lines)


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
