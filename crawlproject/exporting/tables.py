"""Exports the pages of a crawl as rows: JSON lines, CSV, Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, BinaryIO

import orjson

from crawlproject.exporting.selection import Item
from crawlproject.storage.items import item_schema

_BATCH = 500  # rows, and so the most texts in memory
_GROUP_BYTES = 8_000_000  # of text in a row group of Parquet

# A spreadsheet reads a cell that begins with one of these as a formula (OWASP, "CSV injection").
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_jsonl(items: Iterable[Item], file: BinaryIO) -> int:
    """Write one JSON object per line; return their number."""
    count = 0
    for item in items:
        file.write(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE))
        count += 1
    return count


def write_csv(items: Iterable[Item], file: BinaryIO, properties: Mapping[str, Any] | None = None) -> int:
    """Write CSV (RFC 4180, UTF-8) with a header line; return the number of rows.

    Text that a spreadsheet would read as a formula is prefixed with an apostrophe. ``parts`` is JSON. ``properties``: the
    fields and their types, those of items unless given.
    """
    text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="", write_through=True)
    rows = csv.writer(text)
    rows.writerow(properties or item_schema()["properties"])
    count = 0
    for item in items:
        rows.writerow([_cell(value) for value in item.values()])
        count += 1
    text.detach()
    return count


def write_parquet(items: Iterable[Item], file: BinaryIO, properties: Mapping[str, Any] | None = None) -> int:
    """Write Parquet, compressed with Zstandard; return the number of rows. ``at`` is a UTC time stamp, ``parts`` a map."""
    import pyarrow.parquet

    schema = _schema(properties or item_schema()["properties"], properties)
    count = 0
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(items):
            writer.write_table(_table(group, schema))
            count += len(group)
    return count


def arrow_table(items: Iterable[Item], names: Iterable[str]) -> Any:
    """The items as a table of Arrow with the columns ``names``, typed as in Parquet. All of it is in memory."""
    import pyarrow

    schema = _schema(names)
    groups = [_table(group, schema) for group in _groups(items)]
    return pyarrow.concat_tables(groups) if groups else schema.empty_table()


def _schema(names: Iterable[str], properties: Mapping[str, Any] | None = None) -> Any:
    import pyarrow

    properties = properties or item_schema()["properties"]
    return pyarrow.schema([(name, _arrow_type(name, properties[name]["type"])) for name in names])


def _table(items: list[Item], schema: Any) -> Any:
    import pyarrow

    columns = {name: [_arrow_value(name, item[name]) for item in items] for name in schema.names}
    return pyarrow.Table.from_pydict(columns, schema=schema)


def _groups(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Group rows into batches of limited size."""
    group: list[Item] = []
    size = 0
    iterator = iter(items)
    while batch := list(islice(iterator, _BATCH)):
        group += batch
        size += sum(len(item["text"]) for item in batch)
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
    if said == "object":
        return pyarrow.map_(pyarrow.string(), pyarrow.float64())
    return kinds.get(said if isinstance(said, str) else said[0], pyarrow.string())


def _arrow_value(name: str, value: Any) -> Any:
    if name == "at":
        return round(value * 1000)
    return list(value.items()) if isinstance(value, dict) else value


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return orjson.dumps(value).decode()
    if isinstance(value, str):
        value = value.replace("\0", "")
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value
