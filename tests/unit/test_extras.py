"""Packages that a default install lacks: the messages about them, and the agreement of table, metadata and lock file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.crawling import ROOT
from support.invoking import invoke

from crawlproject.commands.index import IndexCommand
from crawlproject.configuration import read_options
from crawlproject.errors import BadInput, MissingExtra
from crawlproject.extras import EXTRAS, named, need
from crawlproject.frontier.factory import join_frontier
from crawlproject.orderings.registry import ORDERINGS, make_ordering
from crawlproject.pages.text import stop_word_lists
from crawlproject.pages.text.languages import tokenizer
from crawlproject.urls.canonical import make_canonicalizer

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DECLARED = PROJECT["project"]["optional-dependencies"]
CHECKOUT = re.search(r"^EXTRAS\s*:= (.*)$", (ROOT / "Makefile").read_text(), re.M)[1].split()  # type: ignore[index]


def absent(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


def pins(name: str) -> dict[str, str]:
    """The versions in a lock file, by package."""
    found = re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / name).read_text(), re.M)
    return {canonicalize_name(package): version for package, version in found}


def test_the_table_of_extras_is_that_of_the_metadata() -> None:
    declared = {
        extra: {Requirement(line).name for line in lines} for extra, lines in DECLARED.items() if extra != "all"
    }
    assert {extra: set(packages.values()) for extra, packages in EXTRAS.items()} == declared
    (everything,) = DECLARED["all"]
    assert Requirement(everything).extras == set(EXTRAS)


def test_packages_are_imported_by_the_names_of_the_table() -> None:
    distributions = packages_distributions()
    for packages in EXTRAS.values():
        for module, package in packages.items():
            assert canonicalize_name(package) in map(canonicalize_name, distributions[module])


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", "requirements-build.txt"])
def test_each_package_of_a_lock_has_hashes_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text()
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.M).strip())
    names = {entry.partition("==")[0] for entry in entries}  # some have one version per Python
    assert names == pins(name).keys() and all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text and "--index" not in text and "--find" not in text


def test_the_lock_pins_what_the_metadata_asks_for() -> None:
    wanted = [*PROJECT["project"]["dependencies"], *(line for extra in CHECKOUT for line in DECLARED[extra])]
    tests = [*wanted, *PROJECT["dependency-groups"]["dev"]]
    everywhere = pins("requirements.txt") | pins("requirements-dev.txt")
    for lines, found in ((wanted, pins("requirements.txt")), (tests, everywhere)):
        for requirement in map(Requirement, lines):
            assert requirement.specifier.contains(found[canonicalize_name(requirement.name)]), requirement
    shared = pins("requirements.txt").keys() & pins("requirements-dev.txt").keys()
    assert all(pins("requirements.txt")[name] == pins("requirements-dev.txt")[name] for name in shared)


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "crawlproject").rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_need(monkeypatch: pytest.MonkeyPatch) -> None:
    need("this", "search")
    absent(monkeypatch, "polars")
    need("this", "frames", "pandas")
    with pytest.raises(MissingExtra, match=r'^this needs polars: pip install "topical-crawler\[frames\]"$'):
        need("this", "frames")


def test_a_failed_import_is_named_if_an_extra_has_the_package() -> None:
    failure = ModuleNotFoundError(name="sklearn.naive_bayes")
    assert str(named(failure, "it")) == 'it needs scikit-learn: pip install "topical-crawler[learn]"'
    other = ModuleNotFoundError(name="sqlite3")
    assert named(other, "it") is other


def test_a_command_without_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("crawlproject.exporting.index")]:
        monkeypatch.delitem(sys.modules, name)
    absent(monkeypatch, "tantivy")
    assert invoke(IndexCommand(), tmp_path) == 2
    assert 'scrapy index needs tantivy: pip install "topical-crawler[search]"' in capsys.readouterr().err


def test_settings_without_their_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "redis", "spacy")
    with pytest.raises(MissingExtra, match=r"FRONTIER=redis needs redis"):
        join_frontier(read_options({"FRONTIER": "redis"}), "name", tmp_path, clock=lambda: 0.0)
    with pytest.raises(MissingExtra, match=r"the language 'fr' needs spacy: .*\[nlp\]"):
        tokenizer("fr")


@pytest.mark.parametrize("name", sorted(name for name, ordering in ORDERINGS.items() if ordering.needs_extra))
def test_orderings_without_their_packages(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "scipy")
    with pytest.raises(BadInput, match=rf"ordering {name} needs scipy"):
        make_ordering(name, None, {})  # type: ignore[arg-type]


def test_the_copy_of_the_stop_words_is_the_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = {language: set(stop_word_lists.words(language)) for language in stop_word_lists.languages()}
    copy = json.loads(stop_word_lists.as_json() or b"")
    assert {language: set(words) for language, words in copy["lists"].items()} == original and len(original) > 50
    assert "Permission is hereby granted" in copy["licence"]


def test_a_copy_of_the_stop_words_does_without_spacy(tmp_path: Path) -> None:
    for name in ("__init__.py", "stop_word_lists.py"):
        (tmp_path / name).write_bytes((ROOT / "crawlproject/pages/text" / name).read_bytes())
    (tmp_path / stop_word_lists.COPY).write_bytes(stop_word_lists.as_json() or b"")
    code = "import sys; sys.modules['spacy'] = None; import stop_word_lists as l; print(len(l.languages()), len(l.words('en')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    languages, words = map(int, done.stdout.split())
    assert (languages, words) == (len(stop_word_lists.languages()), len(set(stop_word_lists.words("en"))))


def test_the_add_on_loads_the_frontier_and_little_else() -> None:
    code = (
        "import sys; from crawlproject.addon import FrontierAddon; "
        "print(*[name for name in sys.modules if name.startswith('crawlproject')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    core = [name for name in loaded if not name.startswith("crawlproject.parts.")]
    assert len(core) <= 80  # 76; it loads only the settings of parts
    unwanted = {"pages", "orderings", "webs", "topic", "reports", "http"}
    assert not {name.split(".")[1] for name in loaded if "." in name} & unwanted
    assert make_canonicalizer.__module__ in loaded
