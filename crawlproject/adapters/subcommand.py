"""Shared by the sub-commands: bad input becomes one message and exit code 2, and output cannot control the terminal."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.project import get_project_settings

from crawlproject.configuration import installed, program, refuse_misspelt
from crawlproject.errors import BadInput, BadSetting, StorageFailed
from crawlproject.extras import named
from crawlproject.pages.text.printable import PlainStream, visible
from crawlproject.parts.registry import is_there

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from crawlproject.records import Topic

BAD_INPUT = 2
STOPPED = 3
INTERRUPTED = 130  # as shells report a program that Ctrl-C ended
# Scrapy in a separate process. An installed crawler must not import modules from the current folder.
SCRAPY = [sys.executable, *(["-P"] if installed else []), "-m", "scrapy"]
_EXAMPLES = "Examples\n========"
CRAWL_TOPIC = f"{program} crawl " if installed else f"{program} crawl topical -a topic="  # followed by the topic


class HelpFormatter(ScrapyHelpFormatter):
    """Scrapy's formatter treats each line that ends with a colon as a heading; this one leaves the lines of options alone.

    Examples are not wrapped; their heading looks like Scrapy's.
    """

    def format_part_strings(self, part_strings: list[str]) -> list[str]:
        is_option = bool(part_strings) and part_strings[0].startswith(" ")
        return part_strings if is_option else super().format_part_strings(part_strings)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(_EXAMPLES) else super()._fill_text(text, width, indent)


class Described(ScrapyCommand):
    """The help of a command: its arguments, a summary line, a paragraph, and examples without the name of the program."""

    usage = ""
    summary = ""
    description = ""
    examples: tuple[str, ...] = ()

    def syntax(self) -> str:
        return self.usage

    def short_desc(self) -> str:
        return self.summary

    def long_desc(self) -> str:
        return self.description

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        self.show_examples(parser)

    def show_examples(self, parser: argparse.ArgumentParser) -> None:
        """Append the examples to the help."""
        parser.formatter_class = HelpFormatter
        parser.epilog = "\n  ".join((_EXAMPLES, *(f"{program} {example}" for example in self.examples)))


class Subcommand(Described):
    """A sub-command of this project: it needs no crawler, and refuses unknown options.

    Scrapy imports all commands at every start, so modules that are slow to import are imported where they are used.
    """

    requires_project = False
    requires_crawler_process = False
    settings: Settings  # Scrapy sets it before it calls anything here

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        refuse_options(args)
        refuse_misspelt_settings(opts)

    @property
    def agent(self) -> str:
        """The agent whose rules in robots.txt and in pages apply to a crawl with these settings."""
        from crawlproject.adapters.running import robots_agent

        return robots_agent(self.settings)

    @property
    def given(self) -> dict[str, Any]:
        """The settings of the command line, such as those of ``-s``."""
        names = [name for name in self.settings if self.settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]]
        return {name: self.settings[name] for name in names if isinstance(self.settings[name], str | int | float)}

    @property
    def search_model(self) -> str:
        """The setting ``SEARCH_MODEL``."""
        return str(self.settings.get("SEARCH_MODEL") or "")


def require_part(part: str) -> None:
    """Raise ``UsageError`` if a part that a command needs is not installed."""
    if not is_there(part):
        raise UsageError(f"the part {part} is not installed", print_help=False)


def refuse_options(args: list[str]) -> None:
    """Raise ``UsageError`` for an option among ``args``: Scrapy passes arguments that its parser does not know to the command.

    After ``--`` there are no options, and the first ``--`` is removed. A single dash may begin a word, as in a query.
    """
    if "--" in args:
        args.remove("--")
        return
    for arg in args:
        if arg.startswith("--"):
            raise UsageError(f"there is no option {arg.partition('=')[0]}", print_help=False)


def refuse_misspelt_settings(opts: argparse.Namespace) -> None:
    """Raise ``UsageError`` for a misspelt name in ``-s NAME=VALUE``, which would otherwise be ignored."""
    given = [pair.partition("=")[0] for pair in opts.set or ()]
    try:
        refuse_misspelt(given, get_project_settings())
    except BadSetting as wrong:
        raise UsageError(str(wrong), print_help=False) from None


@contextmanager
def reporting_errors(command: ScrapyCommand) -> Iterator[None]:
    """A context in which ``BadInput``, ``StorageFailed`` and Ctrl-C become a message on standard error and an exit code.

    So do the failed import of a package of one of our extras, and a file that must not be read.

    Standard output goes through a ``PlainStream``, because titles, anchors and errors come from the web.
    """
    try:
        with redirect_stdout(cast(TextIO, PlainStream(sys.stdout))):
            try:
                yield
            except ModuleNotFoundError as failure:
                raise named(failure, f"{program} {type(command).__name__.removesuffix('Command').lower()}") from failure
    except BadInput as wrong:
        print(visible(f"{program}: {wrong}"), file=sys.stderr)
        command.exitcode = BAD_INPUT
    except StorageFailed as failure:
        print(visible(f"{program}: {failure}"), file=sys.stderr)
        command.exitcode = STOPPED
    except PermissionError as denied:
        print(visible(f"{program}: {denied}"), file=sys.stderr)
        command.exitcode = BAD_INPUT
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        command.exitcode = INTERRUPTED
    except BrokenPipeError:  # `| head` has closed the pipe; output that is flushed at exit must go somewhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        command.exitcode = 1  # the same as in rich, which prints the tables


def cache_dir() -> Path:
    """The folder that keeps indexes of archives between runs (XDG base directory specification)."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "topical-crawler"


def settings_for(command: Subcommand, topic: Topic) -> dict[str, Any]:
    """Our settings as in a live crawl: the topic file overrides the project's settings, the command line overrides both."""
    from crawlproject.adapters.running import apply_topic_settings
    from crawlproject.configuration import OURS

    settings = command.settings.copy()
    apply_topic_settings(settings, topic.settings)
    return {name: value for name, value in settings.copy_to_dict().items() if name.startswith(OURS)}
