"""Finds the topic of a crawl: a file, the name of a topic of the project, or TOML text.

A crawl that is scheduled on another machine cannot name a local file, so the argument may be the topic itself.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from crawlproject.errors import BadTopic
from crawlproject.records import Topic
from crawlproject.settings import installed
from crawlproject.topic.folder import load_topics, topic_files
from crawlproject.topic.parse import load_topic, parse_topic

PACKAGE = "crawlproject.topics" if installed else "topics"
_SUFFIX = ".toml"
_PLACE = "topic, as text"


def find_topic(asked: str) -> Topic:
    """The topic that ``asked`` names or contains. Raises ``BadTopic``, which names the input and what is expected.

    Text with a line break is TOML, and so is text with a ``=`` that is not the name of a file; it must give the topic a
    ``name``, which names the crawl folder. A folder of topic files is one topic, with those as its members. Paths of example
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


def topic_names() -> list[str]:
    """The names of the bundled topics."""
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
