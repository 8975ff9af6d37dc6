"""Writes the table of decisions, ``docs/adr/README.md``, from the titles and states of the records: ``make reference``."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "adr" / "README.md"
_HEAD = "| decision | status |\n| --- | --- |\n"


def records() -> list[Path]:
    """The records, in order."""
    return sorted(PAGE.parent.glob("[0-9]*.md"))


def status(record: Path) -> str:
    """The text after ``Status:``, on one line."""
    found = re.search(r"^Status: (.+?)\n\n", record.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def written(page: str) -> str:
    """The page with the table at its end."""
    before, _, _ = page.partition(_HEAD)
    return (
        before + _HEAD + "".join(f"| [{_title(record)}]({record.name}) | {status(record)} |\n" for record in records())
    )


def _title(record: Path) -> str:
    return record.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
