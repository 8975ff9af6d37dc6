"""`scrapy why` on crawl folders: it reports what happened to a URL, in every case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.crawling import crawl, history, scrapy, topic_file


def text_of(page: int) -> str:
    """A different text for each page, so that no page is a copy of another."""
    return "coral reef " + " ".join(f"word{page}x{number}" for number in range(90))


@pytest.fixture(scope="module")
def web(tmp_path_factory) -> Path:
    """One host: a seed with good and bad links, a forbidden page, one that moved, a copy, and the link targets of copies."""
    root = tmp_path_factory.mktemp("web")
    host = root / "web" / "reef.example"
    host.mkdir(parents=True)
    (host / "robots.txt").write_text("User-agent: *\nDisallow: /private\nCrawl-delay: 0.05\n")
    good = "".join(f"<p>coral reef <a href='/good{number}.html'>coral reef</a></p>" for number in range(3))
    poor = "".join(f"<p><a href='/poor{number}.html'>weather {number}</a></p>" for number in range(40))
    others = "".join(
        f"<p>coral reef <a href='{link}'>coral reef</a></p>"
        for link in ("/private/x.html", "/copy.html", "/" + "long" * 80, "/a/a/a/a", "http://elsewhere.example/")
    )
    (host / "index.html").write_text(f"<title>Seed</title><body>{good}{others}{poor}")
    for number in range(3):
        (host / f"good{number}.html").write_text(
            f"<title>Good {number}</title><p>{text_of(number)} " + f"<a href='/next{number}.html'>coral</a>"
        )
    (host / "copy.html").write_text(f"<title>Copy</title><p>{text_of(0)} <a href='/next0.html'>coral</a>")
    for number in range(40):
        (host / f"poor{number}.html").write_text(f"<title>Poor {number}</title><p>weather {number}")
    return root


def crawled(web: Path, name: str, code: int = 0, **settings: object) -> Path:
    topic = topic_file(web, "http://reef.example/")
    run = crawl(topic, web / name, VIRTUAL_WEB=web / "web", **{"ordering": "best_first", **settings})
    assert run.returncode == code, run.stderr
    return web / name


def why(folder: Path, path: str) -> str:
    answer = scrapy("why", folder, path if "://" in path else f"http://reef.example{path}")
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_refused_by_a_rule_also_without_a_sample(web: Path) -> None:
    folder = crawled(web, "refused", CRAWL_MAX_PAGES=6, CRAWL_SITE_BUDGET=0, CRAWL_ALLOWED_DOMAINS="reef.example")
    assert "Refused (robots/forbidden): robots.txt forbids it." in why(folder, "/private/x.html")
    refused = json.loads((folder / "refused.json").read_text())
    (folder / "refused.json").write_text(json.dumps({**refused, "samples": {}}))
    assert "the trap rule too_long refuses it (trap/too_long" in why(folder, "/" + "long" * 80)
    assert "the trap rule repeated_segments refuses it" in why(folder, "/a/a/a/a")
    assert "its host is outside CRAWL_ALLOWED_DOMAINS (scope/domain" in why(folder, "http://elsewhere.example/")
    told = why(folder, "/private/x.html")
    assert "Neither fetched nor waiting" in told and "forbids it (robots/forbidden" in told
    assert "Never seen" in why(folder, "/nobody-links-here")
    assert "Waits with score" in why(folder, "/poor7.html")


def test_a_seed_that_may_not_enter(web: Path) -> None:
    folder = crawled(web, "outside", code=2, CRAWL_ALLOWED_DOMAINS="other.example")
    assert "Refused (scope/domain): outside CRAWL_ALLOWED_DOMAINS." in why(folder, "/")
    (folder / "refused.json").unlink()
    told = why(folder, "/")
    assert "It is a seed, and was not fetched." in told and "scope/domain" in told


def test_dropped_because_the_frontier_was_full(web: Path) -> None:
    folder = crawled(web, "full", CRAWL_MAX_PAGES=3, FRONTIER_MAX_URLS=10)
    known = {line["url"] for line in history(folder)}
    left = [f"/poor{number}.html" for number in range(40) if f"http://reef.example/poor{number}.html" not in known]
    told = [why(folder, path) for path in (left[0], left[-1])]
    assert all("frontier was full of URLs with higher scores" in text or "Waits" in text for text in told)
    assert any("frontier was full of URLs with higher scores" in text for text in told)


def test_not_wanted_by_the_ordering(web: Path) -> None:
    folder = crawled(web, "fish", ordering="fish_search", ORDERING_DEPTH=0, ORDERING_THRESHOLD=0.9)
    assert json.loads((folder / "refused.json").read_text())["counts"]["ordering/not_followed"]
    assert "does not follow the links to it (ordering/not_followed" in why(folder, "/good2.html")


def test_below_the_floor(tmp_path: Path) -> None:
    """No link is put aside: URLs that ``adaptive`` scores low wait in the frontier."""
    topic = topic_file(tmp_path, "http://www.lagoon-notes.example/", "http://www.hobby-ring.example/")
    settings = {"VIRTUAL_WEB": "sample", "CRAWL_MAX_PAGES": 60, "ORDERING_ACTIVE": 10}
    folder = tmp_path / "floor"
    assert crawl(topic, folder, ordering="adaptive", **settings).returncode == 0
    waiting = json.loads(scrapy("frontier", "peek", folder, "--json", "--top", 999).stdout)
    assert len(waiting) > 10
    assert "Waits with score" in why(folder, waiting[-1]["url"])


def test_duplicates_name_each_other(web: Path) -> None:
    folder = crawled(web, "copies")
    copies = [line for line in history(folder) if line["duplicate_of"]]
    assert copies
    copy = copies[0]
    assert copy["replaces"] == copy["duplicate_of"], "the copy with the shorter URL is kept"
    assert f"It has the text of {copy['replaces']}, in whose place the collection keeps it" in why(folder, copy["url"])
    told = why(folder, copy["replaces"])
    assert f"a better copy in its place: {copy['url']}" in told and "1 duplicate of it" in told
    assert "Crawl-delay" in why(folder, "/good1.html")
