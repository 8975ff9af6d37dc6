"""A crawl as WARC and WACZ: read by other programs, and read back as a web."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import md5, sha256
from pathlib import Path
from random import Random
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawling import ROOT
from support.items import a_crawl, an_item
from support.livecrawl import crawl_web
from support.warcs import cdxj, check, records, same_index

from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.exporting.files import export_file
from crawlproject.exporting.selection import EVERYTHING, Selection
from crawlproject.records import Topic, Visit
from crawlproject.storage.logs import RobotsLog
from crawlproject.storage.page_files import PageRepository
from crawlproject.storage.warc import index
from crawlproject.storage.warc.archive import CrawlArchive
from crawlproject.storage.warc.record import Exchange
from crawlproject.topic.parse import load_topic
from crawlproject.webs.open import open_web
from crawlproject.webs.sample import SampleWeb

URL = "http://a.example/"
LATIN = "text/html; charset=iso-8859-1"


def a_folder(
    folder: Path, *visits: Visit, bodies: Mapping[str, bytes], relevance: Mapping[str, float] | None = None
) -> Path:
    """A crawl folder with these visits."""
    a_crawl(folder)
    pages = PageRepository(folder / "pages")
    with (folder / "history.jsonl").open("w") as history, (folder / "items.jsonl").open("w") as items:
        for number, visit in enumerate(visits):
            if visit.url in bodies and not visit.error:
                body = bodies[visit.url]
                digest = md5(body).hexdigest()
                visit = Visit(
                    visit.url,
                    200,
                    visit.at,
                    md5=pages.store(visit.url, body),
                    digest=digest,
                    content_type=visit.content_type,
                )
                item = an_item(number, body.decode("latin-1"), relevance=(relevance or {}).get(visit.url, 0.0))
                items.write(json.dumps({**item, "url": visit.url, "md5": visit.md5, "at": visit.at}) + "\n")
            fields = {name: getattr(visit, name) for name in Visit.__dataclass_fields__}
            history.write(json.dumps(fields) + "\n")
    return folder


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    bodies = {URL: "<p>café".encode("latin-1"), f"{URL}2": b"<p>two", f"{URL}copy": b"<p>two", f"{URL}text": b"plain"}
    folder = a_folder(
        tmp_path / "crawl",
        Visit(URL, 200, 1_700_000_000.0, content_type=LATIN),
        Visit(f"{URL}2", 200, 1_700_000_001.0),
        Visit(f"{URL}moved", 302, 1_700_000_002.0, redirect=f"{URL}2"),
        Visit(f"{URL}refreshed", 200, 1_700_000_002.0, redirect=f"{URL}2"),
        Visit(f"{URL}gone", 404, 1_700_000_003.0, error="http 404"),
        Visit(f"{URL}picture", 200, 1_700_000_004.0, error="content type image/png"),
        Visit(f"{URL}hidden", 200, 1_700_000_005.0, error="noindex"),
        Visit(f"{URL}wall", 200, 1_700_000_005.0, error="block/captcha"),
        Visit("http://dead.example/", 0, 1_700_000_006.0, error="TimeoutError"),
        Visit(f"{URL}copy", 200, 1_700_000_007.0),
        Visit(f"{URL}text", 200, 1_700_000_008.0),
        bodies=bodies,
        relevance={URL: 0.9, f"{URL}2": 0.1},
    )
    robots = RobotsLog(folder)
    robots.append(
        f"{URL}robots.txt", 200, 1_700_000_000.0, content_type="text/plain", location="", body=b"Disallow: \xe9"
    )
    robots.close()
    return folder


def exported(crawl: Path, kind: str, selection: Selection = EVERYTHING) -> Path:
    target = crawl.parent / ("out.wacz" if kind == "wacz" else "out.warc.gz")
    export_file(crawl, target, kind, selection, now=1_700_000_100.0)
    return target


def test_fetches_in_the_history_are_reconstructed(crawl: Path, tmp_path: Path) -> None:
    warc = exported(crawl, "warc")
    check(warc)
    written = [(kind, url.removeprefix(URL)) for kind, url, _, _ in records(warc)]
    assert written == [
        ("warcinfo", ""),
        ("response", "robots.txt"),
        ("response", ""),
        ("response", "2"),
        ("response", "moved"),
        ("response", "refreshed"),
        ("response", "gone"),
        ("response", "picture"),
        ("revisit", "copy"),
        ("response", "text"),
    ]
    web = open_web(warc, cache_dir=tmp_path / "cache")
    assert not web.warnings
    replies = {
        name: web.get(f"{URL}{name}") for name in ("", "2", "copy", "text", "moved", "refreshed", "gone", "picture")
    }
    assert {name: reply.status for name, reply in replies.items()} == {
        **{"": 200, "2": 200, "copy": 200, "text": 200},
        **{"moved": 302, "refreshed": 301, "gone": 404, "picture": 200},
    }
    assert replies[""].body == "<p>café".encode("latin-1") and replies[""].headers["content-type"] == LATIN
    assert replies["copy"].body == b"<p>two" and replies["text"].headers["content-type"] == "text/plain"
    assert (
        replies["moved"].headers["location"] == f"{URL}2" and replies["picture"].headers["content-type"] == "image/png"
    )
    assert web.get(f"{URL}robots.txt").body == b"Disallow: \xe9"
    assert all(web.get(f"{URL}{name}").status == 404 for name in ("hidden", "wall"))


def test_what_was_archived_live_comes_first_and_the_rest_is_added(crawl: Path, tmp_path: Path) -> None:
    def archived(place: Path, url: str, key: str = "") -> None:
        archive = CrawlArchive(place, "x", {}, lambda visit: b"", clock=lambda: 0.0, seed=str(place), max_bytes=1)
        headers = ((b"Content-Type", b"text/html"), (b"X-True", b"yes"))
        visit = next(Visit(**line) for line in lines if line["url"] == url)
        archive.received(url, Exchange(url, 200, headers, b"<p>two", visit.at, request=()))
        archive.commit(visit)
        archive.close()

    lines = [json.loads(line) for line in (crawl / "history.jsonl").read_text().splitlines()]
    archived(crawl, f"{URL}2")
    archived(crawl, f"{URL}copy")
    with (crawl / "warc" / "x-00001.warc.gz").open("ab") as file:
        file.write(b"torn")
    warc = exported(crawl, "warc")
    check(warc)
    responses = [(kind, url, each) for kind, url, each, _ in records(warc) if kind in ("response", "revisit")]
    assert [url.removeprefix(URL) for _, url, _ in responses[:2]] == ["2", "copy"]
    assert all(each.http_headers.get_header("X-True") == "yes" for _, _, each in responses[:2])
    urls = [url for _, url, _ in responses]
    assert len(urls) == len(set(urls)) == 9
    assert {open_web(warc, cache_dir=tmp_path / "c").get(f"{URL}{name}").body for name in ("2", "copy")} == {b"<p>two"}


def test_an_archive_that_lost_a_file_is_reported(crawl: Path) -> None:
    archive = CrawlArchive(crawl, "x", {}, lambda visit: b"", clock=lambda: 0.0, seed="", max_bytes=1)
    archive.add(Exchange(URL, 200, (), b"x", 0.0))
    archive.close()
    next((crawl / "warc").glob("*.gz")).unlink()
    with pytest.raises(BadCrawlDir, match="are missing"):
        exported(crawl, "warc")


def test_a_warc_is_not_selected_from(crawl: Path) -> None:
    with pytest.raises(BadInput, match="whole crawl"):
        exported(crawl, "warc", Selection(min_relevance=0.5))


def test_workers(tmp_path: Path, crawl: Path) -> None:
    """The archives of all workers, and the pages that workers stored without an archive, in one file."""
    folder = tmp_path / "together"
    for number, name in enumerate(("one", "two")):
        url = f"http://{name}.example/"
        place = a_folder(
            folder / "workers" / name, Visit(url, 200, float(number)), bodies={url: b"<p>" + name.encode()}
        )
        robots = RobotsLog(place)
        robots.append(f"{url}robots.txt", 200, 0.0, content_type="text/plain", location="", body=b"Disallow:")
        robots.close()
        if name == "one":
            archive = CrawlArchive(place, "x", {}, lambda visit: b"<p>one", clock=lambda: 0.0, seed="", max_bytes=9)
            archive.repair([Visit(**json.loads((place / "history.jsonl").read_text()))])
            archive.close()
    from crawlproject.parts.workers.merge_workers import merge_workers

    merge_workers(folder)
    warc = tmp_path / "out.warc.gz"
    export_file(folder, warc, "warc", EVERYTHING, now=0.0)
    check(warc)
    web = open_web(warc, cache_dir=tmp_path / "cache")
    pages = [f"http://{name}.example/{page}" for name in ("one", "two") for page in ("", "robots.txt")]
    assert sorted(web.urls()) == pages
    assert web.get("http://two.example/").body == b"<p>two"


# ------------------------------------------------------------ WACZ


def validated(path: Path) -> None:
    """Run ``wacz validate``."""
    pytest.importorskip("wacz")
    from wacz.validate import Validation

    validation = Validation(str(path))
    for step in (
        validation.check_required_contents,
        validation.frictionless_validate,
        validation.check_file_paths,
        validation.check_file_hashes,
    ):
        assert step() in (0, True), step.__name__


@pytest.mark.filterwarnings("ignore")
def test_a_package_is_valid(crawl: Path, tmp_path: Path) -> None:
    wacz = exported(crawl, "wacz")
    with ZipFile(wacz) as package:
        assert package.testzip() is None
        with wacz.open("rb") as file:  # replay tools look for content right behind a header without extras
            for info in package.infolist():
                file.seek(info.header_offset + 28)
                assert file.read(2) == b"\0\0", info.filename
        names = package.namelist()
        said = json.loads(package.read("datapackage.json"))
        for resource in said["resources"]:
            content = package.read(resource["path"])
            assert resource["hash"] == f"sha256:{sha256(content).hexdigest()}" and resource["bytes"] == len(content)
        digest = json.loads(package.read("datapackage-digest.json"))
        assert digest["hash"] == f"sha256:{sha256(package.read('datapackage.json')).hexdigest()}"
        (tmp_path / "data.warc.gz").write_bytes(package.read("archive/data.warc.gz"))
        import gzip

        lines = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
    assert names[0] == "archive/data.warc.gz" and said["wacz_version"] == "1.1.1" and said["title"] == "t"
    check(tmp_path / "data.warc.gz")
    assert lines == sorted(lines)
    same_index(lines, cdxj(tmp_path / "data.warc.gz"))
    validated(wacz)


def test_pages_are_listed_with_their_text_the_selected_ones_first(crawl: Path) -> None:
    with ZipFile(exported(crawl, "wacz", Selection(min_relevance=0.5))) as package:
        head, *pages = map(json.loads, package.read("pages/pages.jsonl").splitlines())
        other, *extra = map(json.loads, package.read("pages/extraPages.jsonl").splitlines())
    assert head["format"] == other["format"] == "json-pages-1.0" and head["hasText"]
    assert [page["url"] for page in pages] == [URL]
    assert (pages[0]["text"], pages[0]["ts"], pages[0]["title"]) == ("<p>café", "2023-11-14T22:13:20Z", "Page 0")
    assert len(extra) == 3


def test_the_second_index_leads_to_every_block(tmp_path: Path) -> None:
    random = Random(2)
    lines = sorted(b"com,%d)/%d 20240101000000 {}\n" % (random.randrange(9), number) for number in range(5_000))
    blocks = list(index.zipnum(lines, "index.cdx.gz"))
    whole = b"".join(block for block, _ in blocks)
    assert len(blocks) == 5
    import gzip

    again = b""
    for _, line in blocks:
        surt, stamp, said = line.split(b" ", 2)
        fields = json.loads(said)
        part = gzip.decompress(whole[fields["offset"] : fields["offset"] + fields["length"]])
        assert part.startswith(surt + b" " + stamp)
        again += part
    assert again == b"".join(lines)


@given(
    st.lists(st.binary(max_size=4).map(lambda text: text.replace(b"\n", b"") + b"\n"), max_size=60), st.integers(1, 20)
)
def test_lines_are_sorted_whatever_fits_into_memory(lines: list[bytes], run: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "_RUN", run)
        assert list(index.sorted_lines(iter(lines))) == sorted(lines)


# ------------------------------------------------------------ there and back


EVERY_PAGE = {"PAGE_OBEY_META_ROBOTS": False}  # an archive lacks pages that ask not to be kept


def fetches_of(topic: Topic, web: object, folder: Path) -> list[tuple[object, ...]]:
    """The fetches of a crawl, in order."""
    crawl_web(topic, web, folder, CRAWL_MAX_PAGES=250, ORDERING="adaptive", **EVERY_PAGE)
    lines = map(json.loads, (folder / "history.jsonl").read_text().splitlines())
    # An archive also lacks hosts that did not answer, hence 404.
    return [(line["url"], line["status"] or 404, line["digest"], line["score"], line["redirect"]) for line in lines]


def test_a_crawl_of_its_archive_is_the_crawl_again(tmp_path: Path) -> None:
    topic = load_topic(ROOT / "topics" / "demo.toml")
    there = fetches_of(topic, SampleWeb(), tmp_path / "crawl")
    assert any(status >= 300 for _, status, *_ in there)
    warc = tmp_path / "crawl.warc.gz"
    export_file(tmp_path / "crawl", warc, "warc", EVERYTHING, now=0.0)
    back = fetches_of(topic, open_web(warc, cache_dir=tmp_path / "cache"), tmp_path / "again")
    assert back == there


@pytest.mark.parametrize("kept", [1, 2])
def test_versions_and_unchanged_pages(tmp_path: Path, kept: int) -> None:
    """An earlier version is in the archive if its body was kept, and never with the body of another version."""
    one, two = b"<p>coral reef one", b"<p>coral reef two"
    crawl = a_crawl(tmp_path / "crawl")
    pages = PageRepository(crawl / "pages", versions=kept)
    name = pages.store(URL, one)
    pages.store(URL, two, 1)
    pages.settle(URL, 1)
    first = Visit(URL, 200, 1_700_000_000.0, md5=name, digest=md5(one).hexdigest())
    changed = replace(first, at=first.at + 10, digest=md5(two).hexdigest(), number=2, version=2, change="changed")
    same = replace(changed, at=first.at + 20, status=304, md5="", number=3, change="same")
    other_bytes = replace(same, at=first.at + 30, status=200, digest="0" * 32, number=4)
    gone = replace(same, at=first.at + 40, status=404, digest="", number=5, change="gone", error="http 404")
    with (crawl / "history.jsonl").open("w") as history:
        history.writelines(json.dumps(asdict(visit)) + "\n" for visit in (first, changed, same, other_bytes, gone))
    warc = exported(crawl, "warc")
    check(warc)
    found = [(kind, payload) for kind, url, _, payload in records(warc) if url == URL]
    expected = [("response", one), ("response", two), ("revisit", b""), ("response", b"")]
    assert found == expected[2 - kept :]
    (revisit,) = [record.rec_headers for kind, _, record, _ in records(warc) if kind == "revisit"]
    assert revisit.get_header("WARC-Profile").endswith("/server-not-modified")
    assert revisit.get_header("WARC-Refers-To-Date") == "2023-11-14T22:13:30Z"
