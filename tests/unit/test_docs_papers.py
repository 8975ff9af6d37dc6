"""docs/papers.md: each module, name and test that it cites for a clause of a paper exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from support.crawling import ROOT
from support.markdown import doc

_ROW = re.compile(r"^\| (?P<clause>[^|]+) \| (?P<where>[^|]+) \| (?P<how>[^|]+) \| (?P<test>[^|]+) \|$", re.MULTILINE)
CLAUSES = [match for match in _ROW.finditer(doc("papers.md")) if match["clause"][0].isdigit()]
clauses = pytest.mark.parametrize("row", CLAUSES, ids=lambda row: row["clause"][:40])


@cache
def names_in(path: Path) -> set[str]:
    """Classes and functions of a module, including tests in classes."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}


def exists(cell: str, below: Path) -> bool:
    place, _, name = cell.strip("` ").partition("::")
    path = below / place
    return path.exists() and (not name or name in names_in(path))


def test_every_paper_has_its_clauses() -> None:
    assert len(CLAUSES) > 80
    assert not exists("orderings/best_first.py::NoSuchOrdering", ROOT / "crawlproject")
    assert not exists("unit/no_such_file.py", ROOT / "tests")


@clauses
def test_what_a_row_names_exists(row: re.Match[str]) -> None:
    is_there = not row["how"].startswith("not") and "measured" not in row["how"]
    assert (row["where"] != "–") == (row["test"] != "–") == is_there, row[0]
    if is_there:
        assert exists(row["where"], ROOT / "crawlproject"), row["where"]
        assert exists(row["test"], ROOT / "tests"), row["test"]


@clauses
def test_a_row_says_how_true_it_is(row: re.Match[str]) -> None:
    assert re.match(r"exact|variant|not|ours|\[measured\]", row["how"]), row["how"]
