"""On which line of a topic file a field is, and what else is wrong in a text that is not TOML."""

from __future__ import annotations

import re
import tomllib

_NAME = r"""[\w-]+|"[^"]*"|'[^']*'"""
_NAMES = rf"\s*(?:{_NAME})(?:\s*\.\s*(?:{_NAME}))*\s*"  # with dots between them
_HEADER = re.compile(rf"\s*\[\[?({_NAMES})\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"({_NAMES})=")


class TopicLines:
    """The lines of a topic file, from 1 on. Texts over several lines may hide a key: then no line is named."""

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
        """The line of ``value`` at ``location``, such as ``("seeds", 1)``; that of its key, if it is not found behind it.

        What is inside of an inline table is where the table is.
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
        """A key or a header, and what it makes on the way."""
        for end in range(1, len(names) + 1):
            self._keys.setdefault((*above, *names[:end]), number)


def _names_in(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))


def read_toml(text: str, most: int) -> tuple[dict[str, object], list[str]]:
    """The fields of a text, and up to ``most`` faults that keep it from being TOML: ``line 3, column 5: why``.

    A reader stops at the first fault. So its line is left out, if it is all of a ``key = value``, to read on; else there are no
    fields. Raises ``RecursionError``.
    """
    lines, faults = text.split("\n"), list[str]()
    while len(faults) < most:
        try:
            return tomllib.loads("\n".join(lines)), faults
        except tomllib.TOMLDecodeError as error:
            what, _, where = str(error).rpartition(" (at ")
            where = where.rstrip(")").replace("end of document", f"line {text.rstrip().count(chr(10)) + 1}")
            faults.append(f"{where}: not TOML ({what})")
            found = re.match(r"line (\d+)", where)
            number = int(found[1]) - 1 if found else -1
            if not 0 <= number < len(lines) or not _is_statement(lines[number]):
                break
            lines[number] = ""
    return {}, faults


def _is_statement(line: str) -> bool:
    """Whether a line with a fault is likely to begin and end a statement: what follows is judged without it."""
    key = _KEY.match(line)
    if key is None:
        return False
    value = line[key.end() :]
    return value.count("[") <= value.count("]") and '"""' not in value and "'''" not in value
