"""Asks on the terminal for the content of a topic file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from crawlproject.errors import BadInput, InvalidUrl

T = TypeVar("T")


class Asker:
    """Asks questions on the terminal, and repeats a question until the answer is valid."""

    def keywords(self) -> list[str]:
        return self._until("What is the topic about? Keywords, separated by commas: ", keywords_of)

    def urls(self, *, more: bool = False) -> list[str]:
        """Ask for one or more URLs; ``more``: in addition to other seeds, so the list may be empty."""
        what = "Further seeds" if more else "Seeds, good pages to start from"
        print(f"{what}: one URL per line; end with an empty line.", file=sys.stderr)
        urls: list[str] = []
        while True:
            answer = _answer("  URL: " if not urls else "  another: ")
            if not answer and (urls or more):
                return urls
            try:
                urls.append(canonical(answer))
            except BadInput as wrong:
                print(f"  {wrong.wish}", file=sys.stderr, flush=True)

    def text(self, question: str, default: str) -> str:
        return _answer(f"{question} [{default}]: ") or default

    def number(self, question: str, default: int) -> int:
        return self._until(f"{question} [{default}]: ", lambda answer: _number(answer, default))

    def _until(self, question: str, read: Callable[[str], T]) -> T:
        while True:
            answer = _answer(question)
            try:
                return read(answer)
            except BadInput as wrong:
                print(f"  {wrong.wish}", file=sys.stderr, flush=True)


def _answer(question: str) -> str:
    print(question, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise BadInput(
            "topic new", "standard input has ended; give --query, and --seed or --example if no seeds are found"
        )
    return line.strip()


def keywords_of(answer: str) -> list[str]:
    """Keywords separated by commas. Raises ``BadInput``."""
    from crawlproject.topic.fields import checked_keywords

    try:
        return checked_keywords(answer.split(","))
    except ValueError:
        raise BadInput("--query", "name at least one word, for example: solar power, photovoltaics") from None


def canonical(url: str) -> str:
    """The canonical form of a URL as people type it. Raises ``BadInput``."""
    from crawlproject.urls.canonical import canonical_url, with_scheme

    try:
        return canonical_url(with_scheme(url))
    except InvalidUrl as wrong:
        raise BadInput("topic new", str(wrong)) from None


def _number(answer: str, default: int) -> int:
    if not answer:
        return default
    if not answer.isdecimal():
        raise BadInput("topic new", "expected a number")
    return int(answer)
