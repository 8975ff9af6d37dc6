"""A store of read pages on disk: pages are loaded as they were read, and a damaged file does no harm."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import ANALYZER
from support.webs import DictWeb, page

from crawlproject.configuration import read_options
from crawlproject.core.reading import make_reader
from crawlproject.records import Link, Page, Reply, Span
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs import page_cache as shelves
from crawlproject.webs.page_cache import PageCache, PageCacheFolder
from crawlproject.webs.page_store import PageStore, pack, unpack

URL = "http://a.example/"
REPLY = Reply(URL, 203, seconds=0.25)
KNOWN_BY_THE_CRAWL = {
    "page_type",
    "duplicate_of",
    "replaces",
    "spam",
    "depth",
    "parent",
    "score",
    "relevance",
    "topics",
    "inherited",
    "kind",
}
LEFT_OUT = {"published", "author", "license", "reserved", "text", "text_main", "related", *KNOWN_BY_THE_CRAWL}

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
positions = st.integers(0, 2**32 - 1)
spans = st.builds(Span, positions, positions)
links = st.builds(Link, words, words, spans, spans, tag_path=words)


def a_page(terms: list[str] | tuple[str, ...] = (), **others: object) -> Page:
    return replace(Page(URL, terms=list(terms), counts=Counter(terms)), **others)


@given(
    st.lists(words, max_size=30),
    st.lists(links, max_size=10),
    st.fixed_dictionaries(
        {
            "title": words,
            "language": words,
            "indexable": st.booleans(),
            "signs": st.dictionaries(words, st.floats(0, 1)),
        }
    ),
)
def test_a_page_comes_back_as_it_went(terms: list[str], found: list[Link], others: dict[str, object]) -> None:
    read = a_page(terms, links=tuple(found), **others)
    assert unpack(URL, *pack(read)) == read


def test_no_field_of_a_page_or_a_link_is_forgotten() -> None:
    """A new field of the records must be packed too, or named among the fields that are left out."""
    link = Link("http://b.example/", "b", Span(1, 2), Span(0, 2), tag_path="html body")
    read = a_page(
        ["reef", "coral"], title="T", language="en", links=(link,), indexable=False, signs={"hidden": 0.5}, redirect=URL
    )
    back = unpack(URL, *pack(read))
    default = Page("")
    restored = {field.name for field in fields(Page) if getattr(back, field.name) != getattr(default, field.name)}
    assert restored == {field.name for field in fields(Page)} - LEFT_OUT
    empty = Link("", "", Span(0, 0), Span(0, 0))
    restored = {
        field.name for field in fields(Link) if getattr(back.links[0], field.name) != getattr(empty, field.name)
    }
    assert restored == {field.name for field in fields(Link)} - {"context_score"}


def test_strings_that_utf8_cannot_spell_do_not_stop_a_rehearsal(tmp_path: Path) -> None:
    store = PageStore(tmp_path / "w.pages", "1")
    store.put(URL, REPLY, a_page(["\ud800"], title="\udfff"))
    store.put("http://a.example/\ud800", REPLY, a_page())
    store.flush()
    found = store.get(URL)
    assert found is not None and found[1].title == "?"
    assert store.get("http://a.example/\ud800") is None


def test_pages_are_there_after_closing(tmp_path: Path) -> None:
    link = Link("http://b.example/", "b", Span(0, 1), Span(0, 1))
    read = a_page(["reef"], links=(link, link))
    store = PageStore(tmp_path / "w.pages", "1")
    store.put(URL, REPLY, read)
    store.close()
    store.close()
    again = PageStore(tmp_path / "w.pages", "1")
    assert again.get(URL) == (REPLY, read)
    assert again.targets(URL) == ["http://b.example/"] * 2
    assert again.kept(URL) is True and again.kept("http://a.example/other") is None
    assert again.get("http://a.example/other") is None and again.targets("http://a.example/other") is None
    assert [path.name for path in tmp_path.iterdir()] == ["w.pages"]


def test_two_see_what_each_other_wrote(tmp_path: Path) -> None:
    one, two = PageStore(tmp_path / "w.pages", "1"), PageStore(tmp_path / "w.pages", "1")
    one.put(URL, REPLY, a_page(["one"]))
    one.flush()
    two.put("http://b.example/", REPLY, a_page(["two"]))
    two.flush()
    assert [found[1].terms for found in map(two.get, (URL, "http://b.example/")) if found] == [["one"], ["two"]]


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000, None])
def test_a_file_that_is_none_of_ours_is_made_anew(tmp_path: Path, damage: bytes | None) -> None:
    path = tmp_path / "w.pages"
    if damage is None:
        PageStore(path, "another stamp").put(URL, REPLY, a_page())
    else:
        path.write_bytes(damage)
    store = PageStore(path, "1")
    assert store.get(URL) is None
    store.put(URL, REPLY, a_page(["reef"]))
    store.close()
    assert PageStore(path, "1").get(URL) is not None


def test_damage_in_the_middle_costs_the_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "w.pages"
    store = PageStore(path, "1")
    urls = [f"{URL}{number}" for number in range(150)]
    for url in urls:
        store.put(url, REPLY, a_page([f"{url} {number}" for number in range(60)]))
    store.close()
    whole = path.read_bytes()
    for at in range(4096, len(whole), 4096):
        path.write_bytes(whole[:at] + os.urandom(4096) + whole[at + 4096 :])
        damaged = PageStore(path, "1")
        for url in urls:
            found = damaged.get(url)
            assert found is None or found[1].terms[0] == f"{url} 0"
        damaged.put(URL, REPLY, a_page())
        damaged.close()


def test_a_full_store_takes_no_more(tmp_path: Path) -> None:
    store = PageStore(tmp_path / "w.pages", "1", max_bytes=1)
    store.put(URL, REPLY, a_page())
    store.flush()
    assert store.get(URL) is None


def test_where_nothing_can_be_written_there_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = PageStore(tmp_path / "file" / "w.pages", "1")
    store.put(URL, REPLY, a_page())
    store.close()
    assert store.get(URL) is None


# ------------------------------------------------------------ the shelf


def a_cache(web: DictWeb, store: PageStore | None) -> PageCache:
    options = read_options({})
    return PageCache(web, make_reader(options, ANALYZER, make_canonicalizer(options)), options, store=store)


def test_the_second_rehearsal_parses_nothing_and_reads_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "web"
    (folder / "www.reef.example").mkdir(parents=True)
    (folder / "www.reef.example" / "index.html").write_text("<title>Reef</title>")
    web = DictWeb(dict([page(URL, "/next", text="coral reef", seconds=2.0)]))
    first = a_cache(web, PageCacheFolder(tmp_path / "cache", str(folder)).store("en", "{}"))
    found, links = first.get(URL), first.links(URL)
    first.close()
    web.replies.clear()
    again = a_cache(web, PageCacheFolder(tmp_path / "cache", str(folder)).store("en", "{}"))
    assert again.links(URL) == links == ["http://a.example/next"]
    assert again.get(URL) == found
    assert again.links("http://a.example/next") is None


def test_each_language_and_setting_has_its_pages_and_a_changed_web_none(tmp_path: Path) -> None:
    web = tmp_path / "w.warc"
    web.write_text("1")
    shelf = PageCacheFolder(tmp_path / "cache", str(web))
    for language, settings in (("en", "{}"), ("de", "{}"), ("en", "{1}")):
        store = shelf.store(language, settings)
        assert store is not None and store.get(URL) is None
        store.put(URL, REPLY, a_page([language, settings]))
        store.close()
    store = shelf.store("en", "{}")
    assert store is not None and (found := store.get(URL)) and found[1].terms == ["en", "{}"]
    web.write_text("22")
    changed = shelf.store("en", "{}")
    assert changed is not None and changed.get(URL) is None
    assert len(list((tmp_path / "cache").iterdir())) == 3, "the new store took the place of the old one"


def test_other_code_reads_pages_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web = tmp_path / "w.warc"
    web.write_text("1")
    shelf = PageCacheFolder(tmp_path / "cache", str(web))
    store = shelf.store("en", "{}")
    assert store is not None
    store.put(URL, REPLY, a_page())
    store.close()
    monkeypatch.setattr(shelves, "code_version", lambda: "another")
    other = shelf.store("en", "{}")
    assert other is not None and other.get(URL) is None


def test_the_sample_web_has_no_files_and_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert PageCacheFolder(tmp_path, "sample").store("en", "{}") is None
