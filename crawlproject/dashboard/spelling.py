"""Finds words for the terms of agents, which are stems: ``restoration`` for ``restor``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.storage.append_log import ITEMS, parse_line

LOOKED_AT = 1_000_000  # bytes of the latest texts that are read, in about 5 ms
_CUT = 2  # letters at the end of a stem that may differ in a word: a final y becomes i
_GROWN = 1.2  # growth of the texts after which they are read again


class Spelling:
    """Replaces terms by their most frequent spelling on the latest pages of a crawl folder."""

    def __init__(self, folder: Path, language: str) -> None:
        self._path = folder / ITEMS
        self._analyzer = Analyzer(language or "en")
        self._words: dict[str, str] = {}
        self._looked_at = 0

    def spell(self, family: Iterable[dict[str, Any]]) -> None:
        """Replace the term ``keyword`` of each agent by a word, if the latest pages contain one."""
        family = [life for life in family if life["keyword"]]
        missing = {life["keyword"] for life in family} - self._words.keys()
        size = self._path.stat().st_size if missing and self._path.exists() else 0
        if size > self._looked_at * _GROWN:
            self._looked_at = size
            text = self._latest()
            self._words |= {term: word for term in missing if (word := self._word(term, text))}
        for life in family:
            life["keyword"] = self._words.get(life["keyword"], life["keyword"])

    def _word(self, term: str, text: str) -> str:
        begin = re.escape(term[: max(2, len(term) - _CUT)])
        found = Counter(re.findall(rf"\b{begin}\w*", text))
        return next((word for word, _ in found.most_common() if self._analyzer.term(word) == term), "")

    def _latest(self) -> str:
        with self._path.open("rb") as file:
            start = max(0, file.seek(0, 2) - LOOKED_AT)
            file.seek(start)
            lines = file.read().splitlines(keepends=True)[bool(start) :]  # the first line may be incomplete
        items = [parse_line(line, self._path) for line in lines if line.endswith(b"\n")]
        return "\n".join(str(item.get("text", "")) for item in items).lower()
