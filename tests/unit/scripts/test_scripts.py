"""The scripts that make releases, the site, its reference and the coverage figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.crawling import ROOT

from scripts.commands_reference import written
from scripts.coverage_by_package import by_package
from scripts.decisions_reference import status
from scripts.release import obstacles

CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-26\n\n- More.\n\n## [0.1.0] - 2026-11-21\n\n- It.\n"


@pytest.mark.parametrize(
    ("version", "changelog", "changed", "tags", "today", "words"),
    [
        ("0.2.0", CHANGELOG, "", "v0.1.0\n", "2026-11-26", None),
        ("0.2.0", CHANGELOG, " M README.md\n", "v0.1.0\n", "2026-11-26", "working tree"),
        ("0.3.0", CHANGELOG, "", "v0.1.0\n", "2026-11-26", "no section [0.3.0]"),
        ("0.2.0", CHANGELOG, "", "v0.1.0\nv0.2.0\n", "2026-11-26", "tag v0.2.0 exists"),
        ("0.2.0", CHANGELOG, "", "", "2026-11-27", "is of 2026-11-26"),
        ("0.2.0", CHANGELOG.replace("d]\n", "d]\n\n- New.\n", 1), "", "", "2026-11-26", "[Unreleased]"),
    ],
)
def test_what_keeps_a_version_from_being_released(
    version: str, changelog: str, changed: str, tags: str, today: str, words: str | None
) -> None:
    found = obstacles(version, changelog, changed, tags, today)
    assert found == [] if words is None else len(found) == 1 and words in found[0]


def test_lines_are_counted_by_package() -> None:
    def measured(run: int, lines: int) -> dict[str, dict[str, int]]:
        return {"summary": {"covered_lines": run, "num_statements": lines}}

    report = {
        "crawlproject/urls/post.py": measured(8, 10),
        "crawlproject/urls/hosts.py": measured(1, 10),
        "crawlproject/parts/spam/part.py": measured(3, 4),
        "crawlproject/options.py": measured(5, 5),
        "spiders/__init__.py": measured(0, 0),
        "spiders/topical.py": measured(0, 3),
    }
    assert by_package(report) == {
        "crawlproject": (5, 5),
        "crawlproject/parts/spam": (3, 4),
        "crawlproject/urls": (9, 20),
        "spiders": (0, 3),
    }


def test_a_table_of_options_is_written_into_the_section_of_its_command() -> None:
    page = "# Commands\n\n## scrapy revisit\n\nOne round.\n\n## scrapy report\n\nNo options.\n"
    assert written(page) == page.replace(
        "One round.\n\n",
        "One round.\n\n| option | meaning |\n| --- | --- |\n"
        "| `--pages N` | fetches of the round (default: a tenth of the pages, at least 10) |\n\n",
    )
    assert written(written(page)) == written(page)
    assert written(
        page.replace("One round.", "One round.\n\n| option | meaning |\n| --- | --- |\n| `--old` | gone |")
    ) == (written(page))


def test_the_status_of_a_decision_may_take_two_lines(tmp_path: Path) -> None:
    record = tmp_path / "0001-a.md"
    record.write_text("# 1. A\n\nStatus: accepted. Changed by\n[ADR 2](0002-b.md).\n\n## Context\n\nStatus: no.\n\n")
    assert status(record) == "accepted. Changed by [ADR 2](0002-b.md)."


def test_links_that_leave_the_docs_are_turned() -> None:
    hook = pytest.importorskip("scripts.site_hook", reason="make docs installs what the site needs")
    assert (
        hook.relinked("[r](docs/a.md#b) ![p](docs/figures/p.png)", "", "index.md") == "[r](a.md#b) ![p](figures/p.png)"
    )
    text = (
        "[a](../../CONTRIBUTING.md#x) [b](../../crawlproject/options.py) [c](0002-b.md) [d](#e) [f](https://g.example/)"
    )
    assert hook.relinked(text, "docs/adr", "adr/0001-a.md") == (
        "[a](../contributing.md#x) b [c](0002-b.md) [d](#e) [f](https://g.example/)"
    )
    assert "[b](https://h.example/r/blob/main/crawlproject/options.py)" in hook.relinked(
        text, "docs/adr", "adr/0001-a.md", "https://h.example/r"
    )
    assert hook.relinked("```\n[a](b)\n```", "docs/adr", "adr/0001-a.md") == "```\n[a](b)\n```"


def test_a_notebook_is_shown_with_its_output() -> None:
    hook = pytest.importorskip("scripts.site_hook", reason="make docs installs what the site needs")
    cells = [
        {"cell_type": "markdown", "source": ["# A\n", "b"]},
        {"cell_type": "code", "source": ["1 + 1"], "outputs": [{"data": {"text/plain": ["2"]}}]},
    ]
    assert hook.rendered({"cells": cells}) == "# A\nb\n\n```python\n1 + 1\n```\n\n```text\n2\n```\n"


def test_every_page_is_in_the_contents_of_the_site() -> None:
    contents = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    listed = set(re.findall(r"([\w/.-]+\.md)$", contents, re.MULTILINE))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not page.startswith("adr/0")} <= listed


def test_the_workflows_call_targets_of_make() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    workflows = "".join(path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    called = set(re.findall(r"run: make (\w+)", workflows))
    assert {"lint", "test", "lowest", "extras", "docs"} <= called <= targets
