"""Changes as text and as a feed: both stay well-formed, whatever a page contains."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.invoking import Terminal

from crawlproject.errors import BadInput
from crawlproject.pages.text.printable import PlainStream
from crawlproject.records import CHANGED, GONE
from crawlproject.reports.changes import NEW, Changes, atom_feed, print_changes, select_changes
from crawlproject.reports.console import in_words, read_moment
from crawlproject.storage.logs import RETIRED, PageChange, PageChangeLog
from crawlproject.storage.read import CrawlInfo

ATOM = "{http://www.w3.org/2005/Atom}"
INFO = CrawlInfo("reef", seeds=("http://a.example/",), started=1_700_000_000.0)
NOW = 1_700_000_000.0
texts = st.text(max_size=300)
changes = st.builds(
    PageChange,
    url=st.sampled_from(["http://a.example/x?a=1&b=<2>", "http://[::1]/", 'http://un_der.example:8000/"q']),
    change=st.sampled_from([NEW, CHANGED, GONE]),
    at=st.floats(0, 4e9),
    since=st.just(0.0),
    number=st.integers(1, 9),
    version=st.integers(1, 9),
    title=texts,
    target=st.sampled_from(["", "http://b.example/&"]),
    added=st.lists(texts, max_size=6).map(tuple),
    removed=st.lists(texts, max_size=6).map(tuple),
)


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.append(tag)


@given(st.lists(changes, max_size=5))
def test_a_feed_has_what_rfc_4287_asks_for(found: list[PageChange]) -> None:
    root = ElementTree.fromstring(atom_feed(found, INFO))
    assert root.tag == f"{ATOM}feed" and root.findtext(f"{ATOM}author/{ATOM}name")
    entries = root.findall(f"{ATOM}entry")
    assert len(entries) == len(found)
    for element in (root, *entries):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1
        updated = element.findtext(f"{ATOM}updated") or ""
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", updated)
        # RFC 4151: taggingEntity ":" specific, with characters of URIs only
        tag = element.findtext(f"{ATOM}id") or ""
        assert re.fullmatch(r"tag:[a-z0-9]([a-z0-9.-]*[a-z0-9])?,\d{4}-\d\d-\d\d:[a-z0-9/]+", tag)
    for entry, change in zip(entries, sorted(found, key=lambda change: -change.at), strict=True):
        (link,) = entry.findall(f"{ATOM}link")
        assert link.attrib == {"rel": "alternate", "href": change.target or change.url}
        content = entry.find(f"{ATOM}content")
        assert content is not None and content.attrib == {"type": "html"}
        parser = Elements()
        parser.feed(content.text or "")
        seen = parser.names
        assert set(seen) <= {"p", "a", "br", "ins", "del"}, "no markup of the page"
        assert seen.count("ins") == len(change.added) and seen.count("del") == len(change.removed)


@given(st.lists(changes, max_size=3))
def test_text_fits_80_columns_and_steers_no_terminal(found: list[PageChange]) -> None:
    ascii_only = [
        PageChange(c.url, c.change, c.at, 0.0, 1, 1, title="word " * 40, added=("long " * 50, *c.added)) for c in found
    ]
    terminal = Terminal()
    print_changes(Changes(tuple(ascii_only), True), "reef", None, PlainStream(terminal))  # type: ignore[arg-type]
    shown = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    plain = [line for line in shown.split("\n") if line.isascii() and "\\" not in line]
    assert max(map(len, plain), default=0) <= 80


def test_changes_of_a_folder(tmp_path: Path) -> None:
    """The changes after the first harvest, each once, with a title; copies are not new."""

    def line(n: int, at: float, **fields: object) -> str:
        common = {"url": f"http://a.example/{n}", "status": 200, "at": NOW + at, "md5": "0" * 32, "title": f"Page {n}"}
        return json.dumps({**common, **fields}) + "\n"

    (tmp_path / "history.jsonl").write_text(
        line(1, 0)
        + line(2, 1)
        + line(1, 10, number=2, change="same", md5="", title="")
        + line(3, 11)
        + line(4, 12, duplicate_of="http://a.example/3")
        + line(5, 13, md5="", error="http 404")
    )
    log = PageChangeLog(tmp_path)
    for at in (14.0, 15.0):  # the crawl was killed between the two
        log.append(PageChange("http://a.example/2", GONE, NOW + at, NOW + 1, 3, 1))
    log.append(PageChange("http://a.example/1", RETIRED, NOW + 16, NOW + 10, 2, 1))
    log.close()
    found = select_changes(tmp_path)
    assert found.revisited
    assert [(c.url[-1], c.change, c.at - NOW, c.title) for c in found.found] == [
        ("3", NEW, 11.0, "Page 3"),
        ("2", GONE, 15.0, "Page 2"),
        ("1", RETIRED, 16.0, "Page 1"),
    ]
    assert (found.stored, found.copies, found.passing) == (2, 1, 0)
    assert [c.url[-1] for c in select_changes(tmp_path, harvest=1).of(NEW)] == ["3", "2"], "a harvest of one page"
    assert [c.change for c in select_changes(tmp_path, NOW + 14.5).found] == [GONE, RETIRED]
    assert [c.url[-1] for c in select_changes(tmp_path, NOW).of(NEW)] == ["3", "2"]
    assert not select_changes(tmp_path, NOW).of(RETIRED), "it came and went"
    assert (select_changes(tmp_path, NOW).stored, select_changes(tmp_path, NOW).passing) == (4, 1)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("7d", NOW - 604_800),
        ("1.5h", NOW - 5400),
        ("2023-11-14", 1_699_920_000),
        ("2023-11-14T01:00+01:00", 1_699_920_000),
    ],
)
def test_times(text: str, at: float) -> None:
    assert read_moment(text, NOW) == at


def test_a_time_that_is_none_is_named() -> None:
    for text in ("", "7", "yesterday", "7y", "2023-13-01", "99999999d", f"{'9' * 400}w"):
        with pytest.raises(BadInput, match="expected a date"):
            read_moment(text, NOW)


def test_spans_in_words() -> None:
    assert [in_words(s) for s in (0, 1, 59, 90, 3600, 86_399, 200_000)] == [
        "0 seconds", "1 second", "59 seconds", "2 minutes", "1 hour", "24 hours", "2 days"
    ]  # fmt: skip
