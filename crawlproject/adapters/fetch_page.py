"""``topical fetch URL``: one page, fetched as a crawl would, as Markdown or JSON. ``scrapy fetch`` is Scrapy's own."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors, settings_for
from crawlproject.errors import BadInput
from crawlproject.records import Page, Topic

NOT_FETCHED = 1
_NO_TOPIC = Topic("page", ("page",), ())
_KNOWN = (
    *("url", "title", "author", "published", "language", "license", "reserved", "status", "content_type", "digest"),
    "spam",
)  # fields of the item that describe the page itself


class FetchCommand(Subcommand):
    usage = "[options] URL"
    summary = "Fetch one page, and print it as Markdown or JSON"
    description = (
        "Fetch URL as a crawl would, politely and by its robots.txt, and print its main content as Markdown, after the "
        "metadata of the page; with --topic also its relevance. Nothing is stored. Exit code 1: no page, and why; 2: "
        "a wrong URL, topic or setting."
    )
    examples = (
        "fetch https://docs.scrapy.org/en/latest/",
        "fetch --topic demo --json -s VIRTUAL_WEB=sample http://www.lagoon-notes.example/",
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--topic", metavar="TOPIC", help="a topic file or the name of a bundled topic, to judge the page by"
        )
        links = "print JSON, with the links and their context scores"
        parser.add_argument("--json", action="store_true", help=links)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one URL", print_help=False)
        with reporting_errors(self), tempfile.TemporaryDirectory(prefix="page-") as folder:
            self._fetch(args[0], opts, Path(folder))

    def _fetch(self, asked: str, opts: argparse.Namespace, folder: Path) -> None:
        from crawlproject.adapters.preview import Preview
        from crawlproject.configuration import program, read_options
        from crawlproject.topic.fields import checked_url
        from crawlproject.topic.folder import find_topic

        try:
            url = checked_url(asked)
        except ValueError as wrong:
            raise BadInput("URL", str(wrong)) from None
        topic = find_topic(opts.topic) if opts.topic else _NO_TOPIC
        preview = Preview(topic, read_options(settings_for(self, topic)), {**topic.settings, **self.given}, folder)
        (found,) = preview.look([url])
        if found.page is None:
            why = found.refusal or (found.visit.error if found.visit else "") or "no answer in time"
            print(f"{program}: {found.landed or url}: no page: {why}", file=sys.stderr)
            self.exitcode = NOT_FETCHED
            return
        item, text = preview.stored(found.landed)
        known = {name: item[name] for name in _KNOWN}
        if opts.topic:
            known["relevance"] = found.page.relevance
        if opts.json:
            print(orjson.dumps({**known, "markdown": text, "links": _links(found.page, opts.topic)}).decode())
        else:
            print(f"{_front_matter(known)}\n{text}")


def _front_matter(known: Mapping[str, Any]) -> str:
    """What is known about the page, as YAML front matter: JSON values are also YAML values."""
    said = (f"{name}: {orjson.dumps(value).decode()}" for name, value in known.items() if value != "")
    return "\n".join(("---", *said, "---"))


def _links(page: Page, topic: str | None) -> list[dict[str, Any]]:
    """The links in the order of the page; with a topic, each with its context score."""
    return [
        {"url": link.url, "anchor": link.anchor, **({"context_score": link.context_score} if topic else {})}
        for link in page.links
    ]
