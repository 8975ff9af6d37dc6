"""Parses a topic file (TOML) into a ``Topic``, or raises one message that says what to change.

keywords = ["climate data", "netCDF"]        # a list, or one string with commas
seeds = ["https://projectpythia.org/"]       # where the crawl starts
name = "climate"                             # default: the file's name without ``.toml``
language = "en"                              # a language that spaCy has stop words for
description = "Working with gridded data."   # for evaluation, and for orderings that ask for it
targets = ["https://xarray.dev/"]            # for evaluation only
weight = 2.0                                 # in a crawl of several topics: weight of this one, default 1
pages = 500                                  # in a crawl of several topics: relevant pages wanted; default 0: no limit
[examples]
positive = ["https://docs.xarray.dev/"]      # URLs, files, folders; a relative path starts at the topic file
negative = ["off-topic.html"]
[crawl]
ORDERING = "dom"                             # settings of this project, for this topic
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from crawlproject.errors import BadTopic
from crawlproject.records import Topic
from crawlproject.topic.fields import (
    TopicLines,
    WrongSettings,
    as_number,
    checked_example,
    checked_keywords,
    checked_language,
    checked_name,
    checked_pages,
    checked_seeds,
    checked_settings,
    checked_url,
    checked_weight,
    example_files,
    read_toml,
    split_keywords,
    unknown_field,
)

_MOST_WISHES = 5

Url = Annotated[str, AfterValidator(checked_url)]
Example = Annotated[str, AfterValidator(checked_example)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Examples(_Table):
    """``[examples]``: pages on the topic and off it."""

    positive: list[Example] = []
    negative: list[Example] = []


class TopicFile(_Table):
    """The fields of a topic file, each with its check."""

    keywords: Annotated[list[str], BeforeValidator(split_keywords), AfterValidator(checked_keywords)]
    seeds: Annotated[list[Url], AfterValidator(checked_seeds)]
    name: Annotated[str, AfterValidator(checked_name)]
    language: Annotated[str, AfterValidator(checked_language)] = "en"
    description: str = ""
    targets: list[Url] = []
    weight: Annotated[float, BeforeValidator(as_number), AfterValidator(checked_weight)] = 1.0
    pages: Annotated[int, AfterValidator(checked_pages)] = 0
    examples: Examples = Field(default_factory=Examples)
    crawl: Annotated[dict[str, object], AfterValidator(checked_settings)] = {}


def load_topic(path: str | Path) -> Topic:
    """Read a topic file. Raises BadTopic, which names the file, the field and what is expected."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTopic(str(path), f"must be UTF-8 text; byte {error.start} is not") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise BadTopic(str(path), f"cannot be read: {reason}") from None
    return parse_topic(text, str(path), folder=path.parent)


def parse_topic(text: str, place: str, folder: Path | None = None, *, named: bool = True) -> Topic:
    """Read the text of a topic file. Raises BadTopic.

    ``place`` names the text in messages and, if ``named``, the topic when the text has no name. Paths of example files are
    relative to ``folder``; without a folder they are not resolved.
    """
    given = {"name": Path(place).name.removesuffix(".toml")} if named else {}
    try:
        fields, faults = read_toml(text, _MOST_WISHES)
    except RecursionError:
        raise BadTopic(place, "not TOML of a topic (lists or tables nested too deep)") from None
    errors: list[ErrorDetails] = []
    try:
        file = TopicFile.model_validate({**given, **fields}, context=folder)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    if faults:  # a field that seems to be missing may be on a faulty line
        errors = [error for error in errors if error["type"] != "missing"]
    if faults or errors:
        raise BadTopic(place, _wishes(faults, errors, TopicLines(text)))
    return _topic_of(file)


def checked_topic(topic: Topic) -> Topic:
    """Check a topic made by a program like a topic file, except for its settings and members. Raises BadTopic.

    Fields may be lists or tuples, and keywords may be one string with commas, as in a topic file.
    """
    fields = {
        name: _as_list(getattr(topic, name)) for name in TopicFile.model_fields if name not in ("examples", "crawl")
    }
    examples = {name: _as_list(getattr(topic, name)) for name in Examples.model_fields}
    try:
        file = TopicFile.model_validate({**fields, "examples": examples})
    except ValidationError as error:
        raise BadTopic(f"Topic {topic.name!r}", _wishes([], error.errors(include_url=False), TopicLines(""))) from None
    return replace(_topic_of(file), settings=topic.settings, members=topic.members)


def _topic_of(file: TopicFile) -> Topic:
    return Topic(
        name=file.name,
        keywords=tuple(file.keywords),
        seeds=_distinct(file.seeds),
        language=file.language,
        description=file.description,
        targets=_distinct(file.targets),
        positive=_distinct(chain.from_iterable(map(example_files, file.examples.positive))),
        negative=_distinct(chain.from_iterable(map(example_files, file.examples.negative))),
        settings=file.crawl,
        weight=file.weight,
        pages=file.pages,
    )


def _as_list(value: object) -> object:
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _wishes(faults: list[str], errors: list[ErrorDetails], lines: TopicLines) -> str:
    """All errors on one line, each with its place in the file; only the first few if there are many."""
    wishes = [*faults, *chain.from_iterable(_placed(error, lines) for error in errors)]
    if len(wishes) > _MOST_WISHES:
        wishes[_MOST_WISHES:] = [f"and {len(wishes) - _MOST_WISHES} more"]
    return "; ".join(wishes)


def _placed(error: ErrorDetails, lines: TopicLines) -> Iterator[str]:
    """``line 3, seeds[1]: what is wrong``. One error from pydantic may cover several settings."""
    location, cause = error["loc"], error.get("ctx", {}).get("error")
    if isinstance(cause, WrongSettings):
        for name, wish in cause.wishes.items():
            yield f"{_line(lines.of((*location, name), None))}{_field(location)}: {wish}"
    else:
        line = None if error["type"] == "missing" else lines.of(location, error["input"])
        yield f"{_line(line)}{_field(location)}: {_wish(error)}"


def _line(number: int | None) -> str:
    return f"line {number}, " if number else ""


def _field(location: tuple[int | str, ...]) -> str:
    """Format a location: ``("examples", "positive", 0)`` becomes ``examples.positive[0]``."""
    return re.sub(r"\.(\d+)(?=\.|\Z)", r"[\1]", ".".join(map(str, location)))


_TYPE_WISHES = {
    "string_type": 'must be text in quotes, such as "solar power"',
    "float_type": "must be a number, such as 2.0",
    "int_type": "must be a whole number, such as 500",
    "list_type": 'must be a list of texts, such as ["first", "second"]',
    "dict_type": "must be a table of settings, such as [crawl] with lines below it",
    "model_type": "must be a table, such as [examples] with the lines positive and negative below it",
}


_REQUIRED: dict[int | str, str] = {
    "keywords": 'keywords = ["solar power", "photovoltaics"]',
    "seeds": 'seeds = ["https://example.org/"]',
    "name": 'name = "solar"',
}


def _wish(error: ErrorDetails) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] == "missing":
        return f"is missing; add a line such as {_REQUIRED[error['loc'][0]]}"
    if error["type"] == "extra_forbidden":
        table = Examples if error["loc"][0] == "examples" and len(error["loc"]) > 1 else TopicFile
        return unknown_field(str(error["loc"][-1]), table.model_fields)
    return _TYPE_WISHES.get(error["type"], error["msg"])
