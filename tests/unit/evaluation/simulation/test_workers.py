"""A plan executed in this process and in several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawlproject.errors import BadSetting
from crawlproject.evaluation.simulation.plan import Plan, WorkerFailed, rehearse_here, rehearse_with_workers
from crawlproject.records import Topic
from crawlproject.storage.read import read_info
from crawlproject.webs.sample import SampleWeb


def a_plan(folder: Path, topics: int = 2, settings: Mapping[str, Any] | None = None, **others: Any) -> Plan:
    seed = next(SampleWeb().urls())
    plan = Plan(
        web="sample",
        topics=tuple(Topic(f"t{number}", ("coral reef",), (seed,)) for number in range(topics)),
        settings=(settings or {},) * topics,
        orderings=("random", "dom"),
        pages=5,
        out=folder,
        cache_dir=folder / "cache",
        agent="tests",
    )
    return replace(plan, **others)


def silent(warning: str) -> None:
    raise AssertionError(warning)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.json*"))}


def test_processes_do_what_one_does(tmp_path: Path) -> None:
    here = list(rehearse_here(a_plan(tmp_path / "here", repeats=2), silent))
    there = list(rehearse_with_workers(a_plan(tmp_path / "there", repeats=2), 2, silent))
    assert len(here) == len(there) == 8
    assert {(line["topic"], line["ordering"], line["repeat"]) for line in there} == {
        (f"t{topic}", name, repeat) for topic in (0, 1) for name in ("random", "dom") for repeat in (1, 2)
    }
    assert files(tmp_path / "here") == files(tmp_path / "there")


def test_repeats_have_folders_and_seeds_of_their_own_and_are_kept(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, topics=1, settings={"CRAWL_SEED": 7}, repeats=3)
    assert all("kept" not in line for line in rehearse_here(plan, silent))
    folders = [tmp_path / "t0" / f"random{suffix}" for suffix in ("", ".repeat-2", ".repeat-3")]
    assert [read_info(folder).settings["CRAWL_SEED"] for folder in folders] == [7, 8, 9]
    histories = {(folder / "history.jsonl").read_bytes() for folder in folders}
    assert len(histories) == 3
    assert all(line["kept"] for line in rehearse_here(plan, silent))


def test_bad_input_in_a_worker_is_bad_input_here(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="CRAWL_SEDE") as raised:
        list(rehearse_with_workers(a_plan(tmp_path, settings={"CRAWL_SEDE": 1}), 2, silent))
    with pytest.raises(BadSetting) as same:
        list(rehearse_here(a_plan(tmp_path, settings={"CRAWL_SEDE": 1}), silent))
    assert str(raised.value) == str(same.value)


def test_a_killed_worker_is_reported_and_finished_runs_stay(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, topics=1, pages=200, repeats=20)
    lines = rehearse_with_workers(plan, 1, silent)
    first = next(lines)
    for child in multiprocessing.active_children():
        child.kill()
    with pytest.raises(WorkerFailed, match=r"at the topic t0 \(exit code -9\); finished runs are kept"):
        list(lines)
    assert read_info(Path(first["folder"])).reason
    assert multiprocessing.active_children() == []


def test_leaving_early_stops_the_workers(tmp_path: Path) -> None:
    lines = rehearse_with_workers(a_plan(tmp_path, pages=200, repeats=20), 1, silent)
    next(lines)
    lines.close()
    assert multiprocessing.active_children() == []
