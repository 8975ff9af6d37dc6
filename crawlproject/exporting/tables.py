"""Exports the pages of a crawl as rows, JSON lines, CSV or Parquet, and its link graph as GraphML.

The graph has one node per stored page, and one edge per link between stored pages.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

import orjson

from crawlproject.errors import BadCrawlDir
from crawlproject.exporting.selection import Item
from crawlproject.pages.text.printable import printable
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.history import DigestSet
from crawlproject.storage.page_files import item_schema
from crawlproject.urls.hosts import page_name

_BATCH = 500  # rows between two checks of the size of a row group
PART_BYTES = 256_000_000  # of text in a Parquet file, if there are several
_GROUP_BYTES = 8_000_000  # of text in a Parquet row group
_TEXTS = ("text", "text_main", "markdown")  # the large fields
# A spreadsheet reads a cell that begins with one of these as a formula (OWASP, "CSV injection").
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
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
_COLUMNS = {"at": "fetched_at"}  # fields whose column has another name: AT is an SQL keyword
_FIELDS = {column: name for name, column in _COLUMNS.items()}
_EDGE = {"anchor": "string", "context_score": "double"}
# Characters that XML 1.0 forbids, even escaped, and the controls of terminals that it allows.
_NO_XML = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_jsonl(items: Iterable[Item], file: BinaryIO) -> int:
    """Write one JSON object per line; return their number."""
    count = 0
    for item in items:
        file.write(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE))
        count += 1
    return count


def write_csv(items: Iterable[Item], file: BinaryIO, properties: Mapping[str, Any] | None = None) -> int:
    """Write CSV (RFC 4180, UTF-8) with a header line; return the number of rows.

    Text that a spreadsheet would read as a formula is prefixed with an apostrophe. Control characters other than tabs and
    line feeds are removed. ``parts`` is JSON. ``properties``: the fields and their types, by default those of items.
    """
    text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="", write_through=True)
    rows = csv.writer(text)
    names = list(properties or item_schema()["properties"])
    rows.writerow([_COLUMNS.get(name, name) for name in names])
    count = 0
    for item in items:
        rows.writerow([_cell(item[name]) for name in names])
        count += 1
    text.detach()
    return count


def write_parquet(items: Iterable[Item], file: BinaryIO, properties: Mapping[str, Any] | None = None) -> int:
    """Write Parquet, compressed with Zstandard; return the number of rows.

    ``fetched_at`` is ``at``, as a UTC time stamp; ``parts`` is a map.
    """
    import pyarrow.parquet

    schema = _schema(properties or item_schema()["properties"], properties)
    count = 0
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(items):
            writer.write_table(_table(group, schema))
            count += len(group)
    return count


def write_parquet_parts(items: Iterable[Item], folder: Path, properties: Mapping[str, Any] | None = None) -> int:
    """Write ``part-00000.parquet`` and so on, which form one data set; return the number of rows.

    A part ends with the row that brings its text to ``PART_BYTES``.
    """
    rows = iter(items)
    count = part = 0
    while (first := [*islice(rows, 1)]) or not part:
        with (folder / f"part-{part:05}.parquet").open("wb") as file:
            count += write_parquet(_some(chain(first, rows)), file, properties)
        part += 1
    return count


def _some(items: Iterable[Item]) -> Iterator[Item]:
    size = 0
    for item in items:
        yield item
        size += _text_bytes(item)
        if size >= PART_BYTES:
            return


def _text_bytes(item: Item) -> int:
    return sum(len((item.get(name) or "").encode("utf-8", "replace")) for name in _TEXTS)


def arrow_table(items: Iterable[Item], names: Iterable[str]) -> Any:
    """Return the items as an Arrow table, in memory, with columns for the fields ``names``, as in Parquet."""
    import pyarrow

    schema = _schema(names)
    groups = [_table(group, schema) for group in _groups(items)]
    return pyarrow.concat_tables(groups) if groups else schema.empty_table()


def _schema(names: Iterable[str], properties: Mapping[str, Any] | None = None) -> Any:
    import pyarrow

    properties = properties or item_schema()["properties"]
    types = [(_COLUMNS.get(name, name), _arrow_type(name, properties[name]["type"])) for name in names]
    return pyarrow.schema(types)


def _table(items: list[Item], schema: Any) -> Any:
    import pyarrow

    fields = {column: _FIELDS.get(column, column) for column in schema.names}
    columns = {column: [_arrow_value(name, item[name]) for item in items] for column, name in fields.items()}
    return pyarrow.Table.from_pydict(columns, schema=schema)


def _groups(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Group rows into batches of limited size."""
    group: list[Item] = []
    size = 0
    iterator = iter(items)
    while batch := list(islice(iterator, _BATCH)):
        group += batch
        size += sum(map(_text_bytes, batch))
        if size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _arrow_type(name: str, said: str | list[str]) -> Any:
    import pyarrow

    if name == "at":
        return pyarrow.timestamp("ms", tz="UTC")
    kinds = {"number": pyarrow.float64(), "integer": pyarrow.int64(), "boolean": pyarrow.bool_()}
    if said == "array":
        return pyarrow.list_(pyarrow.string())
    if said == "object":
        return pyarrow.map_(pyarrow.string(), pyarrow.float64())
    return kinds.get(said if isinstance(said, str) else said[0], pyarrow.string())


def _arrow_value(name: str, value: Any) -> Any:
    if name == "at":
        return round(value * 1000)
    return list(value.items()) if isinstance(value, dict) else value


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        value = orjson.dumps(value).decode()
    if isinstance(value, str):
        value = printable(value)  # tables are also read in terminals
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value


def write_graphml(items: Iterable[Item], links: Path, file: BinaryIO) -> tuple[int, int]:
    """Write the graph; return the numbers of nodes and edges. ``links`` is the path of ``links.jsonl``.

    The id of a node is the MD5 of its URL. Of several links from one page to another, only the first is exported.
    """
    nodes = DigestSet()
    edges = 0
    _write(file, _head())
    for item in items:
        nodes.add(item["url"])
        _write(file, f'<node id="{item["md5"]}">{_data(_NODE, item, "n")}</node>\n')
    try:
        linked_again = _sources_again(links)
        for source, found in groupby(read_lines(links), key=itemgetter("source")):
            if source not in nodes:
                continue
            seen = linked_again.get(source, set())
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


def _sources_again(links: Path) -> dict[str, set[str]]:
    """Return the pages whose links are in several places of the file, since they were revisited, each with an empty set."""
    once, again = DigestSet(), {}
    for source, _ in groupby(read_lines(links), key=itemgetter("source")):
        if source in once:
            again[source] = set[str]()
        once.add(source)
    return again


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
