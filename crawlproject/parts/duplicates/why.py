"""Why a URL is crawled under another spelling: a learned rule."""

from __future__ import annotations

from pathlib import Path

from crawlproject.parts.duplicates.url_rule import parts_of, spelled
from crawlproject.parts.duplicates.url_rule_store import read_rules
from crawlproject.reports.why.lookup import Cause

RESPELLED = "dust/respelled"


def cause(folder: Path, url: str) -> Cause | None:
    """The rules that turn ``url`` into another URL; None if none applies. Raises ``BadCrawlDir``."""
    normalized, rules = normalized_by_rules(folder, url)
    if normalized == url:
        return None
    words = f"it is crawled as {normalized}, by the learned rule {', '.join(rules)}"
    return Cause(RESPELLED, words, certain=True)


def normalized_by_rules(folder: Path, url: str) -> tuple[str, list[str]]:
    """The URL that the refusing rules turn ``url`` into, and the rules that apply; ``url`` itself if none applies."""
    parts, applied = parts_of(url), []
    entries = [entry for entry in read_rules(folder).values() if entry.holds and not entry.off and entry.refuses]
    for entry in sorted(entries, key=lambda entry: (entry.rule.kind == "mirror", entry.rule)):
        if (changed := entry.rule.normal(parts)) != parts:
            parts = changed
            applied.append(str(entry.rule))
    return (spelled(parts), applied) if applied else (url, [])
