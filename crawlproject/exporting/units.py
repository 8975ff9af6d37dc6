"""Splits pages into units, and joins the pages of a series.

The units of a page are the posts of a thread or the entries of a list; they share the MD5 of their page. A series of pages
(an article in parts, a thread, a list) becomes one item, the item of its first page.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.exporting.selection import EVERYTHING, Item, Selection, read_items
from crawlproject.parts.registry import is_there
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.page_files import PageRepository, item_schema
from crawlproject.storage.read import LINKS
from crawlproject.urls.hosts import host_of

if TYPE_CHECKING:
    from crawlproject.parts.verticals.site_template import SiteTemplate, SiteTemplates

UNIT_FIELDS: Mapping[str, Mapping[str, str]] = {
    "page_kind": {"type": "string"},
    "unit": {"type": "integer"},
    "unit_kind": {"type": "string"},
    "unit_url": {"type": "string"},
    "series": {"type": "string"},
}

_TEMPLATES = 2_000  # hosts whose templates are kept at a time
_TEXTS = ("text", "text_main")


def unit_properties() -> Mapping[str, Any]:
    """Return the fields of the item of a unit: those of its page, and ``UNIT_FIELDS``."""
    return {**item_schema()["properties"], **UNIT_FIELDS}


def read_units(crawl_dir: Path, selection: Selection, own: SiteTemplates | None = None) -> Iterator[Item]:
    """Yield an item for each unit of the selected pages, in order; a page without units is one item.

    ``text``, ``author``, ``title`` and ``published`` are those of the unit, the last two if it states them; ``url`` and ``md5``
    are those of the page. ``unit`` counts from 1 and is 0 for a whole page. ``series`` is the first page of the series.
    ``own`` are the user's templates of sites; for other hosts, a template is made from the first pages of the host. Memory:
    24 URLs per host, and the URLs of series.
    """
    first_of = {url: first for first, parts in series_of(crawl_dir).items() for url in (first, *parts)}
    templates = _Templates(crawl_dir, own)
    for item in read_items(crawl_dir, selection):
        found = templates.of(item["url"])
        try:
            body = templates.pages.load(item["url"], item["digest"])
        except FileNotFoundError:
            body = b""
        layout = found.layout(item["url"], body, item["content_type"])
        whole = {**item, "page_kind": layout.kind, "unit": 0, "unit_kind": "", "unit_url": ""}
        whole["series"] = first_of.get(item["url"], "")
        if not layout.units:
            yield whole
        for number, unit in enumerate(layout.units, start=1):
            named = {"unit": number, "unit_kind": unit.kind, "unit_url": unit.url}
            said = {"title": unit.title or item["title"], "published": unit.published or item["published"]}
            said["author"] = unit.author or (item["author"] if unit.kind == "article" else "")
            yield {**whole, **named, **said, "text": unit.text, "text_main": unit.text if item["text_main"] else ""}


class _Templates:
    """The templates of the hosts of a crawl, each made on demand."""

    def __init__(self, crawl_dir: Path, own: SiteTemplates | None) -> None:
        from crawlproject.parts.verticals.detector import PAGES

        self.pages = PageRepository(crawl_dir / "pages")
        self._own = own
        self._made: OrderedDict[str, SiteTemplate] = OrderedDict()
        self._first: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for item in read_items(crawl_dir):
            first = self._first[host_of(item["url"])]
            if len(first) < PAGES:
                first.append((item["url"], item["content_type"]))

    def of(self, url: str) -> SiteTemplate:
        own = self._own.of(url) if self._own else None
        if own is not None:
            return own
        host = host_of(url)
        if host not in self._made:
            from crawlproject.parts.verticals.detector import detect_template

            self._made[host] = detect_template(self._read(host))
            if len(self._made) > _TEMPLATES:
                self._made.popitem(last=False)
        return self._made[host]

    def _read(self, host: str) -> Iterator[tuple[str, bytes, str]]:
        for url, content_type in self._first[host]:
            try:
                yield url, self.pages.load(url), content_type
            except FileNotFoundError:
                continue


def series_of(crawl_dir: Path) -> Mapping[str, list[str]]:
    """Map the URL of the first page of each series to its further pages, in order, as derived from links and anchors.

    A URL follows at most one other; if several pages claim it as their next page, the first one counts. Memory: the URLs of
    series. Raises ``BadInput`` without the part ``verticals``, and ``BadCrawlDir`` for damaged links.
    """
    if not is_there("verticals"):
        raise BadInput("series and units of pages", "the part verticals is not installed")
    from crawlproject.parts.verticals.series import next_page

    following: dict[str, str] = {}
    followed: set[str] = set()
    try:
        for source, lines in groupby(read_lines(crawl_dir / LINKS), key=itemgetter("source")):
            target = next_page(source, [(line["target"], line["anchor"]) for line in lines])
            if target and target not in followed and source not in following:
                following[source] = target
                followed.add(target)
    except (KeyError, TypeError) as damage:
        wish = f"expected objects with source, target and anchor, not {damage!r}"
        raise BadCrawlDir(str(crawl_dir / LINKS), wish) from None
    found: dict[str, list[str]] = {}
    for first in following.keys() - followed:
        parts = found[first] = []
        url = first
        while url in following:  # no cycle: every URL follows at most one other, and the first URL follows none
            url = following[url]
            parts.append(url)
    return found


def read_joined(crawl_dir: Path, selection: Selection) -> Iterator[Item]:
    """Like ``read_items``, but a series is one item: that of its first page, with the texts of all its pages.

    A further page whose first page was not stored stays a separate item. Memory: the texts of all further pages.
    """
    series = series_of(crawl_dir)
    wanted = {url for parts in series.values() for url in parts}
    stored: set[str] = set()
    texts: dict[str, list[str]] = {}
    for item in read_items(crawl_dir, EVERYTHING):
        if item["url"] in wanted and selection.allows(item):
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
