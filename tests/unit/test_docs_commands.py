"""The command lines in the documentation parse; all commands, options and requirements are listed."""

from __future__ import annotations

import re
import shlex
import tomllib
from argparse import Namespace
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import dropwhile
from pathlib import Path

import pytest
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings
from support.crawling import ROOT
from support.markdown import PAGES, doc, fences, first_cells, headings, inline_code, page_id, section

from crawlproject import __main__ as topical
from crawlproject.adapters.subcommand import BAD_INPUT, INTERRUPTED, STOPPED
from crawlproject.configuration import read_options, refuse_unknown
from crawlproject.evaluation.importance import IMPORTANCE
from crawlproject.evaluation.question import MEASURES
from crawlproject.orderings.registry import ORDERINGS, parameters_of
from scripts.commands_reference import OURS, options_of, parser_of

WRITTEN_BY_THE_READER = {"topics/mine.toml"}
EXTRA = {"host_memory"}  # the ordering that the manual teaches to write


def is_command(name: str) -> bool:
    return name in OURS or find_spec(f"scrapy.commands.{name}") is not None


def command_lines(text: str, program: str = "scrapy") -> Iterator[list[str]]:
    """The arguments of each call of ``program`` in shell blocks and unit files, without environment variables."""
    for block in fences(text, "sh", "ini"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("ExecStart="), comments=True)
            call = list(dropwhile(lambda word: re.match(r"[A-Za-z_]+=", word), words))
            if call and Path(call[0]).name == program:
                yield call[1:]


SHOWN = [(page_id(page), call) for page in PAGES for call in command_lines(page.read_text())]


def test_the_manual_shows_every_command_of_ours() -> None:
    assert {call[0] for _, call in SHOWN} >= set(OURS)


@pytest.mark.parametrize(("page", "call"), SHOWN, ids=[f"{page} {' '.join(call)[:50]}" for page, call in SHOWN])
def test_command_lines_parse(page: str, call: list[str]) -> None:
    options, rest = parser_of(call[0]).parse_known_args(call[1:])
    assert [word for word in rest if word.startswith("-") and word != "-"] == []
    _check_settings(options)
    if call[0] == "crawl":
        _check_spider(options, rest)
    assert set(getattr(options, "ordering", None) or []) <= {*ORDERINGS, *EXTRA}
    topics = {word for word in [*rest, *_values(options, "spargs").values()] if word.startswith("topics/")}
    assert [topic for topic in topics - WRITTEN_BY_THE_READER if not (ROOT / topic).is_file()] == []


TOPICAL = [(page_id(page), call) for page in PAGES for call in command_lines(page.read_text(), "topical")]


@pytest.mark.parametrize(("page", "call"), TOPICAL, ids=[f"{page} {' '.join(call)[:50]}" for page, call in TOPICAL])
def test_command_lines_of_topical_parse(page: str, call: list[str]) -> None:
    name, *arguments = call
    parser = topical.parser_of(name, topical.make_command(name), get_project_settings())
    options, rest = parser.parse_known_args(arguments)
    assert [word for word in rest if word.startswith("-") and word != "-"] == []
    _check_settings(options)


@pytest.mark.parametrize("name", topical.command_names())
def test_the_help_of_a_command_ends_with_examples_that_parse(name: str) -> None:
    parser = topical.parser_of(name, topical.make_command(name), get_project_settings())
    examples = parser.format_help().partition("Examples\n========\n")[2].splitlines()
    assert examples
    for example in examples:
        _, called, *arguments = shlex.split(example)
        options, rest = parser.parse_known_args(arguments)
        assert called == name and [word for word in rest if word.startswith("-") and word != "-"] == []
        _check_settings(options)


def _values(options: Namespace, name: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in getattr(options, name, None) or [])


def _check_settings(options: Namespace) -> None:
    """Assert that each setting exists, and that ours have valid values."""
    chosen = _values(options, "set")
    refuse_unknown(chosen)
    read_options(chosen)
    known = {f"ORDERING_{parameter.upper()}" for cls in ORDERINGS.values() for parameter in parameters_of(cls)}
    settings = Settings()
    settings.setmodule("crawlproject.settings")
    assert [name for name in chosen if name not in settings and name not in known] == []


def _check_spider(options: Namespace, rest: list[str]) -> None:
    assert rest == ["topical"]
    spider = _values(options, "spargs")
    assert set(spider) <= {"topic", "topics", "ordering", "judge"} and len({"topic", "topics"} & set(spider)) == 1
    assert spider.get("ordering", "dom") in ORDERINGS


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_in_the_prose_exist(page: Path) -> None:
    called = [code.split()[1] for code in inline_code(page.read_text()) if code.startswith("scrapy ")]
    assert [name for name in called if not is_command(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_settings_in_the_prose_exist(page: Path) -> None:
    """Every name that looks like our setting is one, or a prefix, or a parameter of an ordering."""
    text = "\n".join([*inline_code(page.read_text()), *fences(page.read_text(), "sh", "toml")])
    named = set(re.findall(r"\b(?:FRONTIER|ORDERING|PAGE|POLITENESS|TRAP|CRAWL|VIRTUAL)_[A-Z_]*[A-Z]\b", text))
    parameters = {f"ORDERING_{name.upper()}" for cls in ORDERINGS.values() for name in parameters_of(cls)}
    refuse_unknown(dict.fromkeys(named))
    known = {"ORDERING_AGGREGATION_LEVEL", "ORDERING_ARCHIVE", "ORDERING_TOLL", *parameters}  # TOLL: from an example
    assert [name for name in named if name.startswith("ORDERING_") and name not in known] == []


# ---------------------------------------------------------------- docs/commands.md


@pytest.mark.parametrize("name", OURS)
def test_every_command_has_a_section_with_every_option(name: str) -> None:
    cells = "\n".join(first_cells(section(doc("commands.md"), f"scrapy {name}")))
    names = {string for option in options_of(name) for string in option.option_strings}
    assert set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", cells)) == names


def test_no_section_is_about_a_command_that_does_not_exist() -> None:
    shown = [heading.split()[1] for heading in headings(doc("commands.md")) if heading.startswith("scrapy ")]
    assert sorted(shown) == sorted(OURS)


def test_every_measure_and_every_importance_has_a_row() -> None:
    _, *tables = re.split(
        r"^\| (?:measure|importance) \|", section(doc("commands.md"), "scrapy compare"), flags=re.MULTILINE
    )
    measures, importance = (re.findall(r"^\| (.+?) \|", table, re.MULTILINE) for table in tables)
    assert {name for cell in measures for name in re.findall(r"`(\w+)`", cell)} == {*MEASURES}
    assert {name for cell in importance for name in re.findall(r"`(\w+)`", cell)} == {*IMPORTANCE}


def test_exit_codes() -> None:
    assert first_cells(section(doc("commands.md"), "Exit codes")) == [
        "0",
        "1",
        *map(str, (BAD_INPUT, STOPPED, INTERRUPTED)),
    ]


# ---------------------------------------------------------------- docs/dependencies.md


def test_every_requirement_has_its_line_and_the_other_way_round() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = declared["project"]["optional-dependencies"]
    optional = [line for extra, lines in extras.items() if extra != "all" for line in lines]
    for title, lines in (
        ("Default install", declared["project"]["dependencies"]),
        ("Extras", optional),
        ("For the tests", declared["dependency-groups"]["dev"]),
    ):
        required = [re.split(r"[<>=]", line)[0] for line in lines]
        assert sorted(first_cells(section(doc("dependencies.md"), title))) == sorted(required), title
