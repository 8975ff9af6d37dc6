"""``topical fetch``: one page for a person or a script."""

from __future__ import annotations

import json
import subprocess

from support.crawling import topical

URL = "http://www.lagoon-notes.example/"
SAMPLE = ("-s", "VIRTUAL_WEB=sample")


def fetch(*arguments: str) -> subprocess.CompletedProcess[str]:
    return topical("fetch", *SAMPLE, *arguments)


def test_a_page_is_markdown_behind_what_is_known_of_it() -> None:
    done = fetch(URL)
    assert done.returncode == 0 and done.stderr == ""
    head, _, text = done.stdout.removeprefix("---\n").partition("---\n")
    assert f'url: "{URL}"' in head and "status: 200" in head and "relevance" not in head
    assert text.startswith("# Lagoon Notebook\n") and "](http://www.bleachwatch.example/)" in text


def test_with_a_topic_it_says_what_page_and_links_are_worth() -> None:
    page = json.loads(fetch("--topic", "demo", "--json", URL).stdout)
    scores = {link["url"]: link["context_score"] for link in page["links"]}
    assert 0 < page["relevance"] <= 1 and page["markdown"].startswith("# Lagoon Notebook")
    assert scores["http://www.bleachwatch.example/"] > scores["http://www.first-page.example/"]


def test_what_is_no_page_says_why() -> None:
    for url, code, why in (
        (f"{URL}none", 1, "404"),
        ("http://www.not-there.example/", 1, "no page"),
        ("ftp://a/", 2, "http"),
    ):
        done = fetch(url)
        assert (done.returncode, done.stdout) == (code, "") and why in done.stderr, done.stderr
