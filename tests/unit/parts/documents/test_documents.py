"""Documents become HTML whose text, title, author, date and links are read as usual; hostile documents give a reason."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.documents import DOCX, EPUB, PDF, chapter, docx, endless, epub_files, pdf, pdf_of, stream, zipped

from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.parts.documents.opener import Opener
from crawlproject.parts.documents.read_pdf import paragraphs
from crawlproject.records import Page, Reply
from crawlproject.urls.canonical import canonical_url

URL = "http://reef.example/files/Reef%20report.pdf"
READER = Reader(Analyzer("en"), canonicalize=canonical_url)


@pytest.fixture(scope="module")
def opener() -> Iterator[Opener]:
    found = Opener([PDF, DOCX, EPUB], longest=4_000_000, most=1_000_000)
    yield found
    found.close()


def opened(opener: Opener, body: bytes, kind: str = PDF, **known: object) -> Reply:
    return opener.opened(Reply(URL, 200, {"content-type": kind}, body), **known)


def read(opener: Opener, body: bytes, kind: str = PDF) -> Page:
    reply = opened(opener, body, kind)
    assert reply.unread == ""
    return READER.read(URL, reply.body, content_type=reply.headers["content-type"])


def test_a_pdf(opener: Opener) -> None:
    known = {"Title": "Reefs of 2024", "Author": "Ann Reef; Bo Kelp", "CreationDate": "D:20240309101500Z"}
    body = pdf(
        ["The coral reefs of the northern coast were exam-", "ined by divers of the institute for three years."],
        ["Second page"],
        links=[(1, "http://divers.example/log"), (0, "javascript:alert(1)")],
        info=known,
        lang="en-US",
    )
    page = read(opener, body)
    said = (page.title, page.author, page.published, page.language)
    assert said == ("Reefs of 2024", "Ann Reef, Bo Kelp", "2024-03-09", "en")
    assert "northern coast were examined by divers" in page.text and "Second page" in page.text
    assert [link.url for link in page.links] == ["http://divers.example/log"]


def test_the_words_below_the_area_of_a_link_are_its_anchor(opener: Opener) -> None:
    page = read(opener, pdf(["Reefs.", "Log of the divers", "See divers.example/2"], links=[
        (1, "http://divers.example/log"), (2, "https://divers.example/2"),
    ]))  # fmt: skip
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://divers.example/log", "Log of the divers"),
        ("https://divers.example/2", "See divers.example/2"),
    ]


@pytest.mark.parametrize(
    ("title", "lines", "found"),
    [
        ("Microsoft Word - report.doc", ["Coral survey", "and a line of text that is longer"], "Coral survey"),
        ("untitled", ["Coral survey"], "Coral survey"),
        ("thesis.dvi", ["Coral survey"], "Coral survey"),
        ("Word of mouth", ["Coral survey"], "Word of mouth"),
    ],
)
def test_a_title_that_a_program_made_up_is_none(opener: Opener, title: str, lines: list[str], found: str) -> None:
    assert read(opener, pdf(lines, info={"Title": title})).title == found


def test_lines_become_paragraphs() -> None:
    lines = ("Heading", "A line that is as long as others are,", "and a line that ends a para-", "graph.")
    text = "\n".join([*lines, "The next one is a long line again, see", "the last"])
    assert paragraphs(text) == [
        "Heading",
        "A line that is as long as others are, and a line that ends a paragraph.",
        "The next one is a long line again, see the last",
    ]
    assert paragraphs("") == [] and paragraphs("ﬁle well-\nKnown") == ["file well- Known"]


def test_a_docx(opener: Opener) -> None:
    reply = opened(opener, docx(), DOCX)
    assert reply.headers["content-type"] == "text/html; charset=utf-8; source=docx"
    html = reply.body.decode()
    assert "<h1>Coral survey</h1>" in html
    assert '<p>Bleached corals, see the <a href="http://reef.example/atlas">atlas of reefs</a></p>' in html
    assert "<ul>\n<li>staghorn</li>\n<li>brain coral</li>\n</ul>" in html
    assert "<table><tr><td>depth</td><td>7 m &lt;b&gt;</td></tr></table>" in html
    page = read(opener, docx(), DOCX)
    said = (page.title, page.author, page.published, page.language)
    assert said == ("Coral survey", "Ann Reef, Bo Kelp", "2021-05-06", "en")


def test_an_epub_in_the_order_of_its_spine(opener: Opener) -> None:
    files = epub_files(
        chapter('<h2>Second</h2><p>kelp &#169; <a href="c1.xhtml">back</a> <a href="http://k.example/x">out</a></p>'),
        chapter(
            '<section class="x" onclick="evil()"><h1 id="a">First</h1><p>coral<script>evil()</script></p></section>'
        ),
        about="<dc:title>The Reef</dc:title><dc:creator>Ann Reef</dc:creator><dc:creator>Bo Kelp</dc:creator>"
        "<dc:language>de</dc:language><dc:date>2019-07-01</dc:date>",
    )
    html = opened(opener, zipped(files), EPUB).body.decode()
    assert "evil" not in html and "onclick" not in html
    page = read(opener, zipped(files), EPUB)
    said = (page.title, page.author, page.published, page.language)
    assert said == ("The Reef", "Ann Reef, Bo Kelp", "2019-07-01", "de")
    assert page.text.split() == ["First", "coral", "Second", "kelp", "©", "back", "out"]
    assert [(link.url, link.anchor) for link in page.links] == [("http://k.example/x", "out")]


def test_an_epub_without_a_title_has_that_of_its_first_heading_and_chapters_may_be_bad_html(opener: Opener) -> None:
    files = epub_files("<html><body><h1>Tides &nbsp; here<p>moon <b>and sun</body>")
    page = read(opener, zipped(files), EPUB)
    assert page.title.startswith("Tides here") and "moon and sun" in page.text


def test_the_entities_of_html_are_letters_also_in_the_title_of_an_epub(opener: Opener) -> None:
    public = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'
    text = chapter("<h1>Caf&eacute;&nbsp;reef &amp; <i>more</i></h1><p>na&iuml;ve tide</p>")
    page = read(opener, zipped(epub_files(text.replace("<!DOCTYPE html>", public))), EPUB)
    assert page.title.startswith("Café reef & more") and "naïve tide" in page.text


def test_nothing_in_a_document_becomes_markup(opener: Opener) -> None:
    evil = "<script>alert(1)</script><meta name=robots content=noindex>"
    body = pdf([evil], info={"Title": evil, "Author": '"><b>'}, links=[(0, 'http://a.example/"><b>')])
    html = opened(opener, body).body.decode()
    assert "<script" not in html and "<b>" not in html and "noindex&gt;" in html
    assert read(opener, body).indexable


def test_the_text_is_cut_at_its_limit() -> None:
    opener = Opener([PDF], longest=2_000_000, most=3_000)
    page = read(opener, pdf(*([f"page {number} of a long report"] for number in range(200))))
    opener.close()
    assert 60 < page.text.count("page") < 120  # a paragraph has 30 bytes and more


def test_a_chapter_that_is_larger_than_a_page_is_cut() -> None:
    opener = Opener([EPUB], longest=2_000_000, most=3_000)
    body = chapter("<h1>Tides</h1>" + '<p>Häfen <a href="http://reef.example/tides">tide</a></p>' * 200)
    page = read(opener, zipped(epub_files(body)), EPUB)
    opener.close()
    assert 40 < page.text.count("Häfen") < 60 and "reef.example" not in page.text
    assert {link.url for link in page.links} == {"http://reef.example/tides"}


def test_other_replies_are_left_alone(opener: Opener) -> None:
    for status, kind, body in ((200, "text/html", b"<p>x"), (404, PDF, b"%PDF-"), (200, "application/zip", b"PK\3\4")):
        reply = Reply(URL, status, {"content-type": kind}, body)
        assert opener.opened(reply) is reply
    assert not Opener(["text/html"], longest=1, most=1)


def test_an_error_page_that_is_called_a_document_is_html(opener: Opener) -> None:
    reply = opened(opener, b"\n <!doctype html><p>sorry")
    assert (reply.headers["content-type"], reply.body) == ("text/html", b"\n <!doctype html><p>sorry")


# ------------------------------------------------------------ what is broken or hostile

LOOP = pdf_of({
    1: b"<< /Type /Catalog /Pages 2 0 R >>",
    2: b"<< /Type /Pages /Count 3 /Kids [2 0 R 3 0 R] >>",
    3: b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 3 0 R 4 0 R] /Count 9 >>",
    4: b"<< /Type /Page /Parent 4 0 R /Contents 5 0 R >>",
    5: b"5 0 R",
})  # fmt: skip


def test_a_broken_cross_reference_table_is_mended(opener: Opener) -> None:
    body = pdf(["Coral survey"])
    wrong = body.replace(b"startxref\n", b"startxref\n9")
    assert "Coral survey" in read(opener, wrong).text
    assert (
        "Coral survey"
        in read(opener, body[: body.index(b"xref\n")] + b"trailer << /Root 1 0 R >>\nstartxref\n0\n%%EOF").text
    )


def test_ten_thousand_pages(opener: Opener) -> None:
    page = read(opener, pdf(*(["reef"] for _ in range(10_000))))
    assert 1 <= page.text.count("reef") <= 1_000


@pytest.mark.parametrize(
    ("kind", "body", "reasons"),
    [
        (PDF, b"\x00\x01 no document", {"broken"}),
        (PDF, b"%PDF-1.7\nnothing more", {"broken"}),
        (PDF, pdf(["Coral survey"])[:300], {"broken", "textless"}),
        (PDF, pdf([]), {"textless"}),
        (PDF, LOOP, {"broken", "textless"}),
        (PDF, pdf_of({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"[ " * 50_000}), {"broken"}),
        (DOCX, b"PK\x03\x04 no archive", {"broken"}),
        (DOCX, zipped({"a": "b"}), {"broken"}),
        (EPUB, zipped({"mimetype": EPUB}), {"broken"}),
        (EPUB, zipped(epub_files()), {"textless"}),
        (
            EPUB,
            zipped(
                epub_files(chapter("<p>x</p>"))
                | {"META-INF/encryption.xml": '<e><CipherReference URI="OPS/text/c0.xhtml"/></e>'}
            ),
            {"encrypted"},
        ),
    ],
)
def test_what_cannot_be_read_says_why(opener: Opener, kind: str, body: bytes, reasons: set[str]) -> None:
    reply = opened(opener, body, kind)
    assert reply.unread.removeprefix("document/") in reasons and reply.body == b""
    assert "Coral survey" in read(opener, pdf(["Coral survey"])).text  # the next one is read


def test_bombs_are_not_unpacked(opener: Opener) -> None:
    for kind, files in (
        (DOCX, {"word/document.xml": b"\0" * 150_000_000}),
        (EPUB, {str(number): b"" for number in range(10_001)}),
    ):
        reply = opened(opener, zipped(files), kind)
        assert (reply.unread, reply.body) == ("document/bomb", b"")
    assert "Coral survey" in read(opener, pdf(["Coral survey"])).text


def test_entities_of_a_book_do_not_grow(opener: Opener) -> None:
    bomb = '<!DOCTYPE p [<!ENTITY a "reefreefreef">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefg", "bcdefgh", strict=True)
    )
    reply = opened(opener, zipped(epub_files(f"{bomb}]><html><body><p>tide &h;</p></body></html>")), EPUB)
    assert len(reply.body) < 1_000


def test_a_document_that_takes_for_ever_is_given_up() -> None:
    opener = Opener([PDF], longest=2_000_000, most=1_000_000, seconds=3)
    assert opened(opener, endless()).unread == "document/time"
    assert "Coral survey" in read(opener, pdf(["Coral survey"])).text
    opener.close()


def test_a_document_that_was_cut_is_not_read(opener: Opener) -> None:
    whole = pdf(["Coral survey"])
    assert opened(opener, whole, cut=True).unread == "document/cut"
    short = Opener([PDF], longest=len(whole) - 1, most=1_000_000)
    assert opened(short, whole).unread == "document/cut"


def test_a_page_of_a_stream_that_unpacks_to_gigabytes(opener: Opener) -> None:
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        4: stream(b"q Q " * 25_000_000),
    }
    reply = opened(opener, pdf_of(objects))
    assert reply.unread in {"document/broken", "document/memory", "document/time", "document/textless"}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the process by /proc")
def test_a_worker_that_dies_is_replaced(opener: Opener) -> None:
    read(opener, pdf(["Coral survey"]))
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent, command = path.read_text().rpartition(")")[2].split()[1], (path.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(parent) == os.getpid() and b"parts.documents.worker" in command:
            os.kill(int(path.parent.name), signal.SIGKILL)
    for _ in range(4):
        assert opened(opener, pdf(["Coral survey"])).unread in ("", "document/crash")
    assert "Coral survey" in read(opener, pdf(["Coral survey"])).text
