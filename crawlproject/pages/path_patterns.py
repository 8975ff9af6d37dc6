"""Which URLs the patterns of a robots.txt mean (RFC 9309 sections 2.2.2 and 2.2.3): the longest that matches decides.

A file may have 25,000 patterns: those without wildcards are looked up by the beginnings of a path, one for each length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

_SPELLED = re.compile(r"[A-Za-z0-9_.~/=\n-]*").fullmatch  # nothing in it needs an escape
_WITHOUT_ESCAPES = re.compile(r'(?!http)(?:[!"&-)+-~]|\n(?!http))*+').fullmatch  # or what needs some thought
_ESCAPES = {code: f"%{code:02X}" for code in range(33, 127) if not _SPELLED(chr(code))}
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_BEFORE_PATH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


class PathPatterns:
    """``allowed`` and ``forbidden`` are patterns as written, with ``*`` and, at the end, ``$``.

    What no pattern matches is allowed, and so is what two of one length disagree about. Lengths are those of the normalized
    patterns, wildcards included.
    """

    def __init__(self, allowed: Iterable[str], forbidden: Iterable[str]) -> None:
        self._allowed, wild = _sorted(allowed, allows=True)
        self._forbidden, forbidding = _sorted(forbidden, allows=False)
        self._lengths = sorted({*map(len, self._allowed), *map(len, self._forbidden)}, reverse=True)
        self._wild = sorted(wild + forbidding, key=lambda one: one[:2], reverse=True)

    def allow(self, url: str) -> bool:
        """Whether path and query of ``url`` may be asked for; ``/robots.txt`` always may."""
        path = _path(url)
        verdict = (0, True)
        for length in self._lengths:
            if length <= len(path):
                beginning = path[:length]
                if beginning in self._allowed:
                    verdict = (length, True)
                    break
                if beginning in self._forbidden:
                    verdict = (length, False)
                    break
        for pattern in self._wild:
            length, allows, parts, _ = pattern
            if length < verdict[0] or (length == verdict[0] and allows <= verdict[1]):
                break
            if path.startswith(parts[0]) and pattern.matches(path):
                verdict = (length, allows)
                break
        return verdict[1] or path.partition("%3F")[0] == "/robots.txt"


class _Wild(NamedTuple):
    """A pattern with wildcards, or an end."""

    length: int
    allows: bool
    parts: tuple[str, ...]  # between wildcards
    ends: bool  # with the last part

    def matches(self, path: str) -> bool:
        """Whether the parts follow each other in ``path``, which begins with the first one."""
        first, *others = self.parts
        if not others:
            return path == first
        *inner, last = others
        at = len(first)
        for part in inner:
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return path.find(last, at) >= 0 if not self.ends else len(path) - len(last) >= at and path.endswith(last)


def _sorted(patterns: Iterable[str], *, allows: bool) -> tuple[set[str], list[_Wild]]:
    """Plain patterns, and others."""
    patterns = list(patterns)
    joined = "\n".join(patterns)
    if _WITHOUT_ESCAPES(joined):
        return {*joined.translate({} if _SPELLED(joined) else _ESCAPES).split("\n")} - {""}, []
    plain: set[str] = set()
    wild: list[_Wild] = []
    for pattern in patterns:
        if pattern.startswith(("http://", "https://")):
            pattern = f"/{pattern}"  # which somebody wrote by mistake: it means that very path
        ends = pattern.endswith("$")
        if ends and (spelled := _normalized(f"{pattern[:-1]}%24", b"*")):  # a $ that is meant as a letter
            _add(spelled, False, plain, wild, allows=allows)
        if spelled := _normalized(pattern.removesuffix("$"), b"*") or "$" * ends:
            _add(spelled.removesuffix("$"), ends, plain, wild, allows=allows)
    return plain, wild


def _add(spelled: str, ends: bool, plain: set[str], wild: list[_Wild], *, allows: bool) -> None:
    if ends or "*" in spelled:
        parts = re.sub(r"\*+", "*", spelled).split("*")
        wild.append(_Wild(len(spelled) + ends, allows, tuple(parts), ends))
    else:
        plain.add(spelled)


def _normalized(text: str, kept: bytes = b"") -> str:
    """``text`` with one spelling of each character: escaped are all but letters, digits, ``-._~/=``, ``%`` and ``kept``.

    Escapes of ``/``, ``%`` and ``kept`` mean something else than these, and stay.
    """
    if _SPELLED(text):
        return text.replace("\n", "%0A")
    if "%" in text:

        def unescaped(escape: re.Match[bytes]) -> bytes:
            character = bytes.fromhex(escape[1].decode())
            return escape[0].upper() if character in (b"/", b"%", kept) else character

        text = _ESCAPE.sub(unescaped, text.encode()).decode("utf-8", "replace")
    return quote(text, safe=f"/%={kept.decode()}")


def _path(url: str) -> str:
    before = _BEFORE_PATH.match(url)
    path = _normalized(url[before.end() if before else 0 :].partition("#")[0])
    return path if path.startswith("/") else f"/{path}"
