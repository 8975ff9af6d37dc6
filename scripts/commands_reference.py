"""Writes the tables of options in ``docs/commands.md`` from the parsers of the commands: ``make reference``."""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from crawlproject import commands

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
OURS = [module.name for module in iter_modules(commands.__path__)]
_TABLE = re.compile(r"\| option \| meaning \|\n\| --- \| --- \|\n(?:\|.*\n)*")
_CODE = re.compile(
    r"(?<![\w/-])(--[a-z][\w-]*|[A-Z]+_[A-Z_]+|[\w./]*<[^ ]+>[\w./]*|[\w.]+\.(?:html|jsonl?|png|svg|toml)\b)"
)


def written(page: str) -> str:
    """The page with the tables filled in, one in the section of each command that has specific options."""
    first, *sections = re.split(r"(?=^## )", page, flags=re.MULTILINE)
    return first + "".join(map(_section, sections))


def parser_of(name: str) -> ArgumentParser:
    """The parser of a sub-command of ours or of Scrapy's."""
    settings = Settings()
    settings.setmodule("crawlproject.settings")
    module = import_module(f"{'crawlproject' if name in OURS else 'scrapy'}.commands.{name}")
    classes = [
        value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__
    ]
    (command,) = [cls() for cls in classes if issubclass(cls, ScrapyCommand)]
    command.settings = settings
    parser = ArgumentParser(prog=f"scrapy {name}", conflict_handler="resolve")
    command.add_options(parser)
    return parser


def options_of(name: str) -> list[Action]:
    """The options of a command, without those common to all commands."""
    every = parser_of("list")._option_string_actions
    return [
        action
        for action in parser_of(name)._actions
        if action.option_strings and not every.keys() & set(action.option_strings)
    ]


def _section(section: str) -> str:
    name = re.match(r"## scrapy (\w+)\n", section)
    if not name or not (options := options_of(name[1])):
        return section
    table = "| option | meaning |\n| --- | --- |\n" + "".join(f"{row}\n" for row in _rows(options))
    body, found = _TABLE.subn(lambda _: table, section)
    return body if found else f"{section.rstrip()}\n\n{table}\n"


def _choices(option: Action) -> str:
    """The permitted values, if they are few; else a name."""
    few = [*map(str, option.choices or ())]
    return f"{{{','.join(few)}}}" if 0 < len(few) < 4 else option.dest.upper()


def _rows(options: list[Action]) -> Iterator[str]:
    for option in options:
        value = "" if option.nargs == 0 else str(option.metavar or _choices(option))
        values = f"{value} [{value} ...]" if option.nargs == "+" else value
        names = ", ".join(f"`{' '.join(filter(None, (name, values)))}`" for name in option.option_strings)
        meaning = _CODE.sub(r"`\1`", " ".join((option.help or "").split()))
        yield f"| {names} | {meaning} |"
