"""Exports the main content of the pages of a crawl as a folder of Markdown files, each with front matter in YAML."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from crawlproject.errors import BadInput, StorageFailed
from crawlproject.exporting.selection import Item, Selection, read_items, require_crawl
from crawlproject.exporting.units import series_of
from crawlproject.pages.markdown import markdown
from crawlproject.pages.text.printable import counted, printable
from crawlproject.storage.page_files import PageRepository


def export_markdown(crawl_dir: Path, target: Path, selection: Selection) -> str:
    """Write ``target/<2 hex>/<md5>.md`` for each selected page; return a sentence about it.

    ``target`` is new or empty, and appears when it is complete. Raises ``BadInput`` and ``StorageFailed``.
    """
    require_crawl(crawl_dir)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadInput(str(target), "expected the name of a new or an empty folder")
    pages = PageRepository(crawl_dir / "pages")
    count = missing = 0
    with _written_whole(target) as folder:
        series = series_of(crawl_dir) if selection.join_series else {}
        joined = {part for first, parts in series.items() if first in pages for part in parts}
        for item in read_items(crawl_dir, selection):
            if item["url"] in joined:
                continue
            try:
                body = pages.load(item["url"], item["digest"])
            except FileNotFoundError:
                missing += 1
                continue
            place = folder / item["md5"][:2] / f"{item['md5']}.md"
            place.parent.mkdir(exist_ok=True)
            texts = [markdown(body, url=item["url"], content_type=item["content_type"])]
            further = (url for url in series.get(item["url"], ()) if url in pages)
            texts += [markdown(pages.load(url), url=url) for url in further]
            text = printable("\n\n".join(filter(None, texts)))
            place.write_text(f"{_front_matter(item)}\n{text}\n", encoding="utf-8", errors="replace", newline="\n")
            count += 1
    gone = f"; of {counted(missing, 'page')} the page file is missing or damaged" if missing else ""
    return f"{counted(count, 'page')} in {target}{gone}"


def _front_matter(item: Item) -> str:
    """URL, title, day of publication if it is known, time of the fetch, MD5, relevance and score."""
    fetched = datetime.fromtimestamp(int(item["at"]), UTC).isoformat().replace("+00:00", "Z")
    published = f"date: {item['published']}\n" if item["published"] else ""
    score = "" if item["score"] is None else f"score: {item['score']:.6g}\n"
    return (
        f"---\nurl: {_quoted(item['url'])}\ntitle: {_quoted(item['title'])}\n{published}fetched: {fetched}\n"
        f"md5: {_quoted(item['md5'])}\nrelevance: {item['relevance']:.4f}\n{score}---\n"
    )


def _quoted(text: str) -> str:
    """A string of JSON, which is one of YAML as well."""
    text = printable(text)
    return json.dumps(text, ensure_ascii=not text.isprintable())


@contextmanager
def _written_whole(target: Path) -> Iterator[Path]:
    """A folder that is renamed to ``target`` at the end, and removed when anything fails."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        draft.mkdir(parents=True)
        yield draft
        if target.exists():
            target.rmdir()  # it is empty
        draft.rename(target)
    except OSError as error:
        raise StorageFailed(f"cannot write {target}: {error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
