"""Conversion of public sources to webs and topics, on tiny sources of the same layout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.crawling import ROOT

from benchmarks.public_webs import read
from crawlproject.topic.parse import load_topic
from crawlproject.webs.open import open_web

HEADER = "MIME-Version: 1.0\nServer: CERN/3.0\nContent-Type: text/html\n\n"
COURSE = "<title>CS 1</title>homework lecture"
FILES = {
    "course/cornell/http:^^www.CS.cornell.edu^cs1^": COURSE + '<a href="http://cs.cornell.edu/~ann">Ann</a>',
    "course/cornell/http:^^www.cs.cornell.edu^cs2^index.html": COURSE + '<a href="../cs1/index.html#top">CS 1</a>',
    "course/misc/http:^^cs.misc.edu^cs3.html": COURSE,
    "course/misc/http:^^cs.misc.edu^cs4.html": COURSE,
    "faculty/cornell/http:^^www.cs.cornell.edu^~ann^": "Ann <a href='/cs2/'>CS 2</a> <a href='/gone'>gone</a>",
    "other/misc/http:^^cs.misc.edu^": "<a href='http://www.cs.cornell.edu/~ann/'>Ann</a> <a href='http://[bad'>x</a>",
}


def run(*arguments: object, fails: bool = False) -> str:
    command = [sys.executable, "-m", "benchmarks.public_webs", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert bool(done.returncode) == fails, done.stderr
    return done.stderr if fails else done.stdout


@pytest.fixture
def webkb(tmp_path: Path) -> Path:
    for name, body in FILES.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + body)
    return tmp_path / "source"


def test_the_archive_of_webkb(webkb: Path, tmp_path: Path) -> None:
    out = tmp_path / "web.warc.gz"
    assert run("webkb", webkb, out) == f"{out}: 6 pages, 3 redirects\n"
    pages, moved = read(out)
    assert [page.url for page in pages][:2] == [
        "http://www.cs.cornell.edu/cs1/",
        "http://www.cs.cornell.edu/cs2/index.html",
    ]
    assert moved == {
        "http://cs.cornell.edu/~ann": "http://www.cs.cornell.edu/~ann/",
        "http://www.cs.cornell.edu/cs1/index.html": "http://www.cs.cornell.edu/cs1/",
        "http://www.cs.cornell.edu/cs2/": "http://www.cs.cornell.edu/cs2/index.html",
    }
    web = open_web(str(out), cache_dir=tmp_path / "cache")
    reply = web.get("http://www.cs.cornell.edu/cs1/")
    assert reply.status == 200 and reply.body.startswith(b"<title>CS 1")
    web.close()
    assert "http://cs.misc.edu/cs3.html\tcourse\n" in (tmp_path / "labels.tsv").read_text()
    assert "expected files CLASS/UNIVERSITY" in run("webkb", tmp_path / "cache", out, fails=True)


def test_topics_by_class_and_by_terms(webkb: Path, tmp_path: Path) -> None:
    out = tmp_path / "web.warc.gz"
    run("webkb", webkb, out)
    facts = 'keywords = ["homework"]\ndescription = "lecture"\n'
    (tmp_path / "gold.toml").write_text(f'name = "gold"\nclass = "course"\n{facts}')
    (tmp_path / "silver.toml").write_text(f'name = "silver"\nthreshold = 0.9\n{facts}')
    courses = {
        "http://www.cs.cornell.edu/cs1/",
        "http://www.cs.cornell.edu/cs2/",
        "http://cs.misc.edu/cs3.html",
        "http://cs.misc.edu/cs4.html",
    }
    written = run("topics", out, tmp_path / "gold.toml", tmp_path / "silver.toml", "--out", tmp_path / "topics")
    # Only two pages off the topic are near it, too few for seeds.
    assert [Path(line).name for line in written.splitlines()] == ["gold.toml", "silver.toml"]
    for name in ("gold", "silver"):
        topic = load_topic(tmp_path / "topics" / f"{name}.toml")
        assert topic.name == name and len(topic.seeds) == 3
        assert {*topic.seeds, *topic.targets} == courses and not {*topic.seeds} & {*topic.targets}
    (tmp_path / "none.toml").write_text(f'name = "none"\nclass = "student"\n{facts}')
    assert "none.toml: expected more than 3 pages on the topic, found 0" in run(
        "topics", out, tmp_path / "none.toml", fails=True
    )


def test_built_sites_at_a_commit(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    author = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for who in ("AUTHOR", "COMMITTER"):
        author |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@a.example", f"GIT_{who}_DATE": "1700000000 +0000"}

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True, text=True, env=author)
        return done.stdout.strip()

    (clone / "docs" / "news").mkdir(parents=True)
    git("init", "-q")
    (clone / "docs" / "index.html").write_text("<script>x()</script><style>p{}</style><p><a href='news'>News</a>")
    (clone / "docs" / "news" / "index.html").write_text("<a href='http://www.s.example/t/index.html'>Home</a>")
    (clone / "docs" / "data.json").write_text("{}")
    git("add", ".")
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD")
    (clone / "docs" / "later.html").write_text("later")
    git("add", ".")
    git("commit", "-qm", "two")
    (tmp_path / "sites.tsv").write_text(f"# URL, clone, commit, folder\nhttps://s.example/t/\tclone\t{commit}\tdocs\n")
    out = tmp_path / "web.warc.gz"
    assert run("pages", tmp_path / "sites.tsv", out) == f"{out}: 2 pages, 2 redirects\n"
    pages, moved = read(out)
    assert {page.url: page.date for page in pages} == dict.fromkeys(
        ["https://s.example/t/", "https://s.example/t/news/"], "2023-11-14T22:13:20Z"
    )
    assert b"script" not in pages[0].body and b"style" not in pages[0].body and b"News" in pages[0].body
    assert moved == {
        "http://www.s.example/t/index.html": "https://s.example/t/",
        "https://s.example/t/news": "https://s.example/t/news/",
    }
    (tmp_path / "sites.tsv").write_text("https://s.example/\tclone\tnone\tdocs\n")
    assert "sites.tsv, line 1: expected URL, clone, commit and folder" in run(
        "pages", tmp_path / "sites.tsv", out, fails=True
    )
