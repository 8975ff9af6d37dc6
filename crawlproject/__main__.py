"""The command ``topical``: the sub-commands of ``scrapy`` outside a Scrapy project, and ``topical crawl TOPIC``.

Scrapy's own runner looks for a project around the current folder; this one uses the installed settings, and imports only the
requested sub-command.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from scrapy.cmdline import ScrapyArgumentParser
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from scrapy.utils.project import ENVVAR, get_project_settings

import crawlproject
from crawlproject import commands
from crawlproject.adapters.completion import SHELLS, script
from crawlproject.adapters.earlier_scrapy import refuse_earlier
from crawlproject.adapters.fetch_page import FetchCommand
from crawlproject.adapters.subcommand import BAD_INPUT, INTERRUPTED, HelpFormatter, Subcommand
from crawlproject.commands.crawl import CrawlCommand
from crawlproject.errors import BadInput

PROGRAM = "topical"
SETTINGS = "crawlproject.settings"
SPIDER = "topical"


class TopicCrawl(CrawlCommand):
    """``topical crawl TOPIC`` means ``scrapy crawl topical -a topic=TOPIC``; that form also works."""

    usage = "TOPIC [options]"
    summary = "Crawl a topic, or resume its crawl"
    description = (
        "Crawl TOPIC, a topic file, a folder of topic files or the name of a bundled topic, into CRAWL_DIR (default: "
        "crawls/NAME here), or resume the crawl in it. -a ordering=NAME: adaptive (the default), dom, shark_search or "
        "another of docs/orderings.md. Settings, such as budgets, with -s: docs/settings.md. Exit code 2: bad input; 3: "
        "stopped early, the same command resumes it."
    )
    examples: tuple[str, ...] = (
        "crawl reefs.toml",
        "crawl demo -a ordering=dom -s VIRTUAL_WEB=sample -s CRAWL_MAX_PAGES=200",
        "crawl reefs.toml -s CRAWL_MAX_SECONDS=3600 -s CRAWL_DIR=/data/reefs -o reefs.jsonl",
    )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args != [SPIDER] or not opts.spargs.keys() & {"topic", "topics"}:
            if len(args) != 1:
                raise UsageError(f"expected one topic: {PROGRAM} crawl TOPIC", print_help=False)
            opts.spargs["topics" if Path(args[0]).is_dir() else "topic"] = args[0]
        super().run([SPIDER], opts)


class CompletionCommand(Subcommand):
    """``topical completion SHELL``."""

    usage = "|".join(SHELLS)
    summary = "Print a shell completion script"
    description = (
        "Print a script that lets bash, zsh or fish complete sub-commands, their options, and files. "
        f'In ~/.bashrc: eval "$({PROGRAM} completion bash)". Exit code 2: another shell.'
    )
    examples = ("completion bash",)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or args[0] not in SHELLS:
            raise UsageError(f"expected one of {', '.join(SHELLS)}", print_help=False)
        made = {name: make_command(name) for name in command_names()}
        parsers = {name: parser_of(name, command, self.settings) for name, command in made.items()}
        print(script(args[0], PROGRAM, {name: (made[name].short_desc(), parsers[name]) for name in made}))


_OWN: dict[str, type[ScrapyCommand]] = {"crawl": TopicCrawl, "fetch": FetchCommand, "completion": CompletionCommand}


def main() -> None:
    """Run the command line; ends the process with its exit code."""
    os.environ.setdefault(ENVVAR, SETTINGS)  # crawls that a command starts read the same settings
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules of the command are imported; later, the commands see to it
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        code = INTERRUPTED
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one sub-command and return its exit code. Options before its name are treated like options after it."""
    try:
        refuse_earlier(PROGRAM)
    except BadInput as wrong:
        print(f"{PROGRAM}: {wrong}", file=sys.stderr)
        return BAD_INPUT
    name, rest = _split(arguments)
    if not name and "--version" in rest:
        print(f"{PROGRAM} {crawlproject.__version__}")
        return 0
    if not name:
        print("\n".join(_overview()))
        return 0 if not rest or {"-h", "--help"} & {*rest} else BAD_INPUT
    if name not in command_names():
        near = difflib.get_close_matches(name, command_names(), 1)
        meant = f"did you mean {near[0]}?" if near else f"{PROGRAM} --help lists what there is"
        print(f"{PROGRAM}: there is no command {name!r}; {meant}", file=sys.stderr)
        return BAD_INPUT
    settings = get_project_settings()
    command = make_command(name)
    settings.setdict(command.default_settings, priority="command")
    parser = parser_of(name, command, settings)
    options, words = parser.parse_known_args(rest)
    try:
        command.process_options(words, options)
        if command.requires_crawler_process:
            from scrapy.crawler import AsyncCrawlerProcess  # Scrapy 2.13 has none

            command.crawler_process = AsyncCrawlerProcess(settings)
        command.run(words, options)
    except UsageError as wrong:
        if str(wrong):
            parser.error(str(wrong))  # exits
        parser.print_help()
        return BAD_INPUT
    return command.exitcode


def command_names() -> list[str]:
    """The names of the sub-commands."""
    return sorted({*_OWN, *(module.name for module in iter_modules(commands.__path__))})


def make_command(name: str) -> ScrapyCommand:
    """Make the sub-command ``name``, which must exist."""
    if name in _OWN:
        return _OWN[name]()
    command: ScrapyCommand = getattr(import_module(f"{commands.__name__}.{name}"), f"{name.capitalize()}Command")()
    return command


def parser_of(name: str, command: ScrapyCommand, settings: Settings) -> argparse.ArgumentParser:
    """Make the parser of a sub-command, and give the sub-command ``settings``."""
    command.settings = settings
    parser = ScrapyArgumentParser(
        prog=f"{PROGRAM} {name}",
        usage=f"{PROGRAM} {name} {command.syntax()}",
        description=command.long_desc(),
        formatter_class=HelpFormatter,
        conflict_handler="resolve",
    )
    command.add_options(parser)
    return parser


def _split(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Split off the name of the sub-command; of the options before the name, only ``-s NAME=VALUE`` takes a value."""
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            return word, [*rest, *words]
        rest.append(word)
        if word in ("-s", "--set"):
            rest += [value for value in (next(words, None),) if value is not None]
    return "", rest


def _overview() -> Iterator[str]:
    yield f"{PROGRAM} {crawlproject.__version__}: a topical web crawler\n\nUsage: {PROGRAM} COMMAND [options] [arguments]\n"
    for name in command_names():
        yield f"  {name:<11} {make_command(name).short_desc()}"
    yield f"\n{PROGRAM} COMMAND --help says more. To begin: {PROGRAM} crawl demo -s VIRTUAL_WEB=sample"


if __name__ == "__main__":
    main()
