"""Checks the fields of a topic file; each check raises ValueError, which says what is expected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from pydantic import ValidationInfo

from crawlproject.options import Options, setting_wish
from crawlproject.pages.text.languages import languages
from crawlproject.urls.canonical import canonical_url, with_scheme

SETTING_PREFIXES = ("FRONTIER_", "ORDERING_", "TOPIC_", "PAGE_", "POLITENESS_", "TRAP_", "CRAWL_")
_SETTING = re.compile(rf"ORDERING|(?:{'|'.join(SETTING_PREFIXES)})[A-Z0-9_]+")
_URL = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
_EXAMPLES = frozenset((".htm", ".html", ".txt", ".xhtml"))  # files of a folder that are read as pages
_NO_FILE_NAME = re.compile(r"[/\\\x00-\x1f\x7f]")


class WrongSettings(ValueError):
    """Settings that a topic file cannot have, with what is expected of each: ``wishes``."""

    def __init__(self, wishes: Mapping[str, str]) -> None:
        super().__init__("; ".join(wishes.values()))
        self.wishes = wishes


def split_keywords(value: object) -> object:
    """A single string is a list separated by commas."""
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
    """The canonical URL; without a scheme ``https``. Raises InvalidUrl, a ValueError, with the reason."""
    return canonical_url(with_scheme(url))


def checked_seeds(seeds: list[str]) -> list[str]:
    """At least one."""
    if not seeds:
        raise ValueError("name at least one URL to start from")
    return seeds


def checked_example(example: str, info: ValidationInfo) -> str:
    """A canonical URL, or the path of a file or folder that exists, looked for in the folder of the topic file."""
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
    """A folder's files of pages, at any depth, in alphabetical order; any other example alone."""
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
    """The code of a language that spaCy has."""
    if language not in languages():
        nearest = _nearest(language, languages()) or "en"
        raise ValueError(f"{language!r} is not the code of a language that spaCy knows, such as {nearest!r}")
    return language


def as_number(value: object) -> object:
    """A whole number is a number, too; true and false are none."""
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
    """Only settings of this project, with values that they can have. The error names all wrong settings."""
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
    return setting_wish(name, value) or None


def unknown_field(name: str, known: Mapping[str, object]) -> str:
    """The message for an unknown field."""
    setting = next((each for each in sorted(Options.model_fields) if each.endswith(f"_{name.lower()}")), "")
    if setting and "crawl" in known:
        return f"no such field; did you mean {setting.upper()} in [crawl]?"
    nearest = _nearest(name, frozenset(known))
    return f"no such field; did you mean {nearest}?" if nearest else f"no such field; there are {', '.join(known)}"


def _nearest(name: str, known: frozenset[str]) -> str | None:
    return next(iter(get_close_matches(name.lower(), sorted(known), n=1, cutoff=0.5)), None)
