"""Refusals: counted by reason, with a few examples, over all resumes."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlproject.errors import BadCrawlDir
from crawlproject.storage.logs import SAMPLES, SHOWN, Refusals


def test_what_was_saved_is_loaded_and_counted_on(tmp_path: Path) -> None:
    path = tmp_path / "refused.json"
    refusals = Refusals(path)
    refusals.add("trap/too_long", "http://a.example/1", "http://a.example/")
    refusals.add("trap/too_long", "http://a.example/2")
    refusals.count("frontier/full", 5)
    refusals.save()
    again = Refusals(path)
    assert again.counts == {"trap/too_long": 2, "frontier/full": 5}
    assert again.samples == {
        "trap/too_long": [("http://a.example/1", "http://a.example/"), ("http://a.example/2", None)]
    }
    again.add("trap/too_long", "http://a.example/3")
    again.save()
    assert Refusals(path).counts["trap/too_long"] == 3


def test_examples_are_few_short_and_different(tmp_path: Path) -> None:
    refusals = Refusals(tmp_path / "refused.json")
    for number in range(SAMPLES + 10):
        refusals.add("scope/domain", f"http://h{number}.example/")
        refusals.add("trap/too_long", "http://a.example/" + "x" * 5000)
    assert refusals.counts == {"scope/domain": SAMPLES + 10, "trap/too_long": SAMPLES + 10}
    assert len(refusals.samples["scope/domain"]) == SAMPLES
    assert [len(url) for url, _ in refusals.samples["trap/too_long"]] == [SHOWN]


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "7",
        "{}",
        '{"counts": []}',
        '{"counts": {"a/b": "many"}, "samples": {}}',
        '{"counts": {}, "samples": 3}',
        '{"counts": {}, "samples": {"a/b": [["alone"]]}}',
    ],
)
def test_a_damaged_file_is_reported_with_what_to_do(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "refused.json"
    path.write_text(damage)
    with pytest.raises(BadCrawlDir, match=f"{path}: .*remove the file"):
        Refusals(path)
