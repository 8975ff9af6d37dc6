"""A passage of each of a few pages that shows why it counts as relevant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from crawlproject.storage.append_log import ITEMS, parse_line

LENGTH = 220  # characters
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_WORD = re.compile(r"\w+")
_STEM = 5  # characters of a word that must be equal: reef and reefs, bleached and bleaching


def excerpts(crawl_dir: Path, urls: Collection[str], keywords: Sequence[str]) -> dict[str, str]:
    """URL -> excerpt, of those whose text is stored. Reads ``items.jsonl`` once, and parses only the lines of ``urls``."""
    path = crawl_dir / ITEMS
    found: dict[str, str] = {}
    if not path.exists():
        return found
    wanted = set(urls)
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n") and _url_of(line) in wanted:
                item = parse_line(line, path, number)
                if isinstance(item, Mapping) and item.get("text"):
                    found[str(item["url"])] = excerpt(str(item["text"]), keywords)
    return found


def excerpt(text: str, keywords: Sequence[str]) -> str:
    """Up to ``LENGTH`` characters of ``text``: the run of sentences with most different words of the keywords."""
    wanted = {word.lower()[:_STEM] for keyword in keywords for word in _WORD.findall(keyword)}
    sentences = [found for found in _SENTENCE.finditer(text) if not found[0].isspace()]
    best, most = 0, -1
    for number, sentence in enumerate(sentences):
        end = max(
            (later.end() for later in sentences[number : number + 4] if later.end() - sentence.start() <= LENGTH),
            default=0,
        )
        seen = {word.lower()[:_STEM] for word in _WORD.findall(text[sentence.start() : end or sentence.end()])}
        if len(seen & wanted) > most:
            best, most = number, len(seen & wanted)
    start = sentences[best].start() if sentences else 0
    passage = " ".join(text[start : start + 2 * LENGTH].split())
    return passage if len(passage) <= LENGTH else f"{passage[:LENGTH].rpartition(' ')[0] or passage[:LENGTH]} …"


def _url_of(line: bytes) -> str:
    """The URL of an item, which its line begins with; empty when it is written in another way."""
    head, _, rest = line.partition(b'{"url":"')
    return "" if head else rest.partition(b'"')[0].decode("utf-8", "replace")
