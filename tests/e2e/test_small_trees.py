"""A crawl without a budget fetches every page of small sites as people upload them, and then ends."""

from __future__ import annotations

from typing import Any

import pytest
from support.crawling import crawl, history, topic_file
from support.trees import MANUAL, REFERENCE, trees, write

from crawlproject.urls.canonical import canonical_url

SITES = trees()


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The history of a crawl of all three sites, by URL."""
    folder = tmp_path_factory.mktemp("trees")
    write(SITES, folder / "web")
    topic = topic_file(folder, *(f"http://{host}/index.html" for host in SITES), keywords="tomato bed harvest")
    pauses = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0}
    done = crawl(topic, folder / "crawl", VIRTUAL_WEB=folder / "web", ordering="adaptive", **pauses)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return {line["url"]: line for line in history(folder / "crawl")}


def test_every_page_is_fetched_once_and_legible(visits: dict[str, dict[str, Any]]) -> None:
    titles = {
        canonical_url(f"http://{host}/{path}"): title
        for host, tree in SITES.items()
        for path, (title, _) in tree.items()
    }
    assert titles.keys() == visits.keys()
    assert {url: visits[url]["title"] for url in titles} == titles, "read in the encoding of its author"
    assert not {url: line["error"] for url, line in visits.items() if line["error"]}


def test_what_nobody_has_translated_is_a_copy_and_a_generated_page_is_none(visits: dict[str, dict[str, Any]]) -> None:
    copies = {url for url, line in visits.items() if line["duplicate_of"]}
    english = {
        canonical_url(f"http://{MANUAL}/{path}")
        for path, (_, body) in SITES[MANUAL].items()
        if b'lang="en"' in body and "index" not in path
    }
    assert len(english - copies) == 12, "twelve chapters have an English text"
    assert not {url for url in copies if MANUAL in url} - english
    assert not {url for url in copies if REFERENCE in url}
