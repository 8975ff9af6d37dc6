"""Exports the main content of the pages of a crawl as a folder of Markdown files, each with front matter in YAML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from crawlproject.exporting.selection import Item, Selection, read_items, require_crawl
from crawlproject.exporting.units import series_of
from crawlproject.exporting.whole import folder_written_whole
from crawlproject.pages.main_content import main_text
from crawlproject.pages.markdown import markdown
from crawlproject.pages.text.printable import counted, printable
from crawlproject.storage.crawl_files import refuse_crawl_file
from crawlproject.storage.page_files import PAGES, PageRepository


def export_markdown(crawl_dir: Path, target: Path, selection: Selection) -> str:
    """Write ``target/<2 hex>/<md5>.md`` for each selected page; return a sentence about the result.

    ``target`` must be new or empty, and appears only once it is complete. Raises ``BadInput`` and ``StorageFailed``.
    """
    require_crawl(crawl_dir)
    refuse_crawl_file(target)
    texts = StoredTexts(crawl_dir, selection)
    count = 0
    with folder_written_whole(target) as folder:
        for item in texts.items():
            if (text := texts.markdown(item)) is None:
                continue
            place = folder / item["md5"][:2] / f"{item['md5']}.md"
            place.parent.mkdir(exist_ok=True)
            place.write_text(f"{_front_matter(item)}\n{text}\n", encoding="utf-8", errors="replace", newline="\n")
            count += 1
    return f"{counted(count, 'page')} in {target}{texts.gone}"


class StoredTexts:
    """The main content of stored pages, made from their files; for the first page of a joined series, that of all its pages."""

    def __init__(self, crawl_dir: Path, selection: Selection) -> None:
        self._crawl_dir, self._selection = crawl_dir, selection
        self._pages = PageRepository(crawl_dir / PAGES)
        self._series = series_of(crawl_dir) if selection.join_series else {}
        # For each page of a series that the crawl has not taken back: whether its text may be exported.
        self._stored: dict[str, bool] = {}
        if wanted := {url for first, parts in self._series.items() for url in (first, *parts)}:
            found = (each for each in read_items(crawl_dir) if each["url"] in wanted)
            self._stored = {each["url"]: selection.allows(each) for each in found}
        self._missing: set[str] = set()

    def items(self) -> Iterator[Item]:
        """Return the selected items without the further pages of joined series. Raises ``BadCrawlDir``."""
        firsts = {first for first in self._series if first in self._stored and first in self._pages}
        joined = {part for first in firsts for part in self._series[first]}
        return (item for item in read_items(self._crawl_dir, self._selection) if item["url"] not in joined)

    def markdown(self, item: Item) -> str | None:
        """Return the main content in Markdown; None if the page file is missing or damaged."""
        texts = [markdown(body, url=url, content_type=kind) for url, body, kind in self._bodies(item)]
        return printable("\n\n".join(filter(None, texts))) if texts else None

    def main_text(self, item: Item) -> str:
        """Return the main content as text, from the item or else from its page file; empty without a page file."""
        if item["text_main"]:
            return str(item["text_main"])
        return "\n".join(filter(None, (main_text(body, kind) for _, body, kind in self._bodies(item))))

    @property
    def gone(self) -> str:
        """The end of a sentence, about pages whose files are missing; empty if there are none."""
        count = len(self._missing)
        return f"; of {counted(count, 'page')} the page file is missing or damaged" if count else ""

    def _bodies(self, item: Item) -> list[tuple[str, bytes, str]]:
        """Return URL, body and content type of a page and of those joined to it; empty if its file is missing."""
        try:
            found = [(item["url"], self._pages.load(item["url"], item["digest"]), item["content_type"])]
        except FileNotFoundError:
            self._missing.add(item["md5"])
            return []
        further = (url for url in self._series.get(item["url"], ()) if self._stored.get(url) and url in self._pages)
        return found + [(url, self._pages.load(url), "") for url in further]


def _front_matter(item: Item) -> str:
    """Return URL, title, day of publication if known, time of the fetch, MD5, relevance and score, as YAML."""
    fetched = datetime.fromtimestamp(int(item["at"]), UTC).isoformat().replace("+00:00", "Z")
    published = f"date: {item['published']}\n" if item["published"] else ""
    score = "" if item["score"] is None else f"score: {item['score']:.6g}\n"
    return (
        f"---\nurl: {_quoted(item['url'])}\ntitle: {_quoted(item['title'])}\n{published}fetched: {fetched}\n"
        f"md5: {_quoted(item['md5'])}\nrelevance: {item['relevance']:.4f}\n{score}---\n"
    )


def _quoted(text: str) -> str:
    """Return a JSON string that is valid YAML, too: YAML has no surrogate pairs, so characters beyond U+FFFF are not escaped."""
    text = json.dumps(printable(text), ensure_ascii=False)
    return "".join(each if each.isprintable() or each > "\uffff" else f"\\u{ord(each):04x}" for each in text)
