"""``scrapy rules CRAWL_DIR``: lists the URL rules that a crawl learned, and switches them on and off."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors, require_part
from crawlproject.configuration import program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.parts.duplicates.url_rule_store import StoredRule


class RulesCommand(Subcommand):
    usage = "[options] CRAWL_DIR"
    summary = "List the URL rules that a crawl learned, or switch one off"
    description = (
        "List the URL rules that a crawl learned from duplicates (parts of URLs that do not change the page): each rule "
        "with its host, state (holds, withdrawn, off), the pairs of URLs for and against it, and an example. With several "
        "workers, the rules of each. A rule that is switched off stays off when the crawl resumes. "
        "Exit code 2: not a crawl folder, a damaged one, one in use, or an unknown rule."
    )
    examples = ("rules crawls/reefs",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--off",
            metavar="RULE",
            help='switch a rule off, such as "a.example param sid"; it stays off in resumed crawls',
        )
        parser.add_argument("--on", metavar="RULE", help="switch a rule on again")
        parser.add_argument("--json", action="store_true", help="print JSON lines")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        require_part("duplicates")
        if len(args) != 1:
            raise UsageError("expected a crawl folder", print_help=False)
        if opts.off and opts.on:
            raise UsageError("expected --off or --on, not both", print_help=False)
        with reporting_errors(self):
            folders = list(_folders(Path(args[0])))
            if opts.off or opts.on:
                _switch(folders, opts.off or opts.on, off=bool(opts.off))
            else:
                _list(folders, as_json=opts.json)


def _folders(folder: Path) -> Iterator[Path]:
    """The crawl folder, or the folders of its workers. Raises ``BadCrawlDir``."""
    from crawlproject.errors import BadCrawlDir
    from crawlproject.exporting.selection import workers_of
    from crawlproject.storage.manifest import read_manifest

    workers = workers_of(folder)
    if not workers and not read_manifest(folder):
        raise BadCrawlDir(str(folder), "expected a crawl folder, but it has no crawl.json")
    yield from workers or [folder]


def _list(folders: list[Path], *, as_json: bool) -> None:
    from crawlproject.parts.duplicates.url_rule_store import read_rules

    entries = [(folder, entry) for folder in folders for entry in read_rules(folder).values()]
    for folder, entry in entries:
        worker = folder.name if len(folders) > 1 else ""
        print(json.dumps(_fields(entry, worker)) if as_json else _line(entry, worker))
    if not entries and not as_json:
        print("The crawl learned no URL rules.")


def _line(entry: StoredRule, worker: str) -> str:
    pairs = f"{entry.pairs[0]:g} for, {entry.pairs[1]:g} against"
    head = f"{entry.state:<9}  {entry.rule}  ({pairs}{f', worker {worker}' if worker else ''})"
    return "\n".join([head, *(f"             {one}\n           = {two}" for one, two in entry.examples[:1])])


def _fields(entry: StoredRule, worker: str) -> dict[str, object]:
    return {
        "rule": str(entry.rule),
        "state": entry.state,
        "for": entry.pairs[0],
        "against": entry.pairs[1],
        "examples": entry.examples,
        **({"worker": worker} if worker else {}),
    }


def _switch(folders: list[Path], spelled: str, *, off: bool) -> None:
    """Switch the rule on or off in every folder that has it.

    Raises ``BadInput`` if no folder has it, ``BadCrawlDir`` if one is in use.
    """
    from crawlproject.errors import BadInput
    from crawlproject.parts.duplicates.url_rule import UrlRule
    from crawlproject.parts.duplicates.url_rule_store import OFF, ON, UrlRuleStore, read_rules
    from crawlproject.storage.crawl_files import FolderLock

    rule = UrlRule.spelled(spelled)
    having = [folder for folder in folders if rule in read_rules(folder)]
    if not having:
        raise BadInput(f"rule {spelled!r}", f"expected one of those that `{program} rules CRAWL_DIR` lists")
    for folder in having:
        with closing(FolderLock(folder)), closing(UrlRuleStore(folder)) as book:
            book.note(rule, OFF if off else ON, book.entries[rule].pairs)
            print(f"{rule}: {book.entries[rule].state}")
