"""Adds seeds to the text of a topic file, and leaves everything else, including comments, unchanged."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence

from crawlproject.errors import BadTopic

_SEEDS = re.compile(r"""^[ \t]*(?:seeds|"seeds"|'seeds')[ \t]*=[ \t]*\[""", re.MULTILINE)
# Brackets in these do not count: the four kinds of TOML strings, and comments.
_OPAQUE = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)
_INDENT = "  "


def with_seeds(text: str, place: str, seeds: Sequence[str], comment: str) -> str:
    """``text`` with ``seeds`` at the end of its list of seeds, below a comment of one line.

    Raises ``BadTopic`` when the list cannot be found or the result would not mean the same.
    """
    start, end = _list_of_seeds(text, place)
    items = text[start:end]
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{_INDENT}# {comment}", *(f"{_INDENT}{_quoted(seed)}," for seed in seeds)]
    new = text[:start] + _closed(items) + newline + newline.join(lines) + newline + text[end:]
    _check(text, new, seeds, place)
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


def _check(before: str, after: str, seeds: Sequence[str], place: str) -> None:
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
