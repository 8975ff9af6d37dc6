"""``scrapy export CRAWL_DIR --to FORMAT TARGET``: exports a crawl for other programs."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlproject.adapters.extensions.progress import print_share
from crawlproject.adapters.subcommand import Subcommand, reporting_errors
from crawlproject.errors import BadInput, StorageFailed
from crawlproject.pages.text.printable import counted
from crawlproject.parts.registry import part_module

if TYPE_CHECKING:
    from crawlproject.exporting.selection import Selection

_STDOUT = "-"
_FORMATS = ("chunks", "csv", "graphml", "jsonl", "markdown", "opensearch", "parquet", "wacz", "warc")

_OF_FORMAT = {  # options for one format only, with their defaults
    "words": ("chunks", 300),
    "overlap": ("chunks", 0),
    "batch_bytes": ("opensearch", 5_000_000),
    "retries": ("opensearch", 8),
    "restart": ("opensearch", False),
}


class ExportCommand(Subcommand):
    usage = "CRAWL_DIR --to FORMAT TARGET"
    summary = "Export a crawl as tables, a graph or an archive, or to a search server"
    description = (
        "Write the pages of a crawl to the file TARGET, which may be an address such as s3://bucket/pages.parquet or - for "
        "standard output, or send them to the index of OpenSearch or Elasticsearch at the URL TARGET "
        "(http://host:9200/index). markdown writes a new folder TARGET; so does parquet if TARGET ends with a /: files "
        "that form one data set. Works on running, finished and killed crawls, also at an address; the folders of several "
        "workers are merged first. TARGET appears when it is complete; an interrupted upload resumes. Exit code "
        "2: a crawl folder, target or option is wrong, or the server refused documents; 3: disk or server failed, try again."
    )
    examples = (
        "export crawls/reefs --to parquet reefs.parquet",
        "export s3://my-bucket/reefs --to parquet s3://my-bucket/tables/reefs/",
        "export crawls/reefs --to jsonl --fields url,title -",
        "export crawls/reefs --to wacz s3://my-bucket/reefs.wacz",
        "export crawls/reefs --to opensearch http://localhost:9200/reefs",
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--to", metavar="FORMAT", choices=_FORMATS, required=True, help=", ".join(_FORMATS))
        parser.add_argument(
            "--min-relevance",
            metavar="X",
            type=float,
            default=0.0,
            help="only pages of at least this relevance; wacz: lists these first; not for warc (default: 0)",
        )
        parser.add_argument(
            "--with-duplicates", action="store_true", help="also near-duplicates; archives always contain them"
        )
        parser.add_argument(
            "--without-reserved", action="store_true", help="leave out pages that reserve uses, for example by noai"
        )
        parser.add_argument(
            "--fields",
            metavar="NAMES",
            default="",
            help="csv, jsonl, parquet: only these fields of the item, such as url,title,markdown",
        )
        parser.add_argument("--words", metavar="N", type=int, help="chunks: maximum words in a chunk (default: 300)")
        parser.add_argument(
            "--overlap",
            metavar="N",
            type=int,
            help="chunks: maximum words repeated from the previous chunk (default: 0)",
        )
        parser.add_argument(
            "--join-series",
            action="store_true",
            help="csv, jsonl, parquet, markdown, chunks: make one item of a page series",
        )
        parser.add_argument(
            "--split-units",
            action="store_true",
            help="csv, jsonl, parquet: make an item of each post, article or entry on a page",
        )
        parser.add_argument(
            "--batch-bytes", metavar="N", type=int, help="opensearch: size of a request (default: 5000000)"
        )
        parser.add_argument(
            "--retries",
            metavar="N",
            type=int,
            help="opensearch: retries without progress before exit code 3 (default: 8)",
        )
        parser.add_argument("--restart", action="store_true", help="opensearch: send all pages again")
        parser.set_defaults(**{name: default for name, (_, default) in _OF_FORMAT.items()})

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("expected a crawl folder, --to FORMAT, and a file or a URL", print_help=False)
        if not 0.0 <= opts.min_relevance <= 1.0:
            raise UsageError("--min-relevance must be between 0 and 1", print_help=False)
        if opts.batch_bytes < 1 or opts.retries < 0:
            raise UsageError("--batch-bytes must be at least 1, and --retries 0", print_help=False)
        if not 0 <= opts.overlap < opts.words:
            raise UsageError("--words must be at least 1, and --overlap less than that", print_help=False)
        from crawlproject.configuration import read_options
        from crawlproject.exporting.chunks import export_chunks
        from crawlproject.exporting.files import export_file
        from crawlproject.exporting.markdown import export_markdown
        from crawlproject.exporting.selection import Selection
        from crawlproject.opening import crawl_folder

        with reporting_errors(self):
            for name, (kind, default) in _OF_FORMAT.items():
                if opts.to != kind and getattr(opts, name) != default:
                    raise BadInput(f"--{name.replace('_', '-')}", f"is for {kind}, not for {opts.to}")
            folder = crawl_folder(args[0], archives=opts.to in ("wacz", "warc"))
            selection = Selection(
                opts.min_relevance, opts.with_duplicates, opts.join_series, opts.split_units, opts.without_reserved
            )
            fields = list(filter(None, map(str.strip, opts.fields.split(","))))
            if opts.to == "opensearch" and opts.join_series:
                raise BadInput("--join-series", "is for csv, jsonl, parquet, markdown and chunks, not for opensearch")
            for option, asked in ("--split-units", opts.split_units), ("--fields", fields):
                if asked and opts.to in ("chunks", "markdown", "opensearch"):
                    raise BadInput(option, f"is for csv, jsonl and parquet, not for {opts.to}")
            if opts.to == "opensearch":
                print(_send(folder, args[1], selection, opts))
                return
            parts = opts.to == "parquet" and args[1].endswith("/")
            with _landed(args[1], is_folder=parts or opts.to == "markdown") as target:
                if opts.to == "markdown":
                    told = export_markdown(folder, target, selection)
                elif opts.to == "chunks":
                    told = export_chunks(folder, target, selection, words=opts.words, overlap=opts.overlap)
                else:
                    found = part_module("verticals", "site_template") if opts.split_units else None
                    templates = found.chosen_templates(read_options(self.settings or {})) if found is not None else None
                    export = partial(export_file, now=time.time(), templates=templates, fields=fields, parts=parts)
                    told = export(folder, target, opts.to, selection)
            print(told.replace(str(target), args[1]), file=sys.stderr if args[1] == _STDOUT else sys.stdout)


@contextmanager
def _landed(target: str, *, is_folder: bool) -> Iterator[Path]:
    """The local path to write to: ``target`` itself, or a temporary path that is sent to the address or standard output.

    Raises what ``Remote`` raises, ``StorageFailed``, and ``BadInput`` for a folder at an address that is not empty.
    """
    from crawlproject.storage.remote import Remote, is_remote

    if target == _STDOUT:
        if is_folder:
            raise BadInput(target, "expected the name of a new folder: markdown is a file a page")
        with TemporaryDirectory(prefix="topical-export-") as folder:
            yield (local := Path(folder) / "export.jsonl")  # the export of chunks depends on the suffix
            try:
                with local.open("rb") as file:
                    shutil.copyfileobj(file, sys.stdout.buffer)
                sys.stdout.flush()
            except BrokenPipeError:
                raise
            except OSError as error:
                raise StorageFailed(f"cannot write to standard output: {error.strerror}") from error
        return
    if not is_remote(target):
        yield Path(target)
        return
    remote = Remote(target)
    if is_folder and not remote.is_empty():
        raise BadInput(target, "expected the name of a new or an empty folder")
    with TemporaryDirectory(prefix="topical-export-") as folder:
        local = Path(folder) / remote.name
        yield local
        if is_folder:
            remote.send_folder(local)
        else:
            remote.send(local)


def _send(folder: Path, url: str, selection: Selection, opts: argparse.Namespace) -> str:
    from crawlproject.exporting.search_server import SearchServer
    from crawlproject.exporting.send import RetryPolicy, Sender

    server = SearchServer(url, os.environ)
    retry = RetryPolicy(time.sleep, Random().random, opts.retries)
    sender = Sender(folder, server, selection, retry, max_bytes=opts.batch_bytes, restart=opts.restart)
    sent = sender.run(partial(print_share, "sent"))
    if sent.refused:
        raise BadInput(
            server.name,
            f"accepted {sent.taken:,} and refused {counted(sent.refused, 'document')}; see {sender.refused_path}",
        )
    return f"{counted(sent.taken, 'document')} in {server.name}"
