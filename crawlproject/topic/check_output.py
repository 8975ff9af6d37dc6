"""The result of a topic check as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import orjson

from crawlproject.pages.text.printable import counted, printable
from crawlproject.records import Topic
from crawlproject.topic.check import SeedPreview, Weakness

_MARKS = {"problem": "✗", "warning": "!", "hint": "·"}


def check_as_text(
    topic: Topic, seeds: Sequence[SeedPreview], sample: Sequence[SeedPreview], weaknesses: Sequence[Weakness]
) -> str:
    """A table of the seeds, the weaknesses with advice, and their counts."""
    lines = ["similarity  links  seed"] if seeds else []
    for seed in seeds:
        found = f"{seed.page.relevance:10.3f}  {len(seed.page.links):5}" if seed.page else f"{'-':>10}  {'-':>5}"
        lines.append(f"{found}  {printable(seed.url)}")
    relevance = [preview.page.relevance for preview in sample if preview.page]
    if relevance:
        lines.append(f"{sum(relevance) / len(relevance):10.3f}  mean of {len(relevance)} pages linked from the seeds")
    if seeds:
        lines.append("")
    for weakness in weaknesses:
        lines.append(f"{_MARKS[weakness.grade]} {weakness.subject}: {printable(weakness.what)}")
        lines.append(f"    {printable(weakness.advice)}")
    grades = [weakness.grade for weakness in weaknesses]
    counts = ", ".join(counted(grades.count(grade), grade) for grade in _MARKS if grade in grades)
    return "\n".join([*lines, f"{topic.name}: {counts or 'no weaknesses found'}"])


def check_as_json(
    topic: Topic, seeds: Sequence[SeedPreview], sample: Sequence[SeedPreview], weaknesses: Sequence[Weakness]
) -> str:
    """The same as a JSON object."""
    found = {
        "topic": topic.name,
        "seeds": [_fields(seed) for seed in seeds],
        "sample": [_fields(preview) for preview in sample],
        "weaknesses": [asdict(weakness) for weakness in weaknesses],
    }
    return orjson.dumps(found, option=orjson.OPT_INDENT_2).decode()


def _fields(preview: SeedPreview) -> dict[str, Any]:
    visit, page = preview.visit, preview.page
    return {
        "url": preview.url,
        "landed": preview.landed,
        "status": visit.status if visit else 0,
        "error": visit.error if visit else preview.refusal or "timeout",
        "relevance": round(page.relevance, 4) if page else None,
        "links": len(page.links) if page else None,
        "language": page.language if page else None,
    }
