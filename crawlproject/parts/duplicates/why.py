"""Why a URL is crawled under another spelling: a learned rule."""

from __future__ import annotations

from pathlib import Path

from crawlproject.parts.duplicates.url_rule import parts_of
from crawlproject.parts.duplicates.url_rule_learner import UrlVariants
from crawlproject.parts.duplicates.url_rule_store import read_rules
from crawlproject.reports.why.lookup import Cause
from crawlproject.storage.read import first_visits

RESPELLED = "dust/respelled"


def cause(folder: Path, url: str) -> Cause | None:
    """The rules that put another URL in the place of ``url``; None if none does. Raises ``BadCrawlDir``."""
    variants = _variants(folder)
    if parts_of(url)[1] not in variants.rules:
        return None
    normal = variants.normal(url)
    pages = (visit.url for visit in first_visits(folder) if visit.is_page)
    crawled = next((page for page in pages if variants.normal(page) == normal), normal)
    if crawled == url:
        return None
    rules = dict.fromkeys(map(str, (*variants.applied(url), *variants.applied(crawled))))
    return Cause(RESPELLED, f"it is crawled as {crawled}, by the learned rule {', '.join(rules)}", certain=True)


def _variants(folder: Path) -> UrlVariants:
    """The variants of URLs, by the rules that refuse URLs."""
    entries = read_rules(folder).values()
    rules = [entry.rule for entry in entries if entry.holds and not entry.off and entry.refuses]
    variants = UrlVariants(lambda url: False)
    variants.set_rules(rules, rules)
    return variants
