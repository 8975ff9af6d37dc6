"""Lemmas, and the cases in which spaCy is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import catalogue
import pytest
import srsly
from support.crawling import ROOT
from support.webs import DictWeb, page

from crawlproject.configuration import read_options
from crawlproject.errors import BadSetting
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import Topic
from crawlproject.storage.append_log import read_lines

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
    web = DictWeb(dict([page("http://a.example/", text="a starter and his starters")]))
    topic = Topic("t", ("starter",), ("http://a.example/",))
    relevance = {}
    for form in ("stem", "word"):
        runner = Runner(web, lambda _, form=form: {"TOPIC_TERMS": form}, pages=1, agent="")
        [_] = runner.rehearse(topic, ["dom"], tmp_path / form)
        relevance[form] = next(read_lines(tmp_path / form / "t" / "dom" / "history.jsonl"))["relevance"]
    assert relevance == {"stem": 1.0, "word": pytest.approx(0.5**0.5)}
    with pytest.raises(BadSetting, match=r"TOPIC_TERMS.*'stem', 'lemma' or 'word'"):
        read_options({"TOPIC_TERMS": "root"})


IMPORTS = {
    "the commands and what a topic file needs": """
        from scrapy.utils.misc import walk_modules
        walk_modules("crawlproject.commands")
        walk_modules("crawlproject.topic")
    """,
    "a crawl with defaults": """
        from pathlib import Path
        from crawlproject.assembly import assemble
        from crawlproject.configuration import read_options
        from crawlproject.topic.folder import find_topic
        crawl = assemble(find_topic("demo"), read_options({}), clock=lambda: 0.0, folder=Path(sys.argv[1]))
        assert crawl.ordering.context.judge.similarity("O'Neill's coral reef")
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
