"""Build webs and topics like those of the findings from public sources that you have on disk.

    python -m benchmarks.public_webs webkb FOLDER webkb.warc.gz
    python -m benchmarks.public_webs pages SITES.tsv pages.warc.gz
    python -m benchmarks.public_webs topics WEB.warc.gz SPEC.toml... --out TOPICS

``webkb`` converts the unpacked archive of the WebKB project (files ``CLASS/UNIVERSITY/URL`` with ``^`` for ``/``, each an
HTTP header, an empty line and HTML); the classes go into ``labels.tsv`` beside the web. ``pages`` converts built sites in
git: each line of SITES.tsv has, separated by tabs, the URL below which a site is served, a clone, a commit, and the folder
with the pages (``.`` for all); scripts and styles are left out. In both webs a link to a page by another spelling (scheme,
``www.``, trailing slash, default page) leads to a redirect, as it did on the servers.

``topics`` writes NAME.toml, with seeds on the topic, and NAME.far.toml, with seeds one to three links away. A SPEC has ``name``,
``keywords``, ``description``, and either ``class``, whose pages are the targets (human labels), or ``threshold``: targets are
the pages with at least this share of the terms of keywords and description, weighted by idf. Seeds are never targets.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import tarfile
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from fastwarc.warc import ArchiveIterator
from lxml import etree, html
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.vectors import DocumentFrequencies
from crawlproject.urls.canonical import Canonicalizer, canonical_or_none

CANONICAL = Canonicalizer(default_pages=False, query_rules=False)
WEBKB_DATE = "1997-01-15T00:00:00Z"
DEFAULT_PAGES = ("index.html", "index.htm")
MOST = 500  # pages of a site
SEEDS = 3
FAR = 3  # links


@dataclass(frozen=True)
class Stored:
    """A page of a web to be written."""

    url: str
    date: str
    body: bytes

    @cached_property
    def tree(self) -> html.HtmlElement | None:
        try:
            return html.document_fromstring(self.body)
        except (etree.ParserError, ValueError):
            return None

    def links(self) -> Iterator[str]:
        """The canonical URLs that the page links to; default pages and queries stay as written."""
        for element in () if self.tree is None else self.tree.iter("a", "area", "frame"):
            reference = element.get("href") or element.get("src")
            if reference and (url := canonical_or_none(CANONICAL, reference, self.url)):
                yield url


def webkb(folder: Path) -> Iterator[tuple[str, Stored]]:
    """Yield the class and the page of each file of the archive. Raises ``SystemExit`` for a folder of another layout."""
    files = sorted(path for path in folder.glob("*/*/*") if path.name.startswith("http:^^"))
    if not files:
        raise SystemExit(f"{folder}: expected files CLASS/UNIVERSITY/http:^^...")
    for path in files:
        _, _, body = path.read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")
        yield path.parts[-3], Stored(CANONICAL(path.name.replace("^", "/")), WEBKB_DATE, body)


def sites(table: Path) -> Iterator[Stored]:
    """The pages of the sites in a table, at most ``MOST`` of each. Raises ``SystemExit``, naming the line that is wrong."""
    for number, line in enumerate(table.read_text().splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            try:
                prefix, clone, commit, folder = line.split("\t")
                yield from _site(prefix, str(table.parent / clone), commit, folder)
            except (ValueError, subprocess.CalledProcessError) as wrong:
                raise SystemExit(
                    f"{table}, line {number}: expected URL, clone, commit and folder, with tabs between them ({wrong})"
                ) from None


def _site(prefix: str, clone: str, commit: str, folder: str) -> Iterator[Stored]:
    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True).stdout

    seconds = int(git("show", "-s", "--format=%ct", f"{commit}^{{commit}}"))
    date = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    tree = f"{commit}:" + ("" if folder == "." else folder)
    with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", tree))) as archive:
        members = [member for member in archive if member.isfile() and member.name.endswith((".html", ".htm"))]
        for member in sorted(members, key=lambda member: member.name)[:MOST]:
            file = archive.extractfile(member)
            assert file is not None, "a regular file"
            name = member.name.removesuffix("index.html") if Path(member.name).name == "index.html" else member.name
            yield Stored(CANONICAL(f"{prefix.rstrip('/')}/{name}"), date, _slim(file.read()))


def _slim(body: bytes) -> bytes:
    """A document without scripts and styles."""
    try:
        tree = html.document_fromstring(body)
    except (etree.ParserError, ValueError):
        return body
    etree.strip_elements(tree, "script", "style", with_tail=False)
    slim: bytes = html.tostring(tree, encoding="utf-8", doctype="<!DOCTYPE html>")
    return slim


def redirects(pages: Sequence[Stored]) -> dict[str, str]:
    """Map each linked URL that is not itself a page, but another spelling of a page's URL, to that page."""
    by_spelling: dict[tuple[str, str, str], str] = {}
    for page in sorted(pages, key=lambda page: len(page.url)):
        by_spelling.setdefault(_spelling(page.url), page.url)
    held = {page.url for page in pages}
    linked = {link for page in pages for link in page.links()}
    return {url: by_spelling[key] for url in sorted(linked - held) if (key := _spelling(url)) in by_spelling}


def _spelling(url: str) -> tuple[str, str, str]:
    """What different spellings of one URL have in common: host, path and query."""
    parts = urlsplit(url)
    folder, _, name = parts.path.rpartition("/")
    path = folder if name.lower() in (*DEFAULT_PAGES, "") else parts.path
    return parts.netloc.removeprefix("www."), path.rstrip("/"), parts.query


def write(pages: Iterable[Stored], out: Path, name: str) -> tuple[int, int]:
    """Write pages and redirects into a WARC; return the number of each. The first page of a URL counts."""
    held = list({page.url: page for page in reversed(list(pages))}.values())[::-1]
    moved = redirects(held)
    with out.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        writer.write_record(writer.create_warcinfo_record(out.name, {"description": f"{name}, converted"}))

        def record(url: str, date: str, status: str, header: tuple[str, str], body: bytes) -> None:
            head = StatusAndHeaders(status, [header, ("Content-Length", str(len(body)))], protocol="HTTP/1.1")
            dated = {"WARC-Date": date}
            made = writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), http_headers=head, warc_headers_dict=dated
            )
            writer.write_record(made)

        dates = {page.url: page.date for page in held}
        for page in held:
            record(page.url, page.date, "200 OK", ("Content-Type", "text/html"), page.body)
        for url, target in moved.items():
            record(url, dates[target], "301 Moved Permanently", ("Location", target), b"")
    return len(held), len(moved)


def read(web: Path) -> tuple[list[Stored], dict[str, str]]:
    """The pages and redirects of a WARC that ``write`` wrote."""
    pages, moved = [], {}
    with web.open("rb") as file:
        for record in ArchiveIterator(file):
            url, head = record.headers.get("WARC-Target-URI"), record.http_headers
            if url and head and head.status_code == 200:
                pages.append(Stored(url, record.headers["WARC-Date"], record.reader.read()))
            elif url and head:
                moved[url] = head["Location"]
    return pages, moved


def topics(web: Path, specs: Sequence[Path], out: Path, random: Random) -> Iterator[Path]:
    """Write the two topic files of each spec; yield the paths written."""
    pages, moved = read(web)
    analyzer = Analyzer("en")
    texts = {
        page.url: set(analyzer.terms(" ".join(page.tree.itertext()))) if page.tree is not None else set()
        for page in pages
    }
    frequencies = DocumentFrequencies()
    for terms in texts.values():
        frequencies.observe(dict.fromkeys(terms, 1))
    held = texts.keys()
    links = {page.url: {moved.get(url, url) for url in page.links()} & held for page in pages}
    out.mkdir(parents=True, exist_ok=True)
    for path in specs:
        spec = tomllib.loads(path.read_text(encoding="utf-8"))
        if "class" in spec:
            rows = (line.split("\t") for line in (web.parent / "labels.tsv").read_text().splitlines())
            found = {url for url, label in rows if label == spec["class"]}
        else:
            words = analyzer.terms(" ".join([*spec["keywords"], spec["description"]]))
            weights = {term: frequencies.idf(term) for term in words}
            least = spec["threshold"] * sum(weights.values())
            found = {url for url, terms in texts.items() if sum(map(weights.get, terms & weights.keys())) >= least}
        if len(found) <= SEEDS:
            raise SystemExit(f"{path}: expected more than {SEEDS} pages on the topic, found {len(found)}")
        seeds = sorted(random.sample(sorted(found), SEEDS))
        yield _write_topic(out / f"{spec['name']}.toml", spec, seeds, found)
        away = sorted(_near(links, found))
        if len(away) >= SEEDS:
            far = sorted(random.sample(away, SEEDS))
            yield _write_topic(out / f"{spec['name']}.far.toml", {**spec, "name": f"{spec['name']}.far"}, far, found)


def _near(links: Mapping[str, Iterable[str]], found: set[str]) -> set[str]:
    """Pages off the topic that are at most ``FAR`` links away from a page on it."""
    back: dict[str, list[str]] = {}
    for url, targets in links.items():
        for target in targets:
            back.setdefault(target, []).append(url)
    distance = dict.fromkeys(found, 0)
    waiting = deque(found)
    while waiting:
        url = waiting.popleft()
        for source in back.get(url, ()) if distance[url] < FAR else ():
            if source not in distance:
                distance[source] = distance[url] + 1
                waiting.append(source)
    return distance.keys() - found


def _write_topic(path: Path, spec: Mapping[str, object], seeds: Sequence[str], found: set[str]) -> Path:
    fields = {name: spec[name] for name in ("name", "keywords", "description") if name in spec}
    fields |= {"language": "en", "seeds": list(seeds), "targets": sorted(found - set(seeds))}
    # A JSON string or list of strings is also TOML, except for surrogates, which cannot occur in a UTF-8 file.
    path.write_text("".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items()))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("webkb", "pages", "topics"))
    parser.add_argument("source", type=Path)
    parser.add_argument("files", type=Path, nargs="+", help="the WARC to write; for topics, the specs")
    parser.add_argument("--out", type=Path, default=Path("topics"))
    parser.add_argument("--seed", type=int, default=1, help="of the choice of seeds")
    chosen = parser.parse_args()
    if chosen.what == "topics":
        for path in topics(chosen.source, chosen.files, chosen.out, Random(chosen.seed)):
            print(path)
        return
    [out] = chosen.files
    if chosen.what == "webkb":
        labelled = list(webkb(chosen.source))
        labels = "".join(f"{page.url}\t{label}\n" for label, page in labelled)
        (out.parent / "labels.tsv").write_text(labels, encoding="utf-8")
        counted = write((page for _, page in labelled), out, "WebKB")
    else:
        counted = write(sites(chosen.source), out, "built sites")
    print(f"{out}: {counted[0]} pages, {counted[1]} redirects")


if __name__ == "__main__":
    main()
