"""A stored page as Markdown."""

from __future__ import annotations

from crawlproject.exporting.selection import Item
from crawlproject.library.stored_crawl import StoredCrawl
from crawlproject.pages.main_content.inline import escaped, fenced
from crawlproject.pages.main_content.markdown import markdown


def page_markdown(stored: StoredCrawl, item: Item) -> str:
    """Title, URL and main content; without main content the visible text, in a block that is no markup."""
    try:
        text = markdown(stored.body(item["url"]), url=item["url"], content_type=item["content_type"])
    except FileNotFoundError:
        text = ""
    title = " ".join((item["title"] or item["url"]).split())
    return "\n\n".join([f"# {escaped(title)}", f"<{item['url']}>", text or fenced(item["text"])])
