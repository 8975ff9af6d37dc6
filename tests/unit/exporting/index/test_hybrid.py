"""Search by words and by meaning: ``scrapy index --vectors``, and everything that searches."""

from __future__ import annotations

import asyncio
import json
import sys
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from support.invoking import invoke
from support.items import a_crawl, add, an_item
from support.judgeserver import JudgeServer, embedding, judging

from crawlproject import open_crawl
from crawlproject.commands.index import IndexCommand
from crawlproject.commands.search import SearchCommand
from crawlproject.dashboard.server import SearchBox
from crawlproject.errors import BadCrawlDir, NoAnswer, ServerFailed, StorageFailed
from crawlproject.exporting.index import embedding as embedding_module
from crawlproject.exporting.index import search, update
from crawlproject.exporting.index.embedding import update_vectors
from crawlproject.exporting.index.hybrid import fuse
from crawlproject.exporting.index.vectors import read_vector_state, writing_alone
from crawlproject.language_models import embeddings
from crawlproject.language_models.base import Embedder
from crawlproject.storage.page_files import PageRepository

ATOLL = "<h1>Atolls</h1><p>An introduction.</p><h2>Their lagoons</h2><p><b>A &amp; b</b> lagoon lagoon lagoon lagoon lagoon</p>"
MODEL = Embedder("m", lambda: lambda texts: [embedding(text) for text in texts])


def with_pages(folder: Path, *bodies: str) -> Path:
    """A crawl folder with pages and their files."""
    items = [an_item(number, f"text {number}", title="") for number in range(len(bodies))]
    crawl = a_crawl(folder)
    for item, body in zip(items, bodies, strict=True):
        visit(crawl, item, body)
    return crawl


def visit(crawl: Path, item: dict[str, Any], body: str) -> None:
    page = f"<body><main>{body}</main></body>".encode()
    PageRepository(crawl / "pages").store(item["url"], page)
    add(crawl, {**item, "text": body, "digest": md5(page).hexdigest()})


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Pages about the sea in other words, about the sea in the same words, and about the railway."""
    return with_pages(
        tmp_path / "crawl", ATOLL, "<p>The coral coral of the sea</p>", "<p>Coral engine boiler engine boiler</p>"
    )


def setting(server: JudgeServer, model: str = "m") -> tuple[str, str]:
    return "-s", f"SEARCH_MODEL={server.url}#{model}"


def numbers(found: Any) -> list[int]:
    return [int(hit.url.rpartition("/")[2]) for hit in found.hits]


def files_of(crawl: Path) -> set[str]:
    return {path.name for path in (crawl / "index" / "vectors").iterdir()}


# ------------------------------------------------------------ the ranking


def test_rankings_are_fused_by_the_formula() -> None:
    found = fuse(["a", "b", "c"], ["b", "d"])
    assert [*found] == ["b", "a", "d", "c"]
    assert found == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "d": 1 / 62, "c": 1 / 63})
    assert [*fuse(["a"], ["b"])] == ["a", "b"] and [*fuse(["b"], ["a"])] == ["b", "a"]


def test_a_page_without_the_words_is_found_with_its_headings(crawl: Path) -> None:
    update(crawl)
    assert numbers(search(crawl, "coral")) == [1, 2]
    assert update_vectors(crawl, MODEL).chunks == 3
    found = search(crawl, "coral", model=MODEL)
    # by words 1, 2; the cosines of (2, 1) are: page 1 with (3, 1) 0.99, page 0 with (6, 1) 0.96, page 2 with (2, 5) 0.75
    assert numbers(found) == [1, 2, 0] and found.total == 3 and found.note == ""
    expected = [61 / 2 * worth for worth in (1 / 61 + 1 / 61, 1 / 62 + 1 / 63, 1 / 62)]
    assert [hit.score for hit in found.hits] == pytest.approx(expected) and expected[0] == 1
    assert found.hits[0].snippet == "&lt;p&gt;The <b>coral</b> <b>coral</b> of the sea&lt;/p"
    assert found.hits[2].snippet.startswith("Atolls: An introduction. A &amp; b lagoon lagoon")
    assert (
        numbers(search(crawl, "coral", 1, 1, model=MODEL)) == [2] and not search(crawl, "coral", 9, 3, model=MODEL).hits
    )


def test_the_best_chunk_of_a_page_names_its_headings(tmp_path: Path) -> None:
    filler = "<p>" + "Nothing of interest here. " * 60 + "</p>"
    crawl = with_pages(tmp_path, f"<h1>Atolls</h1>{filler}<h2>Their lagoons</h2>{filler}<p>{'lagoon ' * 100}</p>")
    update(crawl)
    assert update_vectors(crawl, MODEL).chunks > 3
    [hit] = search(crawl, "reef coral reef coral", model=MODEL).hits
    assert hit.snippet.startswith("Atolls → Their lagoons: lagoon lagoon")


def test_what_is_opposite_is_no_hit(tmp_path: Path) -> None:
    crawl = with_pages(tmp_path, "<p>north</p>", "<p>south</p>")
    signs = Embedder("s", lambda: lambda texts: [[-1.0 if "south" in text else 1.0, 0.0] for text in texts])
    update(crawl)
    update_vectors(crawl, signs)
    assert numbers(search(crawl, "up", model=signs)) == [0]


@pytest.mark.parametrize(
    "query", ["+coral sea", "coral -engine", '"coral coral"', "title:coral", "*", "coral AND sea", " "]
)
def test_a_query_with_operators_is_about_words(crawl: Path, query: str) -> None:
    update(crawl)
    before = search(crawl, query)
    update_vectors(crawl, MODEL)
    assert search(crawl, query, model=MODEL) == before


def test_pages_of_hits_follow_each_other(tmp_path: Path) -> None:
    bodies = [f"<p>{'coral ' * (number % 7 + 1)}{'engine ' * (number % 5)}{number}</p>" for number in range(130)]
    crawl = with_pages(tmp_path, *bodies, *["<p>lagoon lagoon</p>"] * 5)
    update(crawl)
    update_vectors(crawl, MODEL)
    whole = search(crawl, "coral", 200, model=MODEL)
    assert whole.total == len(whole.hits) == len({*numbers(whole)}) == 135
    parts = [
        number for offset in range(0, 140, 9) for number in numbers(search(crawl, "coral", 9, offset, model=MODEL))
    ]
    assert parts == numbers(whole)
    scores = [hit.score for hit in whole.hits]
    assert scores == sorted(scores, reverse=True)


# ------------------------------------------------------------ the command


def test_index_and_search_with_a_server(
    crawl: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOPICAL_SEARCH_KEY", "sk-secret")
    monkeypatch.setenv("TOPICAL_JUDGE_KEY", "sk-other")
    with judging(JudgeServer()) as server:
        assert invoke(IndexCommand(), crawl, "--vectors", *setting(server)) == 0
        assert capsys.readouterr().out.splitlines()[1] == "3 chunks embedded; 3 chunks of m"
        assert server.keys == {"Bearer sk-secret"} and server.asked[0]["model"] == "m"
        assert invoke(SearchCommand(), crawl, "coral", *setting(server)) == 0
        out, err = capsys.readouterr()
        assert "   http://a.example/0\n   Atolls: An introduction." in out and "score 1.00" in out and err == ""
        assert invoke(SearchCommand(), crawl, "coral") == 0
        out, err = capsys.readouterr()
        assert "http://a.example/0" not in out and "the index has vectors, too: with -s SEARCH_MODEL=... (m)" in err
        assert invoke(SearchCommand(), crawl, "coral", *setting(server, "other")) == 2
        err = capsys.readouterr().err
        assert "SEARCH_MODEL: the vectors of this crawl are those of 'm', not of 'other'" in err and "--rebuild" in err
        assert invoke(IndexCommand(), crawl, "--vectors", *setting(server, "other")) == 2
        assert "not of 'other'" in capsys.readouterr().err
        assert invoke(IndexCommand(), crawl, "--vectors", "--rebuild", *setting(server, "other")) == 0
        assert capsys.readouterr().out.endswith("3 chunks embedded; 3 chunks of other\n")
    assert "sk-secret" not in "".join(
        path.read_text(errors="replace") for path in (crawl / "index" / "vectors").iterdir()
    )


def test_a_dead_server_leaves_the_words(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with judging(JudgeServer()) as server:
        invoke(IndexCommand(), crawl, "--vectors", *setting(server))
    capsys.readouterr()
    assert invoke(SearchCommand(), crawl, "coral", "--json", *setting(server)) == 0
    out, err = capsys.readouterr()
    assert [hit["url"][-1] for hit in json.loads(out)["hits"]] == ["1", "2"]
    assert err == "scrapy: by words alone: the model m does not answer (connection)\n"
    assert invoke(IndexCommand(), crawl, "--vectors", *setting(server)) == 0  # no text is left to embed
    visit(crawl, an_item(9, ""), "<p>reef</p>")
    assert invoke(IndexCommand(), crawl, "--vectors", *setting(server)) == 3
    assert "the model m does not answer (connection); 3 chunks are kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "wish"),
    [
        ("", "--vectors needs the name of a model"),
        ("ftp://a.example#m", "expected a model that is installed, or an address and a model"),
        ("http://a.example/v1#", "expected a model that is installed"),
        ("some/model", "needs a model (pip install model2vec"),
    ],
)
def test_what_is_no_model(
    value: str, wish: str, crawl: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "find_spec", lambda name: None)
    assert invoke(IndexCommand(), crawl, "--vectors", "-s", f"SEARCH_MODEL={value}") == 2
    assert wish in capsys.readouterr().err


def test_what_is_missing_is_told_before_the_work(
    crawl: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "model2vec", None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert invoke(IndexCommand(), crawl, "--vectors", "-s", "SEARCH_MODEL=potion") == 2
    assert "SEARCH_MODEL: needs a model (pip install model2vec" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "resiliparse", None)
    with judging(JudgeServer()) as server:
        assert invoke(IndexCommand(), crawl, "--vectors", *setting(server)) == 2
    assert 'index --vectors needs resiliparse: pip install "topical-crawler[content]"' in capsys.readouterr().err
    assert not (crawl / "index").exists()


def test_a_model_that_embedded_nothing_does_not_bind_the_crawl(crawl: Path) -> None:
    def gone(texts: list[str]) -> Any:
        raise NoAnswer("refused")

    update(crawl)
    with pytest.raises(ServerFailed):
        update_vectors(crawl, Embedder("other", lambda: gone))
    assert update_vectors(crawl, MODEL).added == 3


def test_nothing_changes_without_vectors(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with judging(JudgeServer()) as server:
        assert invoke(IndexCommand(), crawl) == 0
        assert invoke(SearchCommand(), crawl, "coral", *setting(server)) == 0
        assert "the index has no vectors" in capsys.readouterr().err and not server.asked
    assert not (crawl / "index" / "vectors").exists()
    assert SearchBox(model=f"{server.url}#m").search(crawl, "coral", 10, 0).keys() == {"total", "hits"}


# ------------------------------------------------------------ building


class Counting:
    """A model that counts its inputs, and fails when ``left`` is used up."""

    def __init__(self, left: int = 10**9) -> None:
        self.shown: list[str] = []
        self.left = left
        self.model = Embedder("m", lambda: self)

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        self.shown += texts
        return [embedding(text) for text in texts]


def test_only_what_changed_is_embedded_again(crawl: Path) -> None:
    update(crawl)
    counting = Counting()
    assert update_vectors(crawl, counting.model).added == len(counting.shown) == 3
    assert update_vectors(crawl, counting.model).added == 0
    visit(crawl, an_item(3, ""), "<p>A reef</p>")
    visit(crawl, an_item(1, "", version=2), "<p>Engine engine</p>")
    add(crawl, an_item(2, "", version=2, state="gone"))
    update(crawl)
    done = update_vectors(crawl, counting.model)
    assert (done.added, done.chunks, len(counting.shown)) == (2, 3, 5)
    assert numbers(search(crawl, "lagoon", model=MODEL)) == [0, 3, 1]


def test_files_are_written_anew_when_most_of_them_has_no_use(crawl: Path) -> None:
    update(crawl)
    update_vectors(crawl, MODEL)
    for version in (2, 3):
        for number in (1, 2):
            visit(crawl, an_item(number, "", version=version), f"<p>{'reef ' * version}{number}</p>")
        update(crawl)
        assert update_vectors(crawl, MODEL).chunks == 3
    assert files_of(crawl) == {"state.json", "lock", "rows.1.bin", "chunks.1.jsonl"}
    found = search(crawl, "coral", model=MODEL)
    assert next(hit.snippet for hit in found.hits if hit.url.endswith("0")).startswith("Atolls: An introduction.")
    assert {*numbers(found)} == {0, 1, 2}
    assert read_vector_state(crawl) is not None and read_vector_state(crawl).rows == 3  # type: ignore[union-attr]


@pytest.mark.parametrize("rebuild", [True, False])
def test_vectors_that_are_written_anew_while_the_model_answers_are_read_as_they_were(
    crawl: Path, rebuild: bool
) -> None:
    def slow(texts: list[str]) -> list[list[float]]:
        change(2)
        change(3)
        return [embedding(text) for text in texts]

    def change(version: int) -> None:
        for number in (1, 2):
            visit(crawl, an_item(number, "", version=version), f"<h1>{'x' * 99}</h1><p>{'reef ' * version}{number}</p>")
        update(crawl)
        update_vectors(crawl, MODEL, rebuild=rebuild)

    update(crawl)
    update_vectors(crawl, MODEL)
    before = search(crawl, "sea", model=MODEL)
    found = search(crawl, "sea", model=Embedder("m", lambda: slow))
    assert {hit.snippet for hit in found.hits} <= {hit.snippet for hit in before.hits} and 0 in numbers(found)
    assert "xxx" in "".join(hit.snippet for hit in search(crawl, "sea", model=MODEL).hits)


def as_a_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def test_files_that_cannot_be_removed_are_named(crawl: Path) -> None:
    update(crawl)
    update_vectors(crawl, MODEL)
    folder = crawl / "index" / "vectors"
    for version in (2, 3):
        for number in (1, 2):
            visit(crawl, an_item(number, "", version=version), f"<p>{'reef ' * version}{number}</p>")
        update(crawl)
        if version == 2:
            update_vectors(crawl, MODEL)
    as_a_folder(folder / "rows.1.bin")  # of the files that are about to be written anew
    with pytest.raises(StorageFailed, match=f"^cannot remove {folder / 'rows.1.bin'}: "):
        update_vectors(crawl, MODEL)
    with pytest.raises(StorageFailed, match=f"^cannot remove {folder / 'rows.1.bin'}: "):
        update_vectors(crawl, MODEL, rebuild=True)
    (folder / "rows.1.bin").rmdir()
    assert update_vectors(crawl, MODEL).added == 3, "the state was removed before the files that it describes"


def test_an_interrupted_build_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_module, "BATCH", 2)
    crawl = with_pages(tmp_path, *[f"<p>reef {number}</p>" for number in range(9)])
    update(crawl)
    first = Counting(left=2)
    with pytest.raises(KeyboardInterrupt):
        update_vectors(crawl, first.model)
    assert len(first.shown) == 4 and len(search(crawl, "lagoon", model=MODEL).hits) == 4
    # data that a kill left beyond the recorded state is cut off
    for name in ("rows.0.bin", "chunks.0.jsonl"):
        with (crawl / "index" / "vectors" / name).open("ab") as file:
            file.write(b"torn")
    second = Counting()
    assert update_vectors(crawl, second.model).chunks == 9 and len(second.shown) == 5
    assert not {*first.shown} & {*second.shown}
    assert len(search(crawl, "lagoon", model=MODEL).hits) == 9


def test_the_text_is_indexed_anew_and_the_vectors_stay(crawl: Path) -> None:
    update(crawl)
    update_vectors(crawl, MODEL)
    update(crawl, rebuild=True)
    assert numbers(search(crawl, "coral", model=MODEL)) == [1, 2, 0]


def test_one_process_writes_at_a_time(crawl: Path) -> None:
    update(crawl)
    with writing_alone(crawl), pytest.raises(BadCrawlDir, match="another process writes these vectors"):
        update_vectors(crawl, MODEL)


@pytest.mark.parametrize(
    "answer",
    [
        b'{"data": []}',
        b"[]",
        b'{"data": [{"index": 0, "embedding": ["x"]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
    ],
)
def test_nonsense_is_no_vector(answer: bytes, crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Mad(JudgeServer):
        def answer(self, path: str, question: dict[str, Any]) -> bytes:
            return answer

    with judging(Mad()) as server:
        assert invoke(IndexCommand(), crawl, "--vectors", *setting(server)) == 3
    assert "does not answer (nonsense)" in capsys.readouterr().err


def test_vectors_of_another_length_are_refused(crawl: Path) -> None:
    update(crawl)
    update_vectors(crawl, MODEL)
    longer = Embedder("m", lambda: lambda texts: [[1.0, 2.0, 3.0] for _ in texts])
    assert "another length" in search(crawl, "coral", model=longer).note
    visit(crawl, an_item(3, ""), "<p>A reef</p>")
    with pytest.raises(OSError, match="another length"):
        update_vectors(crawl, longer)


# ------------------------------------------------------------ damage


@pytest.mark.parametrize(
    ("name", "damage", "what"),
    [
        ("rows.0.bin", b"", "it has 0 of 138 bytes"),
        ("rows.0.bin", b"\xff" * 138, "it contains values that are not numbers"),
        ("chunks.0.jsonl", b"", "has 0 of "),
        ("chunks.0.jsonl", b"x" * 1_000, "cannot be read"),
        ("state.json", b"{", "cannot be read"),
        ("state.json", b'{"model": "m", "rows": "x", "version": 1}', "expected numbers"),
        ("state.json", b'{"version": 99}', "version 99"),
    ],
)
def test_a_damaged_file_is_named_with_what_helps(
    name: str, damage: bytes, what: str, crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with judging(JudgeServer()) as server:
        invoke(IndexCommand(), crawl, "--vectors", *setting(server))
        path = crawl / "index" / "vectors" / name
        path.write_bytes(damage)
        capsys.readouterr()
        assert invoke(SearchCommand(), crawl, "coral", *setting(server)) == 2
        err = capsys.readouterr().err
        assert str(path) in err and what in err and "scrapy index --vectors --rebuild" in err
        assert invoke(IndexCommand(), crawl, "--vectors", "--rebuild", *setting(server)) == 0
        assert invoke(SearchCommand(), crawl, "coral", *setting(server)) == 0
        assert "http://a.example/0" in capsys.readouterr().out


# ------------------------------------------------------------ who else searches


def test_dashboard_library_and_agents(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from crawlproject.library.agent_server import make_server  # takes seconds

    with judging(JudgeServer()) as server:
        name = f"{server.url}#m"
        invoke(IndexCommand(), crawl, "--vectors", *setting(server))
        box = SearchBox(model=name).search(crawl, "coral", 10, 0)
        assert [hit["url"][-1] for hit in box["hits"]] == ["1", "2", "0"] and "note" not in box
        other = SearchBox(model=f"{server.url}#other").search(crawl, "coral", 10, 0)
        assert other["total"] == 2 and other["note"].startswith("by words alone: setting SEARCH_MODEL: the vectors")
        assert numbers(open_crawl(crawl).search("coral", model=name)) == [1, 2, 0]
        assert numbers(open_crawl(crawl).search("coral")) == [1, 2]
        agents = make_server(crawl, model=name)
        answer: Any = asyncio.run(agents.call_tool("search", {"query": "coral"}))
        assert "http://a.example/0" in str(answer)
    capsys.readouterr()
    assert "http://a.example/0" not in str(asyncio.run(agents.call_tool("search", {"query": "coral"})))
    assert "by words alone: the model m does not answer" in capsys.readouterr().err


def test_agents_that_ask_several_things_at_once_are_answered(crawl: Path) -> None:
    from crawlproject.library.agent_server import make_server  # takes seconds

    agents = make_server(crawl, crawl_pages=1)

    async def ask() -> list[Any]:
        return await asyncio.gather(*(agents.call_tool("search", {"query": "coral"}) for _ in range(6)))

    assert all("http://a.example/1" in str(answer) for answer in asyncio.run(ask()))
