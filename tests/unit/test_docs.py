"""The documentation is correct: links resolve, examples work, tables match the code."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from support.crawling import ROOT
from support.markdown import (
    PAGES,
    anchors,
    doc,
    fences,
    first_cells,
    headings,
    inline_code,
    links,
    page_id,
    prose,
    rows,
    section,
)
from support.pages import a_context, a_link, a_page

from crawlproject import __version__, settings
from crawlproject.configuration import OURS, THEIRS, default_settings
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.orderings import registry
from crawlproject.parts.registry import OURS as PARTS
from crawlproject.topic.parse import load_topic, parse_topic
from crawlproject.webs.sample import SampleWeb
from scripts import decisions_reference, reference, settings_reference

every_page = pytest.mark.parametrize("page", PAGES, ids=page_id)
READ = (*OURS, *THEIRS)
DEMO = load_topic(ROOT / "topics" / "demo.toml")


# ---------------------------------------------------------------- every page


@every_page
def test_links_resolve(page: Path) -> None:
    for link in links(page.read_text()):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(target.read_text()), link


@every_page
def test_rows_have_as_many_cells_as_their_head(page: Path) -> None:
    for table in re.findall(r"(?:^\|.*\n?)+", prose(page.read_text()), re.MULTILINE):
        widths = {re.sub(r"`[^`]*`", "", line).count("|") for line in table.splitlines()}
        assert len(widths) == 1, table


@every_page
def test_toml_is_topic_files(page: Path) -> None:
    for block in fences(page.read_text(), "toml"):
        assert parse_topic(block, "topics/mine.toml").name in ("mine", "climate")


@every_page
def test_python_compiles(page: Path) -> None:
    for block in fences(page.read_text(), "python"):
        compile(block, page.name, "exec")


@every_page
def test_make_has_the_targets(page: Path) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shell = "\n".join([*fences(page.read_text(), "sh"), *inline_code(page.read_text())])
    assert set(re.findall(r"^make (\w+)", shell, re.MULTILINE)) <= targets


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen = {ROOT / "README.md"}
    waiting = list(seen)
    while waiting:
        page = waiting.pop()
        for link in links(page.read_text()):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target not in seen:
                seen.add(target)
                waiting.append(target)
    assert seen == set(PAGES)


# ---------------------------------------------------------------- README, changelog, architecture


def test_the_tree_of_the_readme_exists() -> None:
    tree = next(block for block in fences((ROOT / "README.md").read_text(), "text") if "spiders/" in block)
    named = {line.split()[0] for line in tree.splitlines()}
    assert [name for name in named if not (ROOT / name).is_dir()] == []
    packages = {f"{path.parent.name}/" for path in ROOT.glob("*/__init__.py")}
    assert packages <= named


def test_the_readme_shows_five_orderings_and_the_default() -> None:
    shown = first_cells(section((ROOT / "README.md").read_text(), "Which ordering?"))
    assert len(shown) == 5 and set(shown) <= set(registry.ORDERINGS)
    assert settings.ORDERING in shown


def test_the_changelog_has_the_version() -> None:
    cut = headings((ROOT / "CHANGELOG.md").read_text())
    assert cut[0] == "[Unreleased]" and cut[1].startswith(f"[{__version__}] - ")
    dates = [re.fullmatch(r"\[\d+\.\d+\.\d+\] - (\d{4}-\d\d-\d\d)", heading) for heading in cut[1:]]
    shown = [date and date[1] for date in dates]
    assert None not in shown and shown == sorted(shown, reverse=True)  # type: ignore[type-var]


def test_decisions_have_a_number_a_status_and_three_parts() -> None:
    pages = decisions_reference.records()
    assert [page.name[:5] for page in pages] == [f"{number:04}-" for number in range(1, len(pages) + 1)]
    for number, page in enumerate(pages, start=1):
        text = page.read_text()
        assert text.startswith(f"# {number}. ")
        assert headings(text) == ["Context", "Decision", "Consequences"]
        assert re.match(r"(proposed|accepted|superseded by \[ADR|rejected)\b", decisions_reference.status(page)), (
            page.name
        )


def test_a_decision_that_was_changed_names_its_successor_and_the_other_way_round() -> None:
    named = {
        (int(page.name[:4]), int(other))
        for page in decisions_reference.records()
        for other in re.findall(r"\]\((\d{4})-", decisions_reference.status(page))
    }
    assert len(named) > 30
    assert named == {(other, one) for one, other in named}
    for one, other in named:
        later = decisions_reference.status(decisions_reference.records()[max(one, other) - 1])
        assert re.search("Changes|Supersedes", later), later


def test_every_package_and_every_part_is_listed() -> None:
    text = doc("architecture.md")
    shown = {Path(row[0].strip("`")).stem for row in rows(section(text, "The packages"))}
    assert shown == {path.stem for path in (ROOT / "crawlproject").glob("[a-z]*") if path.name != "py.typed"} | {
        "__main__"
    }
    assert [row[0].strip("`") for row in rows(section(doc("parts.md"), "Our parts"))] == list(PARTS)


def test_files_that_the_documentation_names_exist() -> None:
    named = {(page, code) for page in PAGES for code in inline_code(page.read_text())}
    paths = {
        (page, code) for page, code in named if re.fullmatch(r"(crawlproject|benchmarks|tests|scripts)/[\w./]+", code)
    }
    assert len(paths) > 30
    written_by_the_reader = "crawlproject/orderings/host_memory.py"
    assert [
        (page.name, code) for page, code in paths if not (ROOT / code).exists() and code != written_by_the_reader
    ] == []


# ---------------------------------------------------------------- settings


def cell_value(cell: str) -> object:
    """The value in a cell of a settings table."""
    return ast.literal_eval(cell.strip("`"))


@pytest.mark.parametrize("writer", reference.WRITERS, ids=lambda writer: writer.PAGE.name)
def test_what_is_written_from_the_code_is_up_to_date(writer: ModuleType) -> None:
    page = writer.PAGE.read_text(encoding="utf-8")
    assert page == writer.written(page), "run `make reference`"


def test_every_setting_of_ours_is_explained() -> None:
    ours, _, _ = doc("settings.md").partition(settings_reference.END)
    shown = {row[0].strip("`"): cell_value(row[1]) for row in rows(ours)}
    assert shown == default_settings()
    assert all(row[3] for row in rows(ours))


def scrapy_rows() -> dict[str, list[str]]:
    table = rows(section(doc("settings.md"), "Scrapy's"))
    return {row[0].strip("`"): row for row in table if row[0].strip("`").isupper()}


def test_settings_of_scrapy_that_we_set() -> None:
    theirs = {name for name in dir(settings) if name.isupper() and not name.startswith(READ)}
    assert set(scrapy_rows()) == theirs


@pytest.mark.parametrize("name", scrapy_rows())
def test_values_of_settings_of_scrapy(name: str) -> None:
    default_settings = import_module("scrapy.settings.default_settings")
    _, here, scrapys, _ = scrapy_rows()[name]
    if here.startswith("`"):
        assert cell_value(here) == getattr(settings, name)
    if scrapys.startswith("`"):
        assert cell_value(scrapys) == getattr(default_settings, name)


def test_components_and_their_places() -> None:
    table = rows(section(doc("settings.md"), "Scrapy's"))
    shown = {row[0].strip("`"): row[1] for row in table if not row[0].strip("`").isupper()}
    components: dict[str, int | None] = {}
    for name in ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES", "EXTENSIONS"):
        components |= getattr(settings, name)
    assert shown == {path: "off" if place is None else str(place) for path, place in components.items()}


# ---------------------------------------------------------------- orderings


def test_every_ordering_has_its_section() -> None:
    assert headings(doc("orderings.md"))[: len(registry.ORDERINGS)] == list(registry.ORDERINGS)


@pytest.mark.parametrize("name", registry.ORDERINGS)
def test_parameters_of_an_ordering_and_their_defaults(name: str) -> None:
    text = section(doc("orderings.md"), name)
    parameters = text[text.index("- Parameters:") :].split("- Source:")[0].split("- Use it")[0]
    shown = {p.lower(): cell_value(value) for p, value in re.findall(r"`ORDERING_(\w+)` = `([^`]+)`", parameters)}
    assert shown == registry.parameters_of(registry.ORDERINGS[name])


def test_the_new_ordering_of_the_manual_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace: dict[str, object] = {"__name__": "host_memory"}
    exec(next(block for block in fences(doc("orderings.md"), "python") if "class HostMemory" in block), namespace)
    monkeypatch.setitem(registry.ORDERINGS, "host_memory", namespace["HostMemory"])

    ordering = registry.make_ordering("host_memory", a_context(), {"beta": "0.25"})
    page, link = a_page("http://a.example/", relevance=0.8), a_link("http://b.example/x", context_score=0.4)
    assert ordering.score(page, link) == pytest.approx(0.25 * 0.4 + 0.75 * 0.8)
    ordering.observe(a_page("http://b.example/", relevance=0.2))
    assert ordering.score(page, link) == pytest.approx(0.25 * 0.4 + 0.75 * 0.2)

    stage = Runner(SampleWeb(), lambda topic: topic.settings, pages=30, agent="tests")
    [(_, folder, crawl)] = stage.rehearse(replace(DEMO, targets=()), ["host_memory"], tmp_path)
    assert crawl is not None and crawl.stats.pages == 30
    assert json.loads((folder / "crawl.json").read_text())["parameters"] == {"beta": 0.5}
