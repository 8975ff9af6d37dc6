"""Every page reaches the search server once, whatever fails on the way, over real sockets."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.crawling import command, scrapy
from support.invoking import invoke
from support.items import a_crawl, add, an_item
from support.searchdouble import Fault, SearchDouble, answered, broken_off, fine, search_double, silent, turned_away

from crawlproject.commands.export import ExportCommand
from crawlproject.errors import BadInput, StorageFailed
from crawlproject.exporting.documents import MAPPING
from crawlproject.exporting.search_server import SearchServer
from crawlproject.exporting.selection import Selection
from crawlproject.exporting.send import FOLDER, RetryPolicy, Sender, Sent
from crawlproject.storage.page_files import item_schema

COUNT = 40
ALL = {an_item(n, "")["md5"] for n in range(COUNT)}
WHOLE_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return a_crawl(
        tmp_path / "crawl", *(an_item(n, f"coral {n} " + "x" * 100, relevance=n / 100) for n in range(COUNT))
    )


@pytest.fixture
def server() -> Iterable[SearchDouble]:
    with search_double() as double:
        yield double


def send(crawl: Path, double: SearchDouble, waits: list[float] | None = None, **more: Any) -> Sent:
    options = {"max_bytes": 2_000, "selection": Selection(), "retries": 4, "url": double.url(), **more}
    retry = RetryPolicy((waits if waits is not None else []).append, Random(1).random, options.pop("retries"))
    target = SearchServer(options.pop("url"), options.pop("environment", {}), timeout=options.pop("timeout", 5.0))
    return Sender(crawl, target, options.pop("selection"), retry, **options).run()


def test_everything_arrives_as_it_is(crawl: Path, server: SearchDouble) -> None:
    sent = send(crawl, server)
    assert (sent.taken, sent.refused) == (COUNT, 0) and server.ids() == ALL
    source = server.indexes["pages"][an_item(3, "")["md5"]]
    assert list(source) == list(item_schema()["properties"])
    assert source == {
        **an_item(3, "coral 3 " + "x" * 100, relevance=0.03),
        "at": "1970-01-01T00:16:43.000Z",
        "published": None,
    }
    assert len([path for method, path in server.requests if path == "/pages/_bulk"]) > 5, "in parts"
    assert server.requests[-1] == ("POST", "/pages/_refresh")


def test_the_index_is_made_with_a_type_for_every_field(crawl: Path, server: SearchDouble) -> None:
    send(crawl, server)
    assert server.mappings["pages"] == MAPPING
    assert list(MAPPING["mappings"]["properties"]) == list(item_schema()["properties"])
    send(crawl, server)
    assert [method for method, _ in server.requests].count("PUT") == 1


def test_only_what_is_new_is_sent(crawl: Path, server: SearchDouble) -> None:
    send(crawl, server)
    before = len(server.requests)
    assert send(crawl, server).taken == COUNT
    assert not [path for _, path in server.requests[before:] if path.endswith("_bulk")]
    add(crawl, an_item(COUNT, "new"))
    assert send(crawl, server).taken == COUNT + 1
    assert server.writes == COUNT + 1


def test_selected_pages_only(crawl: Path, server: SearchDouble) -> None:
    add(crawl, an_item(99, "copy", relevance=0.9, duplicate_of="http://a.example/1"))
    assert send(crawl, server, selection=Selection(min_relevance=0.2)).taken == 20
    assert send(crawl, server, selection=Selection(0.2, with_duplicates=True)).taken == 21
    assert send(crawl, server).taken == COUNT and server.ids() == ALL


def test_another_selection_leaves_alone_what_only_another_crawl_has_sent(
    crawl: Path, server: SearchDouble, tmp_path: Path
) -> None:
    send(crawl, server, selection=Selection(min_relevance=0.2))
    send(a_crawl(tmp_path / "other", *(an_item(n, "coral", relevance=0.9) for n in range(10))), server)
    assert len(server.ids()) == 30
    assert send(crawl, server, selection=Selection(min_relevance=0.3)).taken == 10
    assert server.ids() == {an_item(n, "")["md5"] for n in (*range(10), *range(30, 40))}


def test_what_another_selection_leaves_out_goes_away_also_after_a_failure(crawl: Path, server: SearchDouble) -> None:
    add(crawl, an_item(50, "reserved", reserved="noai"), an_item(5, "coral 5", version=2, relevance=0.01))
    assert send(crawl, server).taken == COUNT + 1 and len(server.ids()) == COUNT + 1
    kept = Selection(min_relevance=0.2, without_reserved=True)
    server.faults = [fine, turned_away(503)]
    with pytest.raises(StorageFailed):
        send(crawl, server, selection=kept, retries=0)
    assert send(crawl, server, selection=kept).taken == 20 and len(server.ids()) == 20
    before = server.requests.count(("POST", "/pages/_bulk"))
    assert send(crawl, server, selection=kept).taken == 20 and len(server.ids()) == 20
    assert server.requests.count(("POST", "/pages/_bulk")) == before


FAULTS: dict[str, list[Fault]] = {
    "busy": [turned_away(429), turned_away(429), turned_away(503)],
    "ill": [turned_away(500), turned_away(502), turned_away(504)],
    "gone before": [broken_off(taken=False)],
    "gone after": [broken_off(taken=True)],
    "torn answer": [broken_off(taken=True, after=WHOLE_ANSWER)],
    "no HTTP": [broken_off(taken=False, after=b"oops\r\n\r\n")],
    "silent": [silent(0.8)],
    "no JSON": [answered("hello"), answered(None)],
    "fewer results": [answered({"took": 1, "errors": False, "items": []})],
    "no results": [answered({"items": [{}]}), answered({"items": None}), answered([])],
    "in the middle": [fine, fine, turned_away(429), fine, broken_off(taken=True), fine],
}


@pytest.mark.parametrize("name", FAULTS)
def test_nothing_is_lost(crawl: Path, server: SearchDouble, name: str) -> None:
    server.faults = list(FAULTS[name])
    sent = send(crawl, server, timeout=0.5 if name == "silent" else 5.0)
    assert server.faults == []
    assert (sent.taken, sent.refused) == (COUNT, 0)
    assert server.ids() == ALL


def test_documents_that_a_busy_server_left_out_are_sent_again_alone(crawl: Path, server: SearchDouble) -> None:
    left = dict.fromkeys(list(ALL)[::4], 3)

    def busy(identity: str) -> bool:
        left[identity] = left.get(identity, 0) - 1
        return left[identity] >= 0

    server.busy = busy
    waits: list[float] = []
    sent = send(crawl, server, waits)
    assert sent.taken == COUNT and server.ids() == ALL
    assert server.writes == COUNT, "accepted documents are not sent again"
    assert waits


def test_waits_grow_and_are_as_long_as_the_server_asks(crawl: Path, server: SearchDouble) -> None:
    server.faults = [turned_away(429)] * 4
    waits: list[float] = []
    send(crawl, server, waits)
    assert all(0.25 * 2**n <= wait <= 0.5 * 2**n for n, wait in enumerate(waits)) and len(waits) == 4
    server.faults = [turned_away(503, Retry_After="17")]
    waits.clear()
    send(crawl, server, waits, restart=True)
    assert waits == [17.0]
    server.faults = [turned_away(503, Retry_After="\xb2")]  # a digit, and no number
    assert send(crawl, server, restart=True).taken == COUNT


def test_a_document_that_the_server_never_takes_is_listed_and_the_rest_arrives(
    crawl: Path, server: SearchDouble
) -> None:
    server.refuses = lambda source: "failed to parse" if source["url"].endswith("/7") else ""
    sent = send(crawl, server)
    assert (sent.taken, sent.refused) == (COUNT - 1, 1)
    assert server.ids() == ALL - {an_item(7, "")["md5"]}
    [listed] = (crawl / FOLDER).glob("*.refused.jsonl")
    refusal = json.loads(listed.read_text())
    assert refusal["url"] == "http://a.example/7" and refusal["status"] == 400
    assert refusal["error"] == "mapper_parsing_exception: failed to parse"
    server.refuses = lambda source: ""
    assert send(crawl, server, restart=True) == Sent(COUNT, 0, send(crawl, server).place)
    assert not listed.exists()


def test_requests_that_are_too_large_are_halved(crawl: Path, server: SearchDouble) -> None:
    server.max_bytes = 1_200
    sent = send(crawl, server, max_bytes=20_000)
    assert sent.taken == COUNT and server.ids() == ALL
    add(crawl, an_item(COUNT, "x" * 5_000))
    assert send(crawl, server).refused == 1


def test_a_server_that_stays_away(crawl: Path, server: SearchDouble) -> None:
    server.faults = [fine, fine, *[turned_away(503)] * 5]
    with pytest.raises(StorageFailed, match="to resume"):
        send(crawl, server)
    taken = len(server.ids())
    assert 0 < taken < COUNT
    before = server.writes
    assert send(crawl, server).taken == COUNT
    assert server.writes - before == COUNT - taken, "it resumed where it was"


def test_no_server(crawl: Path) -> None:
    with search_double() as double:
        pass
    with pytest.raises(StorageFailed, match=r"127\.0\.0\.1"):
        send(crawl, double)


def test_an_index_that_was_removed_is_filled_anew(crawl: Path, server: SearchDouble) -> None:
    send(crawl, server)
    server.indexes.clear()
    assert send(crawl, server).taken == COUNT and server.ids() == ALL


def test_a_damaged_note_sends_all_again(crawl: Path, server: SearchDouble) -> None:
    send(crawl, server)
    for note in (crawl / FOLDER).glob("*.json"):
        note.write_text("{oops")
    assert send(crawl, server).taken == COUNT and len(server.ids()) == COUNT


def test_merged_items_in_another_order_are_sent_again(crawl: Path, server: SearchDouble) -> None:
    send(crawl, server)
    lines = (crawl / "items.jsonl").read_bytes().splitlines(keepends=True)
    new = json.dumps(an_item(77, "new")).encode() + b"\n"
    (crawl / "items.jsonl").write_bytes(b"".join([*lines[:20], new, *lines[20:]]))
    assert send(crawl, server).taken == COUNT + 1 and len(server.ids()) == COUNT + 1


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from([fault for name, faults in FAULTS.items() if name != "silent" for fault in faults]), max_size=20
    )
)
def test_any_run_of_faults(crawl: Path, faults: list[Fault]) -> None:
    """After as many restarts as necessary, every page is on the server once."""
    for note in (crawl / FOLDER).glob("*"):
        note.unlink()
    with search_double() as double:
        double.faults = list(faults)
        for _ in range(40):
            try:
                sent = send(crawl, double, retries=2, max_bytes=6_000)
                break
            except StorageFailed:
                continue
        assert double.ids() == ALL
        assert sent.taken == COUNT


# ------------------------------------------------------------ who may


def test_credentials(crawl: Path, server: SearchDouble) -> None:
    server.password = "admin:a:b@c/d"
    with pytest.raises(BadInput, match="OPENSEARCH_USERNAME"):
        send(crawl, server)
    send(crawl, server, url=server.url(userinfo="admin:a%3Ab%40c%2Fd@"))
    assert server.ids() == ALL
    environment = {"OPENSEARCH_USERNAME": "admin", "OPENSEARCH_PASSWORD": "a:b@c/d"}
    send(crawl, server, environment=environment, restart=True)
    server.password = ""
    send(crawl, server, environment={"OPENSEARCH_API_KEY": "k3y\n"})
    assert server.authorizations[-1] == "ApiKey k3y"
    for note in (crawl / FOLDER).iterdir():
        assert "a:b" not in note.read_text() and "%3A" not in note.read_text()


@pytest.mark.parametrize(
    "url",
    [
        "",
        *[
            "pages",
            "http://",
            "http://h",
            "http://h/",
            "ftp://h/pages",
            "http://h/Pages",
            "http://h/_all",
            "http://h:x/p",
            "http://h/präfix/p",
            "http://h/a b/p",
            "http://a b/p",
            f"http://{'h' * 64}/p",
        ],
    ],
)
def test_what_is_no_url_of_an_index(url: str) -> None:
    with pytest.raises(BadInput, match=r"URL .*: expected the URL of an index"):
        SearchServer(url, {})


@pytest.mark.parametrize(
    "url", ["http://u:s3c/ret@h/p", "u:s3cret@h:9200/p", "https:/u:s3cret@h/p", "http://u:s3c@ret@h/P"]
)
def test_no_error_shows_a_password(url: str) -> None:
    with pytest.raises(BadInput) as found:
        SearchServer(url, {})
    assert "s3c" not in str(found.value) and "ret" not in str(found.value).partition(": expected")[0]


@pytest.mark.parametrize("key", ["s3c\nret", "s3cr\u20act", "s3c ret"])
def test_a_key_that_no_header_can_have_is_not_shown(key: str) -> None:
    with pytest.raises(BadInput, match="OPENSEARCH_API_KEY: expected") as found:
        SearchServer("http://h/p", {"OPENSEARCH_API_KEY": key})
    assert "s3c" not in str(found.value)


def test_an_index_behind_a_prefix(crawl: Path, server: SearchDouble) -> None:
    send(crawl, server, url=f"http://127.0.0.1:{server.port}/prefix/pages")
    assert server.ids() == ALL and all(path.startswith("/prefix/pages") for _, path in server.requests)


# ------------------------------------------------------------ as a person types it


def test_the_command(crawl: Path, server: SearchDouble, capsys: pytest.CaptureFixture[str]) -> None:
    target = ("--to", "opensearch", crawl)
    assert invoke(ExportCommand(), *target, server.url(userinfo="admin:secret@")) == 0
    assert capsys.readouterr().out == f"{COUNT} documents in http://127.0.0.1:{server.port}/pages\n"
    server.refuses = lambda source: "no" if source["url"].endswith("/7") else ""
    assert invoke(ExportCommand(), *target, server.url(), "--restart") == 2
    assert "refused 1 document;" in capsys.readouterr().err
    server.faults = [turned_away(503)] * 9
    add(crawl, an_item(COUNT, "new"))
    assert invoke(ExportCommand(), *target, server.url(), "--retries", "0") == 3
    assert "to resume" in capsys.readouterr().err


def test_killed_in_the_middle(crawl: Path, server: SearchDouble) -> None:
    import subprocess

    from support.crawling import ROOT, environment

    holds: list[subprocess.Popen[bytes]] = []

    def kills(double: SearchDouble, handler: Any, actions: Any) -> bool:
        double.take("pages", actions)
        holds[0].kill()
        return False

    for after in (3, 0):
        server.faults = [*[fine] * after, kills]
        arguments = command("export", crawl, "--to", "opensearch", server.url(), "--batch-bytes", 2_000)
        with subprocess.Popen(arguments, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL) as process:
            holds[:] = [process]
        assert process.returncode == -9
    done = scrapy("export", crawl, "--to", "opensearch", server.url())
    assert done.returncode == 0 and server.ids() == ALL


def test_versions_replace_and_what_is_taken_back_is_deleted(crawl: Path, server: SearchDouble) -> None:
    send(crawl, server)
    add(
        crawl,
        an_item(1, "newer", version=2, relevance=0.5),
        an_item(2, "", version=1, state="gone"),
        an_item(50, "new", relevance=0.5),
        an_item(50, "newer", version=2, relevance=0.5),
        an_item(51, "comes and goes", relevance=0.5),
        an_item(51, "", version=1, state="moved"),
    )
    assert send(crawl, server).taken == COUNT
    now = ALL - {an_item(2, "")["md5"]} | {an_item(50, "")["md5"]}
    assert server.ids() == now
    assert server.indexes["pages"][an_item(1, "")["md5"]]["text"] == "newer"
    assert server.indexes["pages"][an_item(50, "")["md5"]]["version"] == 2
    assert send(crawl, server, restart=True).taken == COUNT and server.ids() == now
    fresh = send(crawl, server, url=server.url("others"), max_bytes=1)
    assert fresh.taken == COUNT and server.ids("others") == now, "each line in a request of its own"


def test_a_better_copy_replaces_the_page_before(crawl: Path, server: SearchDouble) -> None:
    send(crawl, server)
    add(crawl, an_item(60, "coral 3", replaces="http://a.example/3", relevance=0.5))
    assert send(crawl, server).taken == COUNT
    now = ALL - {an_item(3, "")["md5"]} | {an_item(60, "")["md5"]}
    assert server.ids() == now
    assert send(crawl, server, restart=True).taken == COUNT and server.ids() == now
    everything = send(crawl, server, url=server.url("all"), selection=Selection(with_duplicates=True))
    assert everything.taken == COUNT + 1


def test_a_version_that_is_not_selected_any_more_leaves(crawl: Path, server: SearchDouble) -> None:
    selection = Selection(min_relevance=0.2)
    assert send(crawl, server, selection=selection).taken == 20
    add(crawl, an_item(30, "x", version=2, relevance=0.1), an_item(5, "x", version=2, relevance=0.5))
    add(crawl, an_item(6, "never sent", version=1, state="gone"))
    assert send(crawl, server, selection=selection).taken == 20
    assert an_item(5, "")["md5"] in server.ids() and an_item(30, "")["md5"] not in server.ids()


def test_an_earlier_version_never_overtakes_a_later_one(crawl: Path, server: SearchDouble) -> None:
    """The server is busy at the first try of a page: the retry must not replace a later version that it accepted since."""
    busy = [an_item(7, "")["md5"]]
    server.busy = lambda identity: identity in busy and not busy.remove(identity)  # type: ignore[func-returns-value]
    add(crawl, an_item(7, "newer", version=2))
    send(crawl, server, max_bytes=10**6)
    assert server.indexes["pages"][an_item(7, "")["md5"]]["text"] == "newer"
