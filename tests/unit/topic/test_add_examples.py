"""The examples of a topic file are written into its text; nothing else changes."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadTopic
from crawlproject.topic.edits import with_examples

HEAD = '# mine\nkeywords = ["reef"]  # all\nseeds = ["http://a.example/"]\n'
BOTH = {"positive": ("mine.examples/relevant", True), "negative": ("mine.examples/not-relevant", True)}
NONE = {key: (entry, False) for key, (entry, _) in BOTH.items()}
TAILS = [
    "",
    "\n[crawl]\nORDERING = 'dom'\n",
    "[examples]\n",
    "[examples] # of mine\npositive = []\n\n[crawl]\nORDERING = 'dom'",
    '[crawl]\nORDERING = "dom"\n[examples]\nnegative = [ # those\n  "x.html",\n]\npositive = ["y.html"]',
]


@pytest.mark.parametrize("tail", TAILS)
def test_entries_are_added_and_taken_away(tail: str) -> None:
    before = tomllib.loads(HEAD + tail)
    text = with_examples(HEAD + tail, "mine.toml", BOTH)
    said = tomllib.loads(text)
    for key, (entry, _) in BOTH.items():
        assert said["examples"][key] == [entry, *before.get("examples", {}).get(key, [])]
    assert {**said, "examples": 0} == {**before, "examples": 0}
    assert (
        text.startswith(HEAD.rstrip())
        and [line for line in text.splitlines() if "#" in line]
        == [line for line in (HEAD + tail).splitlines() if "#" in line]
    ) or "# those" in text
    assert with_examples(text, "mine.toml", BOTH) == text
    gone = tomllib.loads(with_examples(text, "mine.toml", NONE))
    assert {key: value for key, value in gone.get("examples", {}).items() if value} == {
        key: value for key, value in before.get("examples", {}).items() if value
    }


def test_windows_line_ends_stay() -> None:
    text = with_examples(HEAD.replace("\n", "\r\n"), "mine.toml", BOTH)
    assert "\n" not in text.replace("\r\n", "")


@pytest.mark.parametrize("tail", ["examples = {positive = []}\n", "examples.positive = ['x.html']\n"])
def test_what_cannot_be_edited_is_said(tail: str) -> None:
    with pytest.raises(BadTopic, match=r"mine.toml: examples: .* write by hand: positive with mine.examples/relevant"):
        with_examples(HEAD + tail, "mine.toml", BOTH)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=9), max_size=3), st.booleans())
def test_any_entries_survive(entries: list[str], wanted: bool) -> None:
    import json

    text = HEAD + f"[examples]\npositive = {json.dumps(entries, ensure_ascii=False)}\n"
    said = tomllib.loads(with_examples(text, "mine.toml", {"positive": ("mine.examples/relevant", wanted)}))
    assert said["examples"]["positive"] == [*(["mine.examples/relevant"] if wanted else []), *entries]
