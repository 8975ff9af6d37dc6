"""Finds the topic of a crawl: a file, the name of a topic of the project, TOML text, or all files of a folder.

A crawl that is scheduled on another machine cannot name a local file, so the argument may be the topic itself. The topics of
a folder, ``DIR/*.toml``, are crawled together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path

from crawlproject.configuration import installed
from crawlproject.errors import BadTopic
from crawlproject.records import Topic
from crawlproject.topic.fields import checked_name
from crawlproject.topic.parse import load_topic, parse_topic

PACKAGE = "crawlproject.topics" if installed else "topics"

_SUFFIX = ".toml"
_PLACE = "topic, as text"


def topic_files(folder: Path) -> list[Path]:
    """The topic files in a folder, in alphabetical order. Raises ``BadTopic`` if the folder cannot be read."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == ".toml" and not path.name.startswith("."))
    except OSError as error:
        raise BadTopic(str(folder), f"expected a folder of topic files: {error.strerror}") from None
    return [path for path in found if path.is_file()]


def load_topics(folder: str | Path) -> Topic:
    """All topics of a folder as the ``members`` of one topic, which is named after the folder.

    Raises ``BadTopic``, which names the file, the field and what is expected, for a wrong file and for topics that cannot be
    crawled together.
    """
    folder = Path(folder)
    files = topic_files(folder)
    if not files:
        raise BadTopic(str(folder), "expected topic files in it, such as climate.toml")
    named = {file: load_topic(file) for file in files}
    refuse_conflicts({str(file): topic for file, topic in named.items()})
    try:
        name = checked_name(folder.resolve().name)
    except ValueError as wrong:
        raise BadTopic(str(folder), str(wrong)) from None
    return together(name, tuple(named.values()))


def together(name: str, members: tuple[Topic, ...]) -> Topic:
    """One topic for a crawl of all ``members``: the union of their keywords, seeds, targets and settings."""
    first = members[0]
    settings = {key: value for topic in members for key, value in topic.settings.items()}
    return Topic(
        name=name,
        keywords=_of_all(topic.keywords for topic in members),
        seeds=_of_all(topic.seeds for topic in members),
        language=first.language,
        targets=_of_all(topic.targets for topic in members),
        settings=settings,
        members=tuple(replace(topic, settings={}) for topic in members),
    )


def refuse_conflicts(topics: dict[str, Topic]) -> None:
    """Raise ``BadTopic`` if topics cannot be crawled together. The keys say where each topic was read."""
    for place, wish in _conflicts(topics):
        raise BadTopic(place, wish)


def _conflicts(topics: dict[str, Topic]) -> Iterator[tuple[str, str]]:
    """Topics of a crawl share its language and settings. Their names must differ, as each names a folder of the crawl."""
    names: dict[str, str] = {}
    settings: dict[str, tuple[str, object]] = {}
    language: tuple[str, str] | None = None
    for place, topic in topics.items():
        if topic.name in names:
            yield place, f"name: {topic.name!r} is the name of the topic in {names[topic.name]}, too; give it another"
        names[topic.name] = place
        if language and language[0] != topic.language:
            yield (
                place,
                f"language: {topic.language!r}, but {language[1]} has {language[0]!r}; one crawl reads pages in one language",
            )
        language = language or (topic.language, place)
        for key, value in topic.settings.items():
            there = settings.setdefault(key, (place, value))
            if there[1] != value:
                wish = f"{value!r}, but {there[0]} has {there[1]!r}; the topics of a crawl share its settings: write the same"
                yield place, f"crawl.{key}: {wish}, or leave it out of all and give it with -s"


def _of_all(values: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(values)))


def find_topic(asked: str) -> Topic:
    """The topic that ``asked`` names or contains. Raises ``BadTopic``, which names the input and what is expected.

    Text with a line break is TOML, and so is text with a ``=`` that is not the name of a file or topic; it must contain a
    ``name``, which names the crawl folder. A folder of topic files is one topic, with these as its members. Paths of example
    files are relative to the topic file, or for TOML text to the current folder. A file takes precedence over a topic of the
    project.
    """
    if "\n" in asked:
        return _read_text(asked)
    path = Path(asked)
    if _is_there(path) and path.is_file():
        return load_topic(path)
    if _is_there(path) and path.is_dir() and topic_files(path):
        return load_topics(path)
    named = _topics().get(asked)
    if named is not None:
        return _read_named(asked, named)
    if "=" in asked:
        return _read_text(asked)
    if path.suffix == _SUFFIX or len(path.parts) > 1 or _is_there(path):
        return load_topic(path)  # raises the error of the file
    raise BadTopic(f"topic {asked!r}", _wish(asked))


def find_topic_file(asked: str) -> Path:
    """The file of a topic: the path ``asked``, or the file of the project's topic with this name. Raises ``BadTopic``."""
    path = Path(asked)
    if _is_there(path) or path.suffix == _SUFFIX or len(path.parts) > 1:
        return path
    named = _topics().get(asked)
    if isinstance(named, Path):
        return named
    raise BadTopic(f"topic {asked!r}", _wish(asked))


def topic_names() -> list[str]:
    return sorted(_topics())


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # text too long for a file name
        return False


def _topics() -> dict[str, Traversable]:
    try:
        entries = list(resources.files(PACKAGE).iterdir())
    except (ModuleNotFoundError, FileNotFoundError):
        return {}
    return {entry.name.removesuffix(_SUFFIX): entry for entry in entries if entry.name.endswith(_SUFFIX)}


def _read_named(name: str, entry: Traversable) -> Topic:
    if isinstance(entry, Path):
        return load_topic(entry)
    try:
        text = entry.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTopic(f"topic {name!r}", f"must be UTF-8 text; byte {error.start} is not") from None
    return parse_topic(text, f"{name}{_SUFFIX}")


def _read_text(text: str) -> Topic:
    return parse_topic(text.removeprefix("\ufeff"), _PLACE, folder=Path(), named=False)


def _wish(asked: str) -> str:
    names = topic_names()
    near = get_close_matches(asked, names, 1)
    listed = ", ".join(names) or "none"
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"expected a topic file, TOML text, or a topic of the project ({listed}){meant}"
