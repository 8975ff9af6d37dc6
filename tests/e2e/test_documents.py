"""A crawl reads PDF, DOCX and EPUB if configured to, live, in a rehearsal and for one page; otherwise it ignores them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.crawling import ROOT, crawl, environment, history, refusals, scrapy, topic_file, topical
from support.documents import DOCX, EPUB, PDF, chapter, docx, endless, epub_files, pdf, zipped
from support.httpserver import QuietHandler, listening, local

NAMES = "html,text,pdf,docx,epub"
QUIET = {"PAGE_DUPLICATES": "off", "CRAWL_SOFT_404_PROBE": 0}
INDEX = (
    "<title>reef</title><p>coral reef <a href='/survey.pdf'>survey</a> <a href='/atlas.docx'>atlas</a>"
    " <a href='/book.epub'>book</a> <a href='/broken.pdf'>broken</a> <a href='/large.pdf'>large</a> <a href='/n.txt'>n</a>"
)


def files(origin: str) -> dict[str, tuple[str, bytes]]:
    """Path -> content type and body; each document links to another page."""
    known = {"Title": "Reef survey", "Author": "Ann Reef", "CreationDate": "D:20240309101500Z"}
    large = pdf(["A coral reef of a thousand corals", "see divers"], links=[(1, f"{origin}/from-large")])
    padding = b"%" + b"x" * 1_500_000 + b"\n"  # more than PAGE_MAX_BYTES
    found = {
        "/": ("text/html", INDEX.encode()),
        "/survey.pdf": (PDF, pdf(["Coral reef survey", "see divers"], links=[(1, f"{origin}/from-pdf")], info=known)),
        "/atlas.docx": (DOCX, docx(f"{origin}/from-docx")),
        "/book.epub": (
            EPUB,
            zipped(epub_files(chapter(f'<h1>Reefs</h1><p>coral <a href="{origin}/from-epub">x</a></p>'))),
        ),
        "/broken.pdf": (PDF, b"%PDF-1.4\ncoral reef"),
        "/large.pdf": (PDF, large.replace(b"startxref", padding + b"startxref")),
        "/n.txt": ("text/plain", b"coral reef notes"),
    }
    leaves = ("pdf", "docx", "epub", "large")
    return found | {f"/from-{leaf}": ("text/html", b"<title>x</title><p>coral reef") for leaf in leaves}


def handler(port: list[int]) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            kind, body = files(f"http://127.0.0.1:{port[0]}").get(self.path, ("text/html", b""))
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def crawled(tmp_path: Path, **settings: object) -> tuple[Path, str]:
    """Crawl the site; return the folder of the crawl and the name of the server."""
    port: list[int] = []
    folder = tmp_path / "crawl"
    with listening(handler(port)) as found:
        port.append(found)
        topic = topic_file(tmp_path, f"http://127.0.0.1:{found}/")
        done = crawl(topic, folder, **local(found), **QUIET, **settings)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return folder, f"http://127.0.0.1:{port[0]}"


def test_documents_are_pages_where_they_are_named(tmp_path: Path) -> None:
    folder, origin = crawled(tmp_path, PAGE_CONTENT_TYPES=NAMES)
    lines = {line["url"].removeprefix(origin): line for line in history(folder)}
    pages = {path for path, line in lines.items() if line["md5"]}
    assert pages == set(files(origin)) - {"/broken.pdf"}
    assert (lines["/broken.pdf"]["error"], lines["/broken.pdf"]["status"]) == ("document/broken", 200)
    assert lines["/survey.pdf"]["title"] == "Reef survey" and lines["/survey.pdf"]["relevance"] > 0
    assert lines["/from-pdf"]["parent"].endswith("/survey.pdf")
    assert lines["/survey.pdf"]["content_type"] == "text/html; charset=utf-8; source=pdf"
    stats = json.loads((folder / "crawl.json").read_text())["stats"]
    assert (stats["document/read/pdf"], stats["document/read/docx"], stats["document/broken"]) == (2, 1, 1)

    scrapy("export", folder, "--to", "jsonl", tmp_path / "items.jsonl")
    items = {item["url"].removeprefix(origin): item for item in map(json.loads, (tmp_path / "items.jsonl").open())}
    survey = items["/survey.pdf"]
    assert (survey["author"], survey["published"], survey["title"]) == ("Ann Reef", "2024-03-09", "Reef survey")
    assert "Coral reef survey" in survey["text"]
    scrapy("export", folder, "--to", "markdown", tmp_path / "markdown")
    written = {path.read_text().split("\n")[1]: path.read_text() for path in (tmp_path / "markdown").rglob("*.md")}
    atlas = next(text for url, text in written.items() if "atlas.docx" in url)
    assert "# Coral survey" in atlas and f"[atlas of reefs]({origin}/from-docx)" in atlas and "- staghorn" in atlas
    scrapy("export", folder, "--to", "chunks", tmp_path / "chunks.jsonl")
    assert "Reefs" in (tmp_path / "chunks.jsonl").read_text()
    scrapy("index", folder)
    assert "/survey.pdf" in scrapy("search", folder, "survey").stdout


def test_else_they_are_not_fetched(tmp_path: Path) -> None:
    folder, origin = crawled(tmp_path)
    assert {line["url"].removeprefix(origin) for line in history(folder)} == {"/", "/n.txt"}
    assert refusals(folder)["trap/extension"] == 5


def test_only_what_is_named_is_fetched_and_one_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    folder, origin = crawled(tmp_path, PAGE_CONTENT_TYPES="pdf", PAGE_DOCUMENT_BYTES=1_000_000)
    lines = {line["url"].removeprefix(origin): line for line in history(folder)}
    assert set(lines) >= {"/survey.pdf", "/large.pdf", "/from-pdf"} and not {"/atlas.docx", "/book.epub"} & set(lines)
    assert lines["/large.pdf"]["error"] == "document/cut"


def host_folder(tmp_path: Path) -> Path:
    for path, (_, body) in files("http://reef.example").items():
        target = tmp_path / "web" / "reef.example" / (path[1:] or "index.html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)
    return tmp_path / "web"


def test_a_folder_as_a_virtual_web_and_in_a_rehearsal(tmp_path: Path) -> None:
    web, topic = host_folder(tmp_path), topic_file(tmp_path, "http://reef.example/")
    done = crawl(topic, tmp_path / "crawl", VIRTUAL_WEB=web, PAGE_CONTENT_TYPES=NAMES, **QUIET)
    assert done.returncode == 0, done.stderr
    live = {line["url"]: (line["error"], line["title"]) for line in history(tmp_path / "crawl")}
    assert live["http://reef.example/survey.pdf"] == ("", "Reef survey")

    done = scrapy(
        "rehearse", web, topic, "--ordering", "dom", "--out", tmp_path / "runs", "--pages", "50",
        PAGE_CONTENT_TYPES=NAMES, **QUIET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").rglob("history.jsonl")
    assert {line["url"]: (line["error"], line["title"]) for line in history(run.parent)} == live


def test_one_page(tmp_path: Path) -> None:
    settings = "-s", f"VIRTUAL_WEB={host_folder(tmp_path)}", "-s", f"PAGE_CONTENT_TYPES={NAMES}"
    for path, code, said in (("survey.pdf", 0, 'author: "Ann Reef"'), ("broken.pdf", 1, "document/broken")):
        done = topical("fetch", *settings, f"http://reef.example/{path}")
        assert done.returncode == code and said in done.stdout + done.stderr, done.stderr


@pytest.mark.slow
def test_a_document_that_takes_for_ever_holds_up_no_other_host(tmp_path: Path) -> None:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            slow = self.path.endswith(".pdf")
            body = endless() if slow else b"<title>x</title><p>coral reef <a href='/a'>a</a> <a href='/b'>b</a>"
            self.send_response(404 if self.path.endswith("robots.txt") else 200)
            self.send_header("Content-Type", PDF if slow else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    folder = tmp_path / "crawl"
    with listening(Handler) as port:
        topic = topic_file(tmp_path, "http://slow.example/long.pdf", "http://quick.example/")
        done = crawl(topic, folder, port=port, PAGE_CONTENT_TYPES=NAMES, **QUIET)
    assert done.returncode == 0, done.stderr
    quick = [("http://quick.example/", ""), ("http://quick.example/a", ""), ("http://quick.example/b", "")]
    found = [(line["url"], line["error"]) for line in history(folder)]
    assert found[-1] == ("http://slow.example/long.pdf", "document/time") and sorted(found[:-1]) == quick


@pytest.mark.parametrize(("wanted", "said"), [("pdf,doc", "'doc'"), ("pdf", "pip install")])
def test_a_wrong_name_and_a_missing_package_are_told_before_the_crawl(tmp_path: Path, wanted: str, said: str) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pypdf'] = None\n")
    topic = topic_file(tmp_path, "http://reef.example/")
    command = [sys.executable, "-m", "scrapy", "crawl", "topical", "-a", f"topic={topic}", "-s", "VIRTUAL_WEB=sample"]
    command += ["-s", f"CRAWL_DIR={tmp_path / 'crawl'}", "-s", f"PAGE_CONTENT_TYPES={wanted}"]
    path = environment() | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not (tmp_path / "crawl" / "history.jsonl").exists()
