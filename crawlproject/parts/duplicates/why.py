"""Why a URL is crawled under another spelling: a learned rule."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from crawlproject.parts.duplicates.url_rule import UrlRule, parts_of, spelled
from crawlproject.parts.duplicates.url_rule_store import read_rules
from crawlproject.reports.why.lookup import Cause
from crawlproject.storage.read import first_visits

RESPELLED = "dust/respelled"


def cause(folder: Path, url: str) -> Cause | None:
    """The rules that turn ``url`` into another URL; None if none applies. Raises ``BadCrawlDir``."""
    rules = _rules(folder)
    normal, applied = _normal(rules, url)
    if not applied:
        return None
    pages = (visit.url for visit in first_visits(folder) if visit.is_page)
    crawled = next((page for page in pages if _normal(rules, page)[0] == normal), normal)
    words = f"it is crawled as {crawled}, by the learned rule {', '.join(applied)}"
    return Cause(RESPELLED, words, certain=True)


def _rules(folder: Path) -> list[UrlRule]:
    """The rules that refuse URLs, in the order in which they are applied."""
    entries = read_rules(folder).values()
    rules = [entry.rule for entry in entries if entry.holds and not entry.off and entry.refuses]
    return sorted(rules, key=lambda rule: (rule.kind == "mirror", rule))


def _normal(rules: Iterable[UrlRule], url: str) -> tuple[str, list[str]]:
    """What the rules turn ``url`` into: the same for all its variants, and ``url`` itself if no rule applies; and those that
    apply."""
    parts, applied = parts_of(url), []
    for rule in rules:
        if (changed := rule.normal(parts)) != parts:
            parts = changed
            applied.append(str(rule))
    return (spelled(parts), applied) if applied else (url, [])
