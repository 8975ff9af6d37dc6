"""Exports the link graph of a crawl as GraphML: one node per stored page, one edge per link between stored pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

from crawlproject.errors import BadCrawlDir
from crawlproject.exporting.selection import Item
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.history import DigestSet
from crawlproject.urls.naming import page_name

_NODE = {
    "url": "string",
    "title": "string",
    "language": "string",
    "relevance": "double",
    "score": "double",
    "depth": "int",
    "at": "double",
    "published": "string",
    "duplicate_of": "string",
    "spam": "double",
}
_EDGE = {"anchor": "string", "context_score": "double"}
# Characters that XML 1.0 forbids, even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(items: Iterable[Item], links: Path, file: BinaryIO) -> tuple[int, int]:
    """Write the graph; return the numbers of nodes and edges. ``links`` is ``links.jsonl``; a node's id is the MD5 of its URL.

    Of several links from one page to another, the first is exported.
    """
    nodes = DigestSet()
    edges = 0
    _write(file, _head())
    for item in items:
        nodes.add(item["url"])
        _write(file, f'<node id="{item["md5"]}">{_data(_NODE, item, "n")}</node>\n')
    try:
        for source, found in groupby(read_lines(links), key=itemgetter("source")):
            if source not in nodes:
                continue
            seen: set[str] = set()
            for link in found:
                target = link["target"]
                if target in nodes and target not in seen:
                    seen.add(target)
                    edges += 1
                    ends = f'source="{page_name(source)}" target="{page_name(target)}"'
                    _write(file, f"<edge {ends}>{_data(_EDGE, link, 'e')}</edge>\n")
    except (KeyError, TypeError) as damage:
        raise BadCrawlDir(str(links), f"expected objects with source and target, not {damage!r}") from None
    _write(file, "</graph>\n</graphml>\n")
    return len(nodes), edges


def _head() -> str:
    keys = "".join(_keys("node", "n", _NODE)) + "".join(_keys("edge", "e", _EDGE))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        f'{keys}<graph id="crawl" edgedefault="directed">\n'
    )


def _keys(of: str, prefix: str, fields: Mapping[str, str]) -> Iterator[str]:
    for name, kind in fields.items():
        yield f'<key id="{prefix}-{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n'


def _data(fields: Mapping[str, str], record: Mapping[str, Any], prefix: str) -> str:
    values = ((name, record.get(name)) for name in fields)
    return "".join(
        f'<data key="{prefix}-{name}">{escape(_NO_XML.sub(" ", str(value)))}</data>'
        for name, value in values
        if value not in (None, "")
    )


def _write(file: BinaryIO, text: str) -> None:
    file.write(text.encode("utf-8", "replace"))
