"""Writes into the text of a topic file what its ``[examples]`` are, and leaves everything else, including comments, unchanged."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping

from crawlproject.errors import BadTopic

_HEADER = re.compile(r"^[ \t]*\[[ \t]*examples[ \t]*\][ \t]*(?:#[^\r\n]*)?(?=\r?$)", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


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
    _check(text, new, place, wanted)
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


def _check(before: str, after: str, place: str, wanted: Mapping[str, tuple[str, bool]]) -> None:
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
