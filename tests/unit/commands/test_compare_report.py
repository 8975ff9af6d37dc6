"""`scrapy compare` and `scrapy report`, as a user runs them."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from support.invoking import Terminal, invoke

from crawlproject.commands import compare, report

ROOT = Path(__file__).parents[3]
SKILLS = {
    "omniscient": [1.0] * 6,
    "dom": [0.30, 0.28, 0.33, 0.31, 0.29, 0.30],
    "best_first": [0.11, 0.12, 0.10, 0.11, 0.13, 0.10],
    "random": [0.02, 0.01, 0.02, 0.01, 0.02, 0.01],
}


def scrapy(*arguments, cwd):
    """Run a command of this project outside any project."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "only_these", "COLUMNS": "80"}
    (cwd / "only_these.py").write_text('COMMANDS_MODULE = "crawlproject.commands"\n')
    environment["PYTHONPATH"] += os.pathsep + str(cwd)
    command = [sys.executable, "-m", "scrapy", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=900)


def test_without_targets_the_harvest_is_compared(write_runs, tmp_path, capsys):
    runs = write_runs(tmp_path / "runs", {"dom": [0.3] * 2, "random": [0.01] * 2}, targets=0)
    assert invoke(compare.CompareCommand(), runs, "--at", "50") == 0
    printed = capsys.readouterr()
    assert "No topic has targets, so --measure harvest is used." in printed.err
    assert printed.out.lower().startswith("harvest")


def test_no_figure_is_cut_on_a_terminal(write_runs, tmp_path, monkeypatch):
    """The widest table fits in 80 columns; on narrower terminals its lines wrap."""
    runs = write_runs(
        tmp_path / "runs", {"adaptive": [0.3, 0.2] * 3, "breadth_first": [0.1, 0.2] * 3, "random": [0.01] * 6}
    )
    for columns in ("80", "60"):
        monkeypatch.setenv("COLUMNS", columns)
        shown = Terminal()
        monkeypatch.setattr("sys.stdout", shown)
        assert invoke(compare.CompareCommand(), runs, "--at", "50") == 0
        printed = re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue())
        assert "…" not in printed and re.search(r"breadth_first +3 .* to \+\d\.\d{3} ", printed)
        if columns == "80":
            assert max(map(len, printed.splitlines()[:-1])) <= 80, "all but the path of the report"


def test_compare_prints_the_table_names_the_winner_and_writes_files(write_runs, tmp_path):
    runs = write_runs(tmp_path / "runs", SKILLS)
    run = scrapy("compare", runs, "--at", "20,50", "--json", "c.json", "--csv", "c.csv", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "\x1b" not in run.stdout
    ranks = [line.split()[:2] for line in run.stdout.splitlines()[2:6]]
    assert ranks == [["*", "omniscient"], ["1", "dom"], ["2", "best_first"], ["3", "random"]]
    assert "N = 50: dom is significantly better than every other ordering" in run.stdout
    assert "100.0%" in run.stdout

    document = json.loads((tmp_path / "c.json").read_text())
    assert list(document["orderings"]) == ["omniscient", "dom", "best_first", "random"]
    assert document["orderings"]["random"]["omniscient_share"] == 0
    mean = document["orderings"]["dom"]["mean"]["50"]
    by_topic = document["orderings"]["dom"]["by_topic"]
    assert mean == pytest.approx(sum(values["50"] for values in by_topic.values()) / 6)

    rows = list(csv.DictReader((tmp_path / "c.csv").open()))
    assert len(rows) == 4 * 6 * 2
    assert {row["pages"] for row in rows} == {"20", "50"}

    page = (runs / "compare.html").read_text()
    assert str(runs / "compare.html") in run.stdout
    assert "<svg" in page
    assert "http" not in page.replace("http-equiv", ""), "nothing is fetched from anywhere"


@pytest.mark.parametrize("measure", ["harvest", "relevance", "precision", "coverage", "top", "rank"])
def test_other_measures(write_runs, tmp_path, capsys, measure):
    runs = write_runs(tmp_path / "runs", {"dom": [0.5, 0.4], "random": [0.1, 0.2]})
    assert invoke(compare.CompareCommand(), runs, "--measure", measure, "--at", "40") == 0
    assert capsys.readouterr().out.splitlines()[2].split()[:2] == ["1", "dom"]


def test_several_budgets_another_test_and_every_measure(write_runs, tmp_path, capsys):
    runs = write_runs(tmp_path / "runs", SKILLS)
    arguments = ("--at", "20", "50,100", "--test", "wilcoxon", "--json", tmp_path / "c")
    assert invoke(compare.CompareCommand(), runs, *arguments) == 0
    printed = capsys.readouterr().out
    assert "Wilcoxon signed-rank tests over 6 topics" in printed
    document = json.loads((tmp_path / "c").read_text())
    assert document["checkpoints"] == [20, 50, 100] and document["test"] == "wilcoxon"
    assert document["orderings"]["dom"]["summary"]["recall"] == document["orderings"]["dom"]["mean"]["100"]
    step = document["steps"][0]
    assert (step["better"], step["worse"]) == ("dom", "best_first")
    assert step["interval"][0] < step["difference"] < step["interval"][1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "expected a folder of runs"),
        (["."], "crawl.json"),
        (["runs", "--at", "ten"], "--at ten: expected numbers"),
        (["runs", "--at", "0"], "--at 0: expected a number of at least 1"),
        (["runs", "--at", "999"], "--at 999: expected at most 200"),
        (["runs", "--measure", "harvest", "--window", "0"], "--window 0"),
        (["runs", "--measure", "top", "--top", "0"], "--top 0"),
        (["runs", "--importance", "pagerank"], "expected both or neither"),
        (["runs", "--web", "sample"], "expected both or neither"),
        (["runs", "--importance", "pagerank", "--web", "sample", "--measure", "recall"], "than recall"),
        (["runs", "--importance", "pagerank", "--web", "nowhere.warc"], "nowhere.warc"),
    ],
)
def test_bad_input_to_compare_is_one_message_and_exit_code_2(
    write_runs, tmp_path, capsys, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    if "runs" in arguments:
        write_runs(tmp_path / "runs", {"dom": [0.5], "random": [0.1]})
    assert invoke(compare.CompareCommand(), *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", [compare.CompareCommand, report.ReportCommand])
@pytest.mark.parametrize("folders", [[], ["a", "b"]])
def test_one_folder_is_asked_for(command, folders):
    with pytest.raises(UsageError, match="expected one"):
        invoke(command(), *folders)


def test_an_unknown_measure_is_refused(capsys):
    with pytest.raises(SystemExit) as left:
        invoke(compare.CompareCommand(), "runs", "--measure", "beauty")
    assert left.value.code == 2
    assert "beauty" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_one_message_and_exit_code_3(write_runs, tmp_path, capsys):
    runs = write_runs(tmp_path / "runs", {"dom": [0.5], "random": [0.1]})
    (tmp_path / "notes").write_text("kept")
    assert invoke(compare.CompareCommand(), runs, "--json", tmp_path / "notes" / "c.json") == 3
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--json", "--csv", "--figure"])
def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_printed(write_runs, tmp_path, capsys, option):
    runs = write_runs(tmp_path / "runs", {"dom": [0.5], "random": [0.1]})
    assert invoke(compare.CompareCommand(), runs, option, tmp_path) == 2
    assert capsys.readouterr() == ("", f"scrapy: {tmp_path}: expected the name of a file, not a folder\n")


def test_report_writes_the_report_and_prints_its_path(write_crawl, crawl_of_pages, tmp_path):
    write_crawl(tmp_path / "crawl", crawl_of_pages(40))
    run = scrapy("report", "crawl", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.strip() == "crawl/report.html"
    assert (tmp_path / "crawl" / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("folder", ["", "nowhere"])
def test_report_on_something_else_is_one_message_and_exit_code_2(tmp_path, capsys, folder):
    assert invoke(report.ReportCommand(), tmp_path / folder) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "expected a crawl folder" in error
