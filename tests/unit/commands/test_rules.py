"""`scrapy rules`, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from support.invoking import invoke

from crawlproject.commands.rules import RulesCommand
from crawlproject.parts.duplicates.url_rule import UrlRule
from crawlproject.parts.duplicates.url_rule_store import CONFIRMED, WITHDRAWN, UrlRuleStore, read_rules

ROOT = Path(__file__).parents[3]
SID = UrlRule("a.example", "param", "sid")
SLASH = UrlRule("b.example", "slash")
PAIR = ("http://a.example/?sid=1", "http://a.example/?sid=2")


def crawl_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "crawl.json").write_text('{"version": 1, "topic": {}}')
    book = UrlRuleStore(folder)
    book.note(SID, CONFIRMED, (6, 0), [PAIR])
    book.note(SLASH, CONFIRMED, (5, 0))
    book.note(SLASH, WITHDRAWN, (5, 9))
    book.close()
    return folder


def test_it_lists_rules_with_their_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert invoke(RulesCommand(), crawl_folder(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "holds      a.example param sid  (6 for, 0 against)" in out
    assert "withdrawn  b.example slash  (5 for, 9 against)" in out
    assert PAIR[0] in out
    invoke(RulesCommand(), tmp_path, "--json")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["rule"] for line in lines] == [str(SID), str(SLASH)]
    assert lines[0]["examples"] == [list(PAIR)]


def test_a_rule_is_switched_off_and_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = crawl_folder(tmp_path)
    assert invoke(RulesCommand(), folder, "--off", "a.example param sid") == 0
    assert read_rules(folder)[SID].state == "off"
    assert invoke(RulesCommand(), folder, "--on", "a.example param sid") == 0
    assert read_rules(folder)[SID].state == "holds"
    assert capsys.readouterr().out.splitlines() == [f"{SID}: off", f"{SID}: holds"]


def test_each_worker_has_rules_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for worker in ("one", "two"):
        crawl_folder(tmp_path / "workers" / worker)
    assert invoke(RulesCommand(), tmp_path) == 0
    out = capsys.readouterr().out
    assert "worker one" in out
    assert "worker two" in out
    invoke(RulesCommand(), tmp_path, "--off", str(SID))
    assert {read_rules(tmp_path / "workers" / worker)[SID].off for worker in ("one", "two")} == {True}


def test_a_crawl_without_rules_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "crawl.json").write_text('{"version": 1, "topic": {}}')
    assert invoke(RulesCommand(), tmp_path) == 0
    assert "The crawl learned no URL rules" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("--off", "a.example param other"), "expected one of those"), (("--off", "nonsense"), "expected HOST KIND")],
)
def test_what_is_no_rule_of_the_crawl_is_bad_input(tmp_path, capsys, arguments, message):
    assert invoke(RulesCommand(), crawl_folder(tmp_path), *arguments) == 2
    assert message in capsys.readouterr().err


def test_what_is_no_crawl_folder_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert invoke(RulesCommand(), tmp_path / "nowhere") == 2
    assert "crawl.json" in capsys.readouterr().err


def test_a_running_crawl_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = crawl_folder(tmp_path)
    hold = "import sys; from pathlib import Path; from crawlproject.storage.crawl_files import FolderLock\n"
    hold += "lock = FolderLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    crawl = subprocess.Popen(
        [sys.executable, "-c", hold, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    with crawl:
        assert crawl.stdout.readline() == b"held\n"
        assert invoke(RulesCommand(), folder, "--off", str(SID)) == 2
        crawl.stdin.close()
    assert "in use" in capsys.readouterr().err
    assert read_rules(folder)[SID].state == "holds"


def test_it_wants_one_folder_and_one_switch(tmp_path: Path):
    with pytest.raises(UsageError):
        invoke(RulesCommand())
    with pytest.raises(UsageError):
        invoke(RulesCommand(), tmp_path, "--off", "x", "--on", "y")
