"""Text from the web cannot control the terminal on which it is shown."""

from __future__ import annotations

import io
import logging
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.invoking import Terminal

from crawlproject.adapters.extensions.plain_log import spell_out
from crawlproject.adapters.subcommand import reporting_errors
from crawlproject.errors import BadInput
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.printable import PlainStream, printable, visible
from crawlproject.urls.canonical import canonical_url

ESCAPES = ("\x1b]0;owned\x07", "\x1b[2J", "\x9b2J", "\x08\x08\x08", "\r", "\u202etxt.exe", "\x1b[8m", "\x7f")


@given(st.text())
def test_text_keeps_all_but_its_controls(text: str) -> None:
    kept = printable(text)
    assert [c for c in kept if ord(c) < 32 or 127 <= ord(c) < 160] == [c for c in text if c in "\t\n"]
    assert printable(kept) == kept == "".join(c for c in text if c in kept)
    assert visible(kept) == kept


def test_scripts_that_need_joiners_keep_them() -> None:
    assert printable("می‌خواهم نه‌") == "می‌خواهم نه‌"


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_pipe_gets_no_control_characters(escape: str) -> None:
    into = io.StringIO()
    print(f"title {escape} reef", file=PlainStream(into))  # type: ignore[arg-type]
    assert not set(into.getvalue()) & {*map(chr, range(9)), "\r", "\x1b", "\x7f", "\x9b", "\u202e"}


def test_a_terminal_gets_colours_and_nothing_else() -> None:
    into = Terminal()
    stream = PlainStream(into)
    stream.write("\x1b[1;31mred\x1b[0m" + "".join(ESCAPES[:3]) + "\n")
    assert into.getvalue() == "\x1b[1;31mred\x1b[0m\\x1b]0;owned\\x07\\x1b[2J\\x9b2J\n"


@pytest.mark.parametrize("escape", ESCAPES)
def test_titles_and_anchors_have_none(escape: str) -> None:
    url = "http://h.example/"
    reader = Reader(Analyzer("en"), canonicalize=canonical_url)
    code = "".join(f"&#{ord(c)};" for c in escape)
    for spelled in (escape, code):
        body = f"<title>co{spelled}ral</title><p><a href=/x>re{spelled}ef</a>".encode()
        page = reader.read(url, body, content_type="text/html; charset=utf-8")
        for text in (page.title, page.links[0].anchor):
            assert not set(text) & {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), "\u202e"} - {" "}


def test_commands_print_through_it(capsys: pytest.CaptureFixture[str]) -> None:
    command = SimpleNamespace(exitcode=0)
    with reporting_errors(command):  # type: ignore[arg-type]
        print("a \x1b[2J title", file=sys.stdout)
        raise BadInput("topic \x1b[2J", "expected better")
    told = capsys.readouterr()
    assert told.out == "a \\x1b[2J title\n"
    assert told.err == "scrapy: topic \\x1b[2J: expected better\n"
    assert command.exitcode == 2


def test_the_log_spells_them_out() -> None:
    into = io.StringIO()
    handler = logging.StreamHandler(into)
    handler.addFilter(spell_out)
    logger = logging.Logger("test")
    logger.addHandler(handler)
    try:
        raise ValueError("bad header \x1b[2J")
    except ValueError:
        logger.error("from %s", "evil\x1b]0;x\x07", exc_info=True)
    assert "\x1b" not in into.getvalue() and "evil\\x1b]0;x\\x07" in into.getvalue()
    assert "bad header \\x1b[2J" in into.getvalue() and "Traceback" in into.getvalue()
