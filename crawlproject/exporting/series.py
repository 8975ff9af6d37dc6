"""Page series of a crawl put together: an article in parts, a thread or a list becomes one item, that of its first page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from crawlproject.exporting.selection import EVERYTHING, Item, Selection, read_items
from crawlproject.parts.verticals.series import next_page
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.read import LINKS

_TEXTS = ("text", "text_main")


def series_of(crawl_dir: Path) -> Mapping[str, list[str]]:
    """The further pages of each series, in order, by the URL of its first page, as links and their texts tell.

    A URL follows one other at most; where the web says otherwise, the first that said so. Memory: the URLs of series.
    """
    following: dict[str, str] = {}
    followed: set[str] = set()
    for source, lines in groupby(read_lines(crawl_dir / LINKS), key=itemgetter("source")):
        target = next_page(source, [(line["target"], line["anchor"]) for line in lines])
        if target and target not in followed and source not in following:
            following[source] = target
            followed.add(target)
    found: dict[str, list[str]] = {}
    for first in following.keys() - followed:
        parts = found[first] = []
        url = first
        while url in following:  # ends: every URL follows one other, and the first none
            url = following[url]
            parts.append(url)
    return found


def read_joined(crawl_dir: Path, selection: Selection) -> Iterator[Item]:
    """As ``read_items``; a series is the item of its first page, with the texts of all. Memory: the texts of the other pages.

    A part whose first page was not stored stays an item of its own.
    """
    series = series_of(crawl_dir)
    wanted = {url for parts in series.values() for url in parts}
    stored: set[str] = set()
    texts: dict[str, list[str]] = {}
    for item in read_items(crawl_dir, EVERYTHING):
        if item["url"] in wanted:
            texts[item["url"]] = [item[name] for name in _TEXTS]
        elif item["url"] in series:
            stored.add(item["url"])
    joined = {url for first in stored for url in series[first]}
    for item in read_items(crawl_dir, selection):
        if item["url"] in joined:
            continue
        parts = [texts[url] for url in series.get(item["url"], ()) if url in texts]
        if parts:
            pieces = zip(_TEXTS, zip(*([item[name] for name in _TEXTS], *parts), strict=True), strict=True)
            item = {**item, **{name: "\n".join(filter(None, several)) for name, several in pieces}}
        yield item
