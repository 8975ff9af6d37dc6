"""``rules.jsonl``: which rules a crawl confirmed and withdrew, and which a person switched off.

Each line is an event: ``{"version", "rule", "event", "for", "against", "examples"}``. The events of a
rule, in order, give its state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.parts.duplicates.url_rule import UrlRule
from crawlproject.parts.duplicates.url_rule_learner import is_certain
from crawlproject.storage.append_log import AppendLog, read_lines, unexpected

NAME = "rules.jsonl"
VERSION = 1

CONFIRMED, WITHDRAWN, GIVEN, OFF, ON = EVENTS = ("confirmed", "withdrawn", "given", "off", "on")


@dataclass(frozen=True, slots=True)
class StoredRule:
    """The state of a rule after its events.

    ``holds``: it was confirmed, or given by an earlier crawl, and not withdrawn. ``off``: a person switched it off.
    ``pairs``: the numbers of URL pairs for and against it; ``given``: the same in the earlier crawl that gave the rule.
    ``examples``: pairs of URLs with the same text.
    """

    rule: UrlRule
    holds: bool = False
    off: bool = False
    pairs: tuple[float, float] = (0.0, 0.0)
    given: tuple[float, float] | None = None
    examples: tuple[tuple[str, str], ...] = ()

    @property
    def refuses(self) -> bool:
        """Whether the rule refuses URLs while it holds; if not, they are crawled last."""
        return self.given is not None or is_certain(self.pairs)

    @property
    def state(self) -> str:
        """``off``, ``holds`` or ``withdrawn``."""
        return OFF if self.off else "holds" if self.holds else WITHDRAWN


class UrlRuleStore:
    """The rules of one crawl folder, in order of their first events. Raises ``BadCrawlDir`` and ``StorageFailed``.

    The file is created with the first event.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._log = AppendLog(self._path) if self._path.exists() else None
        self.entries = read_rules(self._path)

    def note(
        self, rule: UrlRule, event: str, pairs: tuple[float, float], examples: Iterable[tuple[str, str]] = ()
    ) -> None:
        """Record an event of a rule, unless it changes nothing."""
        shown = list(examples)
        before = self.entries.get(rule, StoredRule(rule))
        after = _after(before, event, pairs, shown)
        if (before.holds, before.off, before.refuses) == (after.holds, after.off, after.refuses):
            return
        if self._log is None:
            self._log = AppendLog(self._path)
        self._log.append(
            {
                "version": VERSION,
                "rule": str(rule),
                "event": event,
                "for": pairs[0],
                "against": pairs[1],
                "examples": shown,
            }
        )
        self.entries[rule] = after

    def close(self) -> None:
        if self._log is not None:
            self._log.close()


def read_rules(path: Path) -> dict[UrlRule, StoredRule]:
    """The rules in a file, or in the ``rules.jsonl`` of a crawl folder; none if there is no such file.

    Raises ``BadCrawlDir`` for a damaged line or one of another version.
    """
    path = path / NAME if path.is_dir() else path
    entries: dict[UrlRule, StoredRule] = {}
    for number, line in enumerate(read_lines(path), start=1):
        try:
            if line["version"] != VERSION or line["event"] not in EVENTS:
                raise BadCrawlDir(
                    f"{path}, line {number}", f"expected an event of version {VERSION}: {', '.join(EVENTS)}"
                )
            rule = UrlRule.spelled(line["rule"])
            pairs = float(line["for"]), float(line["against"])
            examples = [(str(one), str(two)) for one, two in line["examples"]]
        except BadCrawlDir:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, BadInput) as damage:
            raise unexpected(path, number, damage) from None
        entries[rule] = _after(entries.get(rule, StoredRule(rule)), line["event"], pairs, examples)
    return entries


def _after(entry: StoredRule, event: str, pairs: tuple[float, float], examples: list[tuple[str, str]]) -> StoredRule:
    """The state of a rule after an event."""
    if event in (OFF, ON):
        return replace(entry, off=event == OFF)
    given = pairs if event == GIVEN else entry.given
    return replace(
        entry, holds=event != WITHDRAWN, pairs=pairs, given=given, examples=tuple(examples) or entry.examples
    )
