"""Checks the fields of a topic file, and finds their lines.

Each check raises ValueError, which says what is expected. ``read_toml`` reports several faults of a text that is not TOML.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from pydantic import ValidationInfo

from crawlproject.configuration import is_code, setting_names, setting_wish, starter_settings
from crawlproject.pages.text.languages import languages
from crawlproject.urls.canonical import canonical_url, with_scheme

SETTING_PREFIXES = ("FRONTIER_", "ORDERING_", "TOPIC_", "PAGE_", "POLITENESS_", "TRAP_", "CRAWL_")

_SETTING = re.compile(rf"ORDERING|(?:{'|'.join(SETTING_PREFIXES)})[A-Z0-9_]+")
_URL = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
_EXAMPLES = frozenset((".htm", ".html", ".txt", ".xhtml"))  # suffixes of the files in a folder that are read as pages
_NO_FILE_NAME = re.compile(r"[/\\\x00-\x1f\x7f]")
_NAME = r"""[\w-]+|"[^"]*"|'[^']*'"""
_NAMES = rf"\s*(?:{_NAME})(?:\s*\.\s*(?:{_NAME}))*\s*"  # separated by dots
_HEADER = re.compile(rf"\s*\[\[?({_NAMES})\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"({_NAMES})=")


class WrongSettings(ValueError):
    """Settings that a topic file cannot have. ``wishes`` says what is expected of each."""

    def __init__(self, wishes: Mapping[str, str]) -> None:
        super().__init__("; ".join(wishes.values()))
        self.wishes = wishes


def split_keywords(value: object) -> object:
    """Split a single string at its commas; return any other value unchanged."""
    return value.split(",") if isinstance(value, str) else value


def checked_keywords(keywords: list[str]) -> list[str]:
    """Fold white space and drop empty and repeated keywords; at least one must contain a letter or a digit."""
    kept: dict[str, str] = {}
    for keyword in keywords:
        if any(map(str.isalnum, keyword)):
            kept.setdefault(" ".join(keyword.split()).casefold(), " ".join(keyword.split()))
    if not kept:
        raise ValueError('name at least one word, such as keywords = ["solar power", "photovoltaics"]')
    return list(kept.values())


def checked_url(url: str) -> str:
    """The canonical URL; a missing scheme becomes ``https``. Raises InvalidUrl, a ValueError, with the reason."""
    return canonical_url(with_scheme(url))


def checked_seeds(seeds: list[str]) -> list[str]:
    """At least one."""
    if not seeds:
        raise ValueError("name at least one URL to start from")
    return seeds


def checked_example(example: str, info: ValidationInfo) -> str:
    """A canonical URL, or the path of an existing file or folder, relative to the folder of the topic file."""
    if _URL.match(example):
        return canonical_url(example)
    folder: Path | None = info.context
    if folder is None:
        return example
    path = folder / example
    if "\0" in example or not path.exists():
        raise ValueError(f"{example!r} is neither a URL nor a file or folder in {folder}")
    if path.is_dir() and not example_files(str(path)):
        raise ValueError(f"{example!r} is a folder without files of {', '.join(sorted(_EXAMPLES))}")
    return str(path)


def example_files(example: str) -> list[str]:
    """The page files of a folder, at any depth, in alphabetical order; any other example as the only entry."""
    path = Path(example)
    if _URL.match(example) or not path.is_dir():
        return [example]
    return sorted(str(file) for file in path.rglob("*") if file.suffix.lower() in _EXAMPLES and file.is_file())


def checked_name(name: str) -> str:
    """A name that is also valid as the name of a folder."""
    if not name.strip() or name.startswith(".") or len(name) > 100 or _NO_FILE_NAME.search(name):
        raise ValueError(
            f"{name!r} must be valid as the name of a folder: up to 100 characters, no slash, no leading dot"
        )
    return name


def checked_language(language: str) -> str:
    """The code of a language that spaCy supports."""
    if language not in languages():
        nearest = _nearest(language, languages()) or "en"
        raise ValueError(f"{language!r} is not the code of a language that spaCy knows, such as {nearest!r}")
    return language


def as_number(value: object) -> object:
    """Convert an integer to a float, but not true or false."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def checked_weight(weight: float) -> float:
    """Above 0, and finite."""
    if not 0 < weight < float("inf"):
        raise ValueError(f"{weight!r} must be a number above 0, such as 2.0")
    return weight


def checked_pages(pages: int) -> int:
    """0 or more."""
    if pages < 0:
        raise ValueError(f"{pages!r} must be a number of pages, or 0 for no limit")
    return pages


def checked_settings(settings: dict[str, object]) -> dict[str, object]:
    """Only settings of this project, with valid values. The error names all wrong settings."""
    wrong = {name: wish for name, value in settings.items() if (wish := _setting_wish(name, value))}
    if wrong:
        raise WrongSettings(wrong)
    return settings


def _setting_wish(name: str, value: object) -> str | None:
    if not _SETTING.fullmatch(name):
        if _SETTING.fullmatch(name.upper()):
            return f"{name} must be in capitals: {name.upper()}"
        return f"{name} cannot be set for a topic; it must be ORDERING or start with {', '.join(SETTING_PREFIXES)}"
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str | int | float) for each in values):
        return f"{name} must be text, a number, true or false, or a list of these"
    if why := starter_settings().get(name):
        return f"{name}: a topic file must not set it: {why}; use -s or the project's settings"
    if name == "TOPIC_RELEVANCE" and is_code(str(value)):
        return f"{name} must be the name of a judge: module:Class is code, which is named by -a judge={value}"
    return setting_wish(name, value) or None


def unknown_field(name: str, known: Mapping[str, object]) -> str:
    setting = next((each for each in sorted(setting_names()) if each.endswith(f"_{name.upper()}")), "")
    if setting and "crawl" in known:
        return f"no such field; did you mean {setting} in [crawl]?"
    nearest = _nearest(name, frozenset(known))
    return f"no such field; did you mean {nearest}?" if nearest else f"no such field; there are {', '.join(known)}"


def _nearest(name: str, known: frozenset[str]) -> str | None:
    return next(iter(get_close_matches(name.lower(), sorted(known), n=1, cutoff=0.5)), None)


class TopicLines:
    """Line numbers of the fields of a topic file, from 1. Multi-line strings may hide a key, which then has no line."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._keys: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        for number, line in enumerate(self._lines, start=1):
            if header := _HEADER.match(line):
                table = _names_in(header[1])
                self._note((), table, number)
            elif key := _KEY.match(line):
                self._note(table, _names_in(key[1]), number)

    def of(self, location: tuple[int | str, ...], value: object) -> int | None:
        """The line of ``value`` at ``location``, such as ``("seeds", 1)``; the line of its key if ``value`` is not found.

        Keys inside an inline table have the line of the table.
        """
        names = tuple(str(part) for part in location if isinstance(part, str))
        start = next((line for end in range(len(names), 0, -1) if (line := self._keys.get(names[:end]))), None)
        if start is None:
            return None
        if names != location and isinstance(value, str) and value:
            behind = enumerate(self._lines[start - 1 :], start=start)
            return next((number for number, line in behind if value in line), start)
        return start

    def _note(self, above: tuple[str, ...], names: tuple[str, ...], number: int) -> None:
        """Record the line of a key or a header, and of the tables that it creates implicitly."""
        for end in range(1, len(names) + 1):
            self._keys.setdefault((*above, *names[:end]), number)


def _names_in(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))


def read_toml(text: str, most: int) -> tuple[dict[str, object], list[str]]:
    """The fields of a text, and up to ``most`` faults that keep it from being TOML: ``line 3, column 5: why``.

    A TOML parser stops at the first fault. If the faulty line is a whole ``key = value``, it is blanked and parsing starts
    again; otherwise no fields are returned. Raises ``RecursionError``.
    """
    lines, faults = text.split("\n"), list[str]()
    while len(faults) < most:
        try:
            return tomllib.loads("\n".join(lines)), faults
        except tomllib.TOMLDecodeError as error:
            what, _, where = str(error).rpartition(" (at ")
            where = where.rstrip(")").replace("end of document", f"line {text.rstrip().count(chr(10)) + 1}")
            faults.append(f"{where}: not TOML ({what})")
            found = re.match(r"line (\d+)(?:, column (\d+))?", where)
            number = int(found[1]) - 1 if found else -1
            if not 0 <= number < len(lines) or not _is_statement(lines[number]):
                break
            if found and found[2] and not lines[number][: int(found[2]) - 1].strip():
                break  # the line is as it should be: something above it is still open
            lines[number] = ""
    return {}, faults


def _is_statement(line: str) -> bool:
    """Whether a faulty line is probably a complete statement, so that the lines after it can be parsed without it."""
    key = _KEY.match(line)
    if key is None:
        return False
    value = line[key.end() :]
    return value.count("[") <= value.count("]") and '"""' not in value and "'''" not in value
