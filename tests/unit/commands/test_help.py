"""The help of a command on terminals of several widths."""

from __future__ import annotations

from itertools import pairwise

import pytest
from scrapy.settings import Settings

import crawlproject.__main__ as program
from crawlproject.__main__ import make_command, parser_of


@pytest.mark.parametrize("columns", [45, 60, 80])
@pytest.mark.parametrize("name", ["crawl", "export", "search", "topic"])
def test_help_has_no_headings_but_its_own(monkeypatch: pytest.MonkeyPatch, columns: int, name: str) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = parser_of(name, make_command(name), Settings()).format_help().splitlines()
    headings = [line for line, below in pairwise(shown) if below and not below.strip("=-")]
    assert headings == ["Usage", "Options", "Global Options", "Examples"]


def test_ctrl_c_before_the_command_begins(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "run", interrupted)
    monkeypatch.setenv(program.ENVVAR, program.SETTINGS)
    with pytest.raises(SystemExit) as end:
        program.main()
    assert end.value.code == 130 and capsys.readouterr().err == "topical: interrupted\n"
