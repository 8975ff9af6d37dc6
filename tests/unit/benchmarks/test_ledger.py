"""An interrupted comparison goes on: what is finished is kept, what is half done goes, another question is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cost import Cost
from benchmarks.ledger import Ledger
from benchmarks.side_by_side import SOCKETS, Entry
from crawlproject.errors import BadInput

ASKED = {"web": "sample", "budgets": [100, 500]}
ENTRY = Entry("rival", "Rival 1.0", SOCKETS, Cost(499, 12.5, 30.0, 80.0), 500)


def test_finished_entries_are_found_again(tmp_path: Path) -> None:
    Ledger(tmp_path / "runs", ASKED).add(ENTRY, "ended by itself")
    again = Ledger(tmp_path / "runs", ASKED)
    assert again.entries == {"rival": ENTRY}
    assert again.notes == ["ended by itself"]


def test_only_the_half_done_runs_of_a_crawler_go(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, ASKED)
    for topic in ("a", "b"):
        for crawler in ("rival", "dom, live"):
            (tmp_path / topic / crawler).mkdir(parents=True)
    ledger.begin("rival")
    assert sorted(run.name for run in tmp_path.glob("*/*")) == ["dom, live", "dom, live"]


def test_another_question_needs_another_folder(tmp_path: Path) -> None:
    Ledger(tmp_path, ASKED)
    with pytest.raises(BadInput, match="holds figures for"):
        Ledger(tmp_path, {**ASKED, "budgets": [100]})


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all my work")
    with pytest.raises(BadInput, match="expected a new folder"):
        Ledger(tmp_path, ASKED)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
