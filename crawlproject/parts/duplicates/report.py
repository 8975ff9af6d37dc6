"""The URL rules that a crawl learned from duplicates, for its report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlproject.options import Options
from crawlproject.parts.duplicates.url_rule_store import read_rules


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """A URL rule as ``text``, its state, the numbers of page pairs for (``agreed``) and ``against`` it, and examples."""

    text: str
    state: str
    agreed: float
    against: float
    examples: tuple[tuple[str, str], ...]


def report(folder: Path, options: Options, threshold: float) -> dict[str, Any]:
    """``rules``: the learned rules, those that hold first. Raises ``BadCrawlDir``."""
    entries = read_rules(folder).items()
    rules = [LearnedRule(str(rule), entry.state, *entry.pairs, entry.examples) for rule, entry in entries]
    return {"rules": sorted(rules, key=lambda rule: (rule.state != "holds", -rule.agreed, rule.text))}
