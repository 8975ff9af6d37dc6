"""The file of rules: the last line for a rule is valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlproject.errors import BadCrawlDir
from crawlproject.parts.duplicates.url_rule import UrlRule
from crawlproject.parts.duplicates.url_rule_store import (
    CONFIRMED,
    GIVEN,
    NAME,
    OFF,
    ON,
    WITHDRAWN,
    UrlRuleStore,
    read_rules,
)

SID = UrlRule("a.example", "param", "sid")
PAIR = ("http://a.example/?sid=1", "http://a.example/?sid=2")


def test_events_add_up(tmp_path: Path):
    book = UrlRuleStore(tmp_path)
    book.note(SID, CONFIRMED, (5, 0), [PAIR])
    book.note(SID, CONFIRMED, (6, 0))  # nothing new
    book.note(SID, OFF, (6, 0))
    book.close()
    assert len((tmp_path / NAME).read_text().splitlines()) == 2
    entry = read_rules(tmp_path)[SID]
    assert (entry.state, entry.holds, entry.pairs, entry.examples) == ("off", True, (5.0, 0.0), (PAIR,))
    book = UrlRuleStore(tmp_path)
    book.note(SID, ON, (6, 0))
    book.note(SID, WITHDRAWN, (6, 9))
    book.close()
    assert read_rules(tmp_path / NAME)[SID].state == "withdrawn"


def test_a_given_rule_keeps_what_it_was_given_with(tmp_path: Path):
    book = UrlRuleStore(tmp_path)
    book.note(SID, GIVEN, (7, 1))
    book.note(SID, WITHDRAWN, (7, 20))
    assert book.entries[SID].given == (7, 1)
    book.close()


@pytest.mark.parametrize(
    "line",
    [
        '{"version": 2, "rule": "a.example slash", "event": "confirmed", "for": 1, "against": 0, "examples": []}',
        '{"version": 1, "rule": "a.example slash", "event": "praised", "for": 1, "against": 0, "examples": []}',
        '{"version": 1, "rule": "nonsense", "event": "confirmed", "for": 1, "against": 0, "examples": []}',
        '{"version": 1, "rule": null, "event": "confirmed", "for": 1, "against": 0, "examples": []}',
        '{"version": 1, "rule": "a.example slash", "event": "confirmed", "for": "x", "against": 0, "examples": []}',
        "[]",
        "{}",
        "what",
    ],
)
def test_a_damaged_file_is_an_error_that_names_the_line(tmp_path: Path, line: str):
    (tmp_path / NAME).write_text(line + "\n")
    with pytest.raises(BadCrawlDir, match=r"rules\.jsonl, line 1"):
        read_rules(tmp_path)


def test_no_file_has_no_rules(tmp_path: Path):
    assert read_rules(tmp_path) == {}
