"""Small documents: PDF written by hand, DOCX by python-docx, EPUB by ``zipfile``."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EPUB = "application/epub+zip"


def pdf_of(objects: Mapping[int, bytes], trailer: bytes = b"", *, xref: bool = True) -> bytes:
    """A PDF of these objects with a cross-reference table; object 1 is the catalog."""
    out = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, content in sorted(objects.items()):
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    size, start = max(objects) + 1, len(out)
    if not xref:
        return bytes(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 00000 f \n"
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(out)


def stream(data: bytes) -> bytes:
    packed = zlib.compress(data, 9)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)


def pdf(
    *pages: Sequence[str], links: Sequence[tuple[int, str]] = (), info: Mapping[str, str] | None = None, lang: str = ""
) -> bytes:
    """A PDF whose pages are lines, 14 points apart from 700 down; ``links`` lie over lines of page one, given by number."""
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R %s >>" % (b"/Lang (%s)" % lang.encode() if lang else b""),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        4: b"<< %s >>"
        % b" ".join(b"/%s (%s)" % (name.encode(), value.encode()) for name, value in (info or {}).items()),
    }
    kids = []
    for number, lines in enumerate(pages):
        kids.append(page := 10 + 2 * number)
        shown = [f"BT /F 10 Tf 72 {700 - 14 * at} Td ({line}) Tj ET" for at, line in enumerate(lines)]
        areas = b" ".join(
            b"<< /Type /Annot /Subtype /Link /Rect [72 %d 400 %d] /A << /S /URI /URI (%s) >> >>"
            % (698 - 14 * at, 708 - 14 * at, href.encode())
            for at, href in (links if number == 0 else ())
        )
        objects[page] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Annots [%s]"
            b" /Resources << /Font << /F 3 0 R >> >> >>" % (page + 1, areas)
        )
        objects[page + 1] = stream("\n".join(shown).encode("latin-1"))
    objects[2] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    return pdf_of(objects, b"/Info 4 0 R")


def docx(url: str = "http://reef.example/atlas") -> bytes:
    """A DOCX with a title, a heading, a paragraph with a link, a list and a table."""
    from docx import Document
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    document = Document()
    known = document.core_properties
    known.title, known.author, known.language = "", "Ann Reef; Bo Kelp", "en-GB"
    from datetime import UTC, datetime

    known.created = datetime(2021, 5, 6, tzinfo=UTC)
    document.add_heading("Coral survey", 1)
    paragraph = document.add_paragraph("Bleached corals, see the ")
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), document.part.relate_to(url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run, text = OxmlElement("w:r"), OxmlElement("w:t")
    text.text = "atlas of reefs"
    run.append(text)
    link.append(run)
    paragraph._p.append(link)
    document.add_paragraph("staghorn", style="List Bullet")
    document.add_paragraph("brain coral", style="List Bullet")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "depth", "7 m <b>"
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def epub_files(*chapters: str, about: str = "") -> dict[str, str]:
    """The files of a book; ``about`` holds elements of its metadata."""
    numbers = range(len(chapters))
    items = "".join(f'<item id="c{n}" href="text/c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in numbers)
    spine = "".join(f'<itemref idref="c{n}"/>' for n in reversed(numbers))  # the last chapter is read first
    return {
        "mimetype": EPUB,
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata>{about}</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{f"OPS/text/c{n}.xhtml": chapter for n, chapter in enumerate(chapters)},
    }


def chapter(body: str) -> str:
    return (
        '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/>'
        f"</head><body>{body}</body></html>"
    )


def endless() -> bytes:
    """A PDF of a few kB whose only page draws a form of 50,000 words a hundred times: pypdf needs minutes for it."""
    form = stream(b"BT /F 9 Tf (reef) Tj ET\n" * 50_000)
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 6 0 R >> >> >>",
        4: stream(b"/X Do\n" * 100),
        5: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        6: form.replace(
            b"<<", b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F 5 0 R >> >>", 1
        ),
    }
    return pdf_of(objects)
