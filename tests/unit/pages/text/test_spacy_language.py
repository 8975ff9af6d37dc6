"""Lemmas, and who pays for the import of spaCy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import catalogue
import pytest
import srsly
from support.crawling import ROOT, crawl

from crawlproject.errors import BadSetting
from crawlproject.pages.text.analyzer import Analyzer

TABLES = {
    "de": {"häuser": "haus", "Mäuse": "Maus", "gingen": "gehen"},
    "fr": {"chevaux": ["cheval", "chevau"], "aujourd'hui": ["aujourd'hui"]},
}


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of lemmas, registered as those of spacy-lookups-data are."""
    for language, table in TABLES.items():
        srsly.write_json(tmp_path / f"{language}.json", table)
        found = {"lemma_lookup": str(tmp_path / f"{language}.json")}
        monkeypatch.setitem(catalogue.REGISTRY, ("spacy", "lookups", language), found)


@pytest.mark.parametrize(
    ("language", "text", "lemmas"),
    [
        ("de", "Häuser häuser HÄUSER", ["haus"] * 3),
        ("de", "die Mäuse, mäuse gingen in Kniffel", ["maus", "maus", "gehen", "kniffel"]),
        ("fr", "les chevaux d’aujourd’hui", ["cheval", "aujourdʼhui"]),
    ],
)
def test_lemmas(tables: None, language: str, text: str, lemmas: list[str]) -> None:
    assert Analyzer(language, "lemma").terms(text) == lemmas


def test_lemmas_that_are_not_installed() -> None:
    with pytest.raises(
        BadSetting, match=r"setting TOPIC_TERMS: no table of lemmas of 'tn' .*pip install spacy-lookups"
    ):
        Analyzer("tn", "lemma")


def test_words_as_they_are() -> None:
    assert Analyzer("en", "word").terms("The crawlers' pages, crawling") == ["crawlers", "pages", "crawling"]


def test_a_crawl_compares_terms_as_the_setting_wants(tmp_path: Path) -> None:
    topic = tmp_path / "t.toml"
    topic.write_text('keywords = ["starters"]\nseeds = ["http://www.slow-loaf.example/"]\n')
    harvests = []
    for form in ("stem", "word"):
        folder = tmp_path / form
        assert crawl(topic, folder, VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=1, TOPIC_TERMS=form).returncode == 0
        harvests.append((folder / "history.jsonl").read_bytes().split(b'"relevance":')[1].split(b",")[0])
    assert float(harvests[0]) > float(harvests[1])
    refused = crawl(topic, tmp_path / "other", VIRTUAL_WEB="sample", TOPIC_TERMS="root")
    assert refused.returncode == 2 and "setting TOPIC_TERMS" in refused.stderr


IMPORTS = {
    "the commands and what a topic file needs": """
        from scrapy.utils.misc import walk_modules
        walk_modules("crawlproject.commands")
        walk_modules("crawlproject.topic")
    """,
    "a rehearsal with defaults": """
        from scrapy.cmdline import execute
        try:
            execute(["scrapy", "rehearse", "sample", "demo", "--pages", "3", "--out", sys.argv[1]])
        except SystemExit as end:
            assert not end.code
    """,
    "a search index": """
        from crawlproject.exporting.index import is_behind, update
        from crawlproject.exporting.index.store import analyzer
        analyzer("fr"), analyzer("zh")
    """,
}


@pytest.mark.parametrize("what", IMPORTS)
def test_only_those_who_use_spacy_import_it(what: str, tmp_path: Path) -> None:
    code = f"if True:\n        import sys\n{IMPORTS[what]}\n        print('spacy' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.stdout.split()[-1:] == ["False"], ran.stderr
