"""The rules about URLs that a crawl learned, as its folder tells them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crawlproject.inspection.duplicates.url_rule_store import read_rules


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """A rule in words: ``text``, whether it holds, and on how many pairs of pages for and against it that rests."""

    text: str
    state: str
    agreed: float
    against: float
    examples: tuple[tuple[str, str], ...]


def learned_rules(folder: Path) -> list[LearnedRule]:
    """The rules, those that hold first; none when the crawl learned none. Raises ``BadCrawlDir`` for a damaged file."""
    found = [
        LearnedRule(str(rule), entry.state, *entry.pairs, entry.examples) for rule, entry in read_rules(folder).items()
    ]
    return sorted(found, key=lambda rule: (rule.state != "holds", -rule.agreed, rule.text))
