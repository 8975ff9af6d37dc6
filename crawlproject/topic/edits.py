"""Writes examples and seeds into the text of a topic file, and leaves everything else, including comments, unchanged."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

from crawlproject.errors import BadTopic

_HEADER = re.compile(r"^[ \t]*\[[ \t]*examples[ \t]*\][ \t]*(?:#[^\r\n]*)?(?=\r?$)", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_SEEDS = re.compile(r"""^[ \t]*(?:seeds|"seeds"|'seeds')[ \t]*=[ \t]*\[""", re.MULTILINE)
# Brackets in these do not count: the four kinds of TOML strings, and comments.
_OPAQUE = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)
_INDENT = "  "


def with_examples(text: str, place: str, wanted: Mapping[str, tuple[str, bool]]) -> str:
    """``text`` with, or without, an entry in the lists ``positive`` and ``negative``: ``{"positive": (entry, True)}``.

    Raises ``BadTopic`` when the result would not mean that.
    """
    new, meant = text, tomllib.loads(text)
    for key, (entry, is_wanted) in wanted.items():
        listed = meant.get("examples", {}).get(key, [])
        if is_wanted and entry not in listed:
            new = _added(new, key, json.dumps(entry, ensure_ascii=False))
        elif not is_wanted and entry in listed:
            new = re.sub(rf"{re.escape(json.dumps(entry, ensure_ascii=False))}[ \t]*,?[ \t]*", "", new, count=1)
    _check_examples(text, new, place, wanted)
    return new


def _added(text: str, key: str, entry: str) -> str:
    """``entry`` at the beginning of the list ``key``; list and table are made when they are not there."""
    header = _HEADER.search(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    if header is None:
        return f"{text.rstrip()}{newline}{newline}[examples]{newline}{key} = [{entry}]{newline}"
    following = _TABLE.search(text, header.end())
    end = following.start() if following else len(text)
    found = re.compile(rf"^[ \t]*{key}[ \t]*=[ \t]*\[", re.MULTILINE).search(text, header.end(), end)
    if found is None:
        return f"{text[: header.end()]}{newline}{key} = [{entry}]{text[header.end() :]}"
    return f"{text[: found.end()]}{entry}, {text[found.end() :]}"


def _check_examples(before: str, after: str, place: str, wanted: Mapping[str, tuple[str, bool]]) -> None:
    """Check that the new text has the same meaning, but for the entries."""
    meant, tables = tomllib.loads(before), dict[str, list[str]]()
    for key, (entry, is_wanted) in wanted.items():
        others = [one for one in meant.get("examples", {}).get(key, []) if one != entry]
        tables[key] = sorted([*others, *([entry] if is_wanted else [])])
    try:
        said = tomllib.loads(after)
        same = {key: value for key, value in said.items() if key != "examples"} == {
            key: value for key, value in meant.items() if key != "examples"
        } and all(sorted(said.get("examples", {}).get(key, [])) == entries for key, entries in tables.items())
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        listed = "; ".join(
            f"{key} {'with' if is_wanted else 'without'} {entry}" for key, (entry, is_wanted) in wanted.items()
        )
        raise BadTopic(place, f"examples: the lists cannot be edited; write by hand: {listed}")


def with_seeds(text: str, place: str, seeds: Sequence[str], comment: str) -> str:
    """``text`` with ``seeds`` at the end of its list of seeds, below a comment of one line.

    Raises ``BadTopic`` when the list cannot be found or the result would not mean the same.
    """
    start, end = _list_of_seeds(text, place)
    items = text[start:end]
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{_INDENT}# {comment}", *(f"{_INDENT}{_quoted(seed)}," for seed in seeds)]
    new = text[:start] + _closed(items) + newline + newline.join(lines) + newline + text[end:]
    _check_seeds(text, new, seeds, place)
    return new


def _list_of_seeds(text: str, place: str) -> tuple[int, int]:
    """The offsets behind the opening bracket and at the closing bracket of the list."""
    found = _SEEDS.search(text)
    if found is not None:
        position = found.end()
        while (bracket := text.find("]", position)) >= 0:
            opaque = next((o for o in _OPAQUE.finditer(text, position) if o.start() < bracket < o.end()), None)
            if opaque is None:
                return found.end(), bracket
            position = opaque.end()
    raise BadTopic(
        place, 'seeds: the list cannot be found; expected seeds = ["https://example.org/"] before any [table]'
    )


def _closed(items: str) -> str:
    """The existing items with a trailing comma and no white space at the end."""
    bare = _OPAQUE.sub(_without_comment, items)
    last = len(bare.rstrip())
    if not last or bare[last - 1] == ",":
        return items.rstrip()
    return f"{items[:last]},{items[last:]}".rstrip()


def _without_comment(opaque: re.Match[str]) -> str:
    """A string unchanged, a comment as blanks of the same length."""
    return " " * len(opaque[0]) if opaque[0].startswith("#") else opaque[0]


def _check_seeds(before: str, after: str, seeds: Sequence[str], place: str) -> None:
    """Check that the new text has the same meaning, plus the new seeds."""
    wanted = tomllib.loads(before)
    wanted["seeds"] = [*wanted.get("seeds", []), *seeds]
    try:
        same = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise BadTopic(place, f"seeds: the list cannot be edited; add by hand: {', '.join(map(_quoted, seeds))}")


def _quoted(seed: str) -> str:
    """A TOML basic string, which equals a JSON string except for surrogate pairs."""
    return json.dumps(seed, ensure_ascii=False)
