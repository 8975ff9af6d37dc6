"""Writes the tables of our settings in ``docs/settings.md`` from the models that define them: ``make reference``."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from crawlproject.options import Options
from crawlproject.parts.registry import settings_models

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
BEGIN, END = "## Ours\n", "\nParameters of orderings are settings too:"
_HEAD = "| setting | default | unit | meaning | source |\n| --- | --- | --- | --- | --- |\n"


def reference() -> str:
    """The tables: one of the settings that every crawl has, then one for each part."""
    parts = [f"### Part: {_part(model)}\n\n{model.__doc__}\n\n{_table(model)}" for model in settings_models()]
    return "\n".join([_table(Options), "Each [part](parts.md) has its own.\n", *parts])


def written(page: str) -> str:
    """The page with the tables filled in."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{reference()}{END}{rest.partition(END)[2]}"


def _table(model: type[Options]) -> str:
    return _HEAD + "".join(f"|{row}|\n" for row in _rows(model))


def _part(model: type[Options]) -> str:
    return model.__module__.split(".")[-2]


def _rows(model: type[Options]) -> Iterator[str]:
    """Setting, default, unit, meaning and source of each field; the last three come from the text below the field."""
    source = inspect.getsource(model)
    [definition] = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    for field, text in pairwise(definition.body):
        if isinstance(field, ast.AnnAssign) and field.value and isinstance(text, ast.Expr):
            assert isinstance(field.target, ast.Name) and isinstance(text.value, ast.Constant)
            default = " ".join((ast.get_source_segment(source, field.value) or "").split())
            said = " ".join(str(text.value.value).split())
            unit, meaning, origin = [*map(str.strip, said.split("|")), ""][:3] if "|" in said else ("", said, "")
            cells = (f"`{field.target.id.upper()}`", f"`{default}`", unit, meaning, origin)
            yield "|".join(f" {cell} " if cell else " " for cell in cells)
