"""The index of a crawl folder: its content, the order of hits, and its state after a kill."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from hashlib import md5
from pathlib import Path

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.crawling import ROOT
from support.invoking import invoke
from support.items import a_crawl, add, an_item

from crawlproject.commands.index import IndexCommand
from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.exporting.index import is_behind, search, update


def found(folder: Path, query: str, **more: int) -> list[int]:
    return [int(hit.url.rpartition("/")[2]) for hit in search(folder, query, **more).hits]


def test_words_stems_phrases_and_fields(tmp_path: Path) -> None:
    crawl = a_crawl(
        tmp_path,
        an_item(0, "Corals build reefs in warm seas."),
        an_item(1, "A reef of living coral."),
        an_item(2, "Steam engines. Ünïted railways", title="Coral Express", anchor="timetable"),
    )
    assert update(crawl).pages == 3
    assert sorted(found(crawl, "coral")) == [0, 1, 2]
    assert found(crawl, '"living coral"') == [1]
    assert found(crawl, "title:coral") == [2]
    assert found(crawl, "+coral -reef") == [2]
    assert found(crawl, "united") == found(crawl, "ÜNÏTED") == found(crawl, "timetable") == [2]
    assert found(crawl, "coral AND engine") == [2]
    assert sorted(found(crawl, "*")) == [0, 1, 2]
    assert found(crawl, "nothing here") == [] and search(crawl, "nothing").total == 0


def test_of_pages_that_match_alike_the_more_topical_one_comes_first(tmp_path: Path) -> None:
    relevances = [0.1, 0.5, 0.0, 0.3]
    crawl = a_crawl(tmp_path, *(an_item(n, "coral reef", relevance=r, title="") for n, r in enumerate(relevances)))
    update(crawl)
    assert found(crawl, "coral") == [1, 3, 0, 2]
    scores = {hit.relevance: hit.score for hit in search(crawl, "coral").hits}
    assert scores[0.3] / scores[0.0] == pytest.approx(1.926, abs=0.001)  # log2(2 + 6 * 0.3)


def test_a_hit_describes_its_page(tmp_path: Path) -> None:
    text = "Before. " * 60 + 'A <img src=x onerror="alert(1)"> coral & more.\n\n' + "After. " * 60
    crawl = a_crawl(tmp_path, an_item(7, text, title="T\x1b[31m", relevance=0.25, at=5.5, published="2024-03-09"))
    update(crawl)
    [hit] = search(crawl, "corals").hits
    assert "<b>coral</b> &amp; more." in hit.snippet and "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in hit.snippet
    assert "<" not in hit.snippet.replace("<b>", "").replace("</b>", "")
    assert (hit.url, hit.title, hit.relevance, hit.at) == ("http://a.example/7", "T[31m", 0.25, 5.5)
    assert (hit.md5, hit.language, hit.published) == (md5(hit.url.encode()).hexdigest(), "en", "2024-03-09")
    [unmarked] = search(crawl, "title:t").hits
    assert unmarked.snippet.startswith("Before. Before.") and "<" not in unmarked.snippet


def test_stop_words_are_not_marked(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "The reef is in the sea and the corals are of the reef."))
    update(crawl)
    snippet = search(crawl, "the reef of corals").hits[0].snippet
    assert "<b>reef</b>" in snippet and "<b>corals</b>" in snippet
    assert "<b>the</b>" not in snippet.lower() and "<b>of</b>" not in snippet


def test_pages_of_hits(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, *(an_item(n, "coral " * (n + 1) + "x " * (40 - n)) for n in range(25)))
    update(crawl)
    everything = found(crawl, "coral", limit=25)
    assert sorted(everything) == list(range(25))
    assert found(crawl, "coral", limit=10) + found(crawl, "coral", limit=10, offset=10) == everything[:20]
    assert search(crawl, "coral", limit=3, offset=24).total == 25
    assert found(crawl, "coral", limit=0) == found(crawl, "coral", offset=100) == []
    assert found(crawl, "coral", offset=10**12) == []


@pytest.fixture(scope="module")
def one_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    crawl = a_crawl(tmp_path_factory.mktemp("one"), an_item(0, "coral"))
    update(crawl)
    return crawl


@example("")
@example("\0")
@example("\ud800")
@example("((((")
@example("title:")
@example("0:*")  # a field that does not exist
@example("http://a.example/0")
@example("x" * 9_000)
@given(st.text(st.one_of(st.characters(), st.sampled_from(list('"()[]{}:+-^~*?/\\&|!<> aANDORT'))), max_size=40))
def test_any_query(one_page: Path, query: str) -> None:
    assert search(one_page, query).total in (0, 1)


def test_what_cannot_be_understood_is_words(one_page: Path) -> None:
    assert search(one_page, "what: coral").total == search(one_page, "(coral").total == 1


@pytest.mark.parametrize(
    ("language", "text", "query", "expected"),
    [
        ("ja", "珊瑚礁は海の中にある", "珊瑚", 1),
        ("ja", "珊瑚礁は海の中にある", "海", 1),
        ("ja", "珊瑚礁は海の中にある", "礁珊", 0),
        ("zh", "大堡礁 Great Barrier Reef", "reef", 1),
        ("de", "Die Häuser am Meer", "haus", 1),
        ("eo", "Koralaj rifoj", "rifoj", 1),
    ],
)
def test_languages(tmp_path: Path, language: str, text: str, query: str, expected: int) -> None:
    crawl = a_crawl(tmp_path, an_item(0, text), language=language)
    update(crawl)
    result = search(crawl, query)
    assert result.total == expected
    assert all("<b>" in hit.snippet for hit in result.hits)


# ------------------------------------------------------------ growing


def test_an_update_adds_new_pages_only(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"), an_item(1, "coral"))
    assert (update(crawl).added, update(crawl).added) == (2, 0)
    add(crawl, an_item(2, "coral"))
    assert update(crawl, batch=1).added == 1
    assert sorted(found(crawl, "coral")) == [0, 1, 2]


def test_copies_are_left_out_unless_they_are_wanted(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"), an_item(1, "coral", duplicate_of="http://a.example/0"))
    assert (update(crawl).left_out, found(crawl, "coral")) == (1, [0])
    assert update(crawl, with_duplicates=True).pages == 2
    assert sorted(found(crawl, "coral")) == [0, 1]
    add(crawl, an_item(2, "coral", duplicate_of="http://a.example/0"))
    assert update(crawl).pages == 3, "the index stays what it was begun as"
    assert update(crawl, with_duplicates=False).pages == 1


@pytest.mark.parametrize("at_once", [False, True])
def test_a_better_copy_replaces_the_page_before(tmp_path: Path, at_once: bool) -> None:
    crawl = a_crawl(tmp_path / "crawl", an_item(1, "a reef"), an_item(2, "a reef", duplicate_of="http://a.example/1"))
    if not at_once:
        assert update(crawl).pages == 1
    add(crawl, an_item(3, "a reef", replaces="http://a.example/1"))
    done = update(crawl)
    assert (done.pages, done.added, done.removed, done.left_out) == ((1, 1, 0, 2) if at_once else (1, 1, 1, 0))
    assert [hit.url for hit in search(crawl, "reef").hits] == ["http://a.example/3"]
    assert update(crawl, with_duplicates=True).pages == 3


def test_lines_that_a_resume_cut_off_and_wrote_again(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"), an_item(1, "coral once"))
    update(crawl)
    (tmp_path / "items.jsonl").write_bytes(b"")
    add(crawl, an_item(0, "coral"), an_item(1, "coral twice"), an_item(2, "coral"))
    assert update(crawl).pages == 3
    assert sorted(found(crawl, "coral")) == [0, 1, 2]
    assert (found(crawl, "once"), found(crawl, "twice")) == ([], [1])


def test_pages_whose_lines_were_cut_off_for_good_leave(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, *(an_item(number, f"coral {number}") for number in range(4)))
    assert update(crawl).pages == 4
    (tmp_path / "items.jsonl").write_bytes(b"")
    add(crawl, an_item(0, "coral 0"), an_item(1, "coral", duplicate_of="http://a.example/0"), an_item(4, "coral 4"))
    assert update(crawl).pages == 2
    assert sorted(found(crawl, "coral")) == [0, 4] and not is_behind(crawl)


def test_pages_whose_lines_were_cut_off_leave_though_an_update_died(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, *(an_item(number, f"coral {number}") for number in range(4)))
    update(crawl)
    (tmp_path / "items.jsonl").write_bytes(b"")
    add(crawl, an_item(0, "coral 0"), an_item(4, "coral 4"))
    with pytest.raises(KeyboardInterrupt):
        update(crawl, batch=1, progress=_interrupted)
    assert update(crawl).pages == 2
    assert sorted(found(crawl, "coral")) == [0, 4] and not is_behind(crawl)


def _interrupted(share: float) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("lost", ["note", "nothing noted", "everything"])
def test_an_update_that_died_is_done_again(tmp_path: Path, lost: str) -> None:
    """The update was killed between Tantivy's commit and the note of its progress; or the note was lost."""
    crawl = a_crawl(tmp_path, *(an_item(n, "coral") for n in range(3)))
    update(crawl)
    note = (tmp_path / "index" / "state.json").read_bytes()
    add(crawl, *(an_item(n, "coral") for n in range(3, 8)))
    update(crawl)
    if lost == "note":
        (tmp_path / "index" / "state.json").write_bytes(note)
    elif lost == "nothing noted":
        (tmp_path / "index" / "state.json").unlink()
    else:
        update(crawl, rebuild=True)
    assert update(crawl).pages == 8
    assert sorted(found(crawl, "coral")) == list(range(8))


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Processes die in the middle of an update, each a little later than the last: finally every page is indexed once."""
    crawl = a_crawl(tmp_path, *(an_item(n, f"coral w{n}") for n in range(200)))
    dying = (
        "import os, sys; from importlib import import_module; from pathlib import Path\n"
        "u = import_module('crawlproject.exporting.index.update')\n"
        "left = int(sys.argv[2]); write = u.write_state\n"
        "def dies(*a):\n    global left\n    left -= 1\n    if left < 0: os.kill(os.getpid(), 9)\n    write(*a)\n"
        "u.write_state = dies\nu.update(Path(sys.argv[1]), batch=20)"
    )
    for steps in (0, 1, 0, 3, 0):
        died = subprocess.run([sys.executable, "-c", dying, str(crawl), str(steps)], cwd=ROOT, check=False)
        assert died.returncode == -9
    assert update(crawl).pages == 200
    assert search(crawl, "coral", limit=300).total == 200
    assert len(set(found(crawl, "coral", limit=300))) == 200


def test_a_search_sees_what_was_added(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"))
    update(crawl)
    assert search(crawl, "coral").total == 1
    add(crawl, an_item(1, "coral"))
    assert search(crawl, "coral").total == 1 and is_behind(crawl)
    update(crawl)
    assert search(crawl, "coral").total == 2 and not is_behind(crawl)


# ------------------------------------------------------------ what is wrong is said


def test_no_crawl_and_no_index(tmp_path: Path) -> None:
    with pytest.raises(BadCrawlDir, match=r"crawl\.json"):
        update(tmp_path)
    with pytest.raises(BadCrawlDir, match="scrapy index"):
        search(tmp_path, "coral")


def test_two_updates_at_once(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"), an_item(1, "coral"))
    refused: list[str] = []

    def meanwhile(share: float) -> None:
        if share < 1.0:
            with pytest.raises(BadCrawlDir) as wrong:
                update(crawl)
            refused.append(str(wrong.value))

    assert update(crawl, batch=1, progress=meanwhile).added == 2
    assert refused and all("another process" in text for text in refused)
    add(crawl, an_item(2, "coral"))
    assert update(crawl).added == 1


@pytest.mark.parametrize("name", ["state.json", "pages/meta.json"])
def test_a_damaged_index(tmp_path: Path, name: str) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"))
    update(crawl)
    (tmp_path / "index" / name).write_text("{oops")
    with pytest.raises(BadCrawlDir, match="--rebuild"):
        update(crawl)
    with pytest.raises(BadCrawlDir, match="--rebuild"):
        search(crawl, "coral")
    assert update(crawl, rebuild=True).pages == 1
    assert search(crawl, "coral").total == 1


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"))
    update(crawl)
    state = orjson.loads((tmp_path / "index" / "state.json").read_bytes())
    (tmp_path / "index" / "state.json").write_bytes(orjson.dumps({**state, "version": 0}))
    assert update(crawl).added == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"))
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageFailed):
            update(crawl)
    finally:
        tmp_path.chmod(0o700)


def test_a_full_disk_is_no_damage(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limit[1]))
    try:
        with pytest.raises(StorageFailed, match="cannot write the index"):
            update(crawl)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert update(crawl).added == 1


def test_an_index_that_cannot_be_read_is_not_taken_for_none(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, an_item(0, "coral"))
    (crawl / "index").symlink_to("index")
    with pytest.raises(BadCrawlDir, match="the index cannot be read"):
        search(crawl, "coral", 10)


def test_a_folder_in_which_nothing_can_be_written_is_searched_all_the_same(tmp_path: Path) -> None:
    """Tantivy cannot lock it. Root, which tests may run as, can write everywhere: a folder in place of the lock stops it."""
    crawl = a_crawl(tmp_path, an_item(0, "coral reefs"), an_item(1, "steam engines"))
    update(crawl)
    pages = crawl / "index" / "pages"
    for lock in pages.glob("*.lock"):
        lock.unlink()
        lock.mkdir()
    before = sorted(path.name for path in pages.iterdir())
    assert found(crawl, "coral") == [0]
    assert sorted(path.name for path in pages.iterdir()) == before
    with pytest.raises(StorageFailed, match="cannot write the index"):
        update(crawl)
    assert invoke(IndexCommand(), crawl) == 3, "as report and map"


def test_versions_replace_and_what_is_taken_back_leaves(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, *(an_item(n, f"coral number{n}") for n in range(4)))
    update(crawl)
    add(
        crawl,
        an_item(0, "sponge", version=2),
        an_item(1, "", version=1, state="gone"),
        an_item(4, "coral of late"),
        an_item(4, "coral of today", version=2),
        an_item(5, "coral for a day"),
        an_item(5, "", version=1, state="retired"),
    )
    done = update(crawl)
    assert (done.added, done.replaced, done.removed, done.pages) == (2, 2, 2, 4)
    for _ in range(2):
        assert sorted(found(crawl, "coral")) == [2, 3, 4] and found(crawl, "sponge") == [0]
        assert found(crawl, "number0") == found(crawl, "number1") == found(crawl, "late") == []
        assert update(crawl, rebuild=True, batch=1).pages == 4


def test_an_update_that_was_killed_before_its_note_counts_nothing_twice(tmp_path: Path) -> None:
    """One page is added and one removed, so the number of pages does not show that lines were indexed."""
    crawl = a_crawl(tmp_path, an_item(0, "coral"), an_item(1, "coral"))
    update(crawl)
    note = (crawl / "index" / "state.json").read_bytes()
    add(crawl, an_item(2, "coral"), an_item(0, "", version=1, state="gone"))
    update(crawl)
    (crawl / "index" / "state.json").write_bytes(note)
    assert update(crawl).pages == 2 and sorted(found(crawl, "coral")) == [1, 2]
