"""Reading crawl folders, whole and broken."""

import dataclasses
import json

import pytest

from crawlproject.errors import BadCrawlDir
from crawlproject.storage.read import RefusalCounts, read_info, read_links, read_refused, read_visits


def test_a_killed_crawl_has_no_end(write_crawl, tmp_path):
    folder = write_crawl(
        tmp_path / "c", topic={"name": "wind", "keywords": "wind power"}, settings={"page_relevant": 0.2}
    )
    info = read_info(folder)
    assert (info.topic, info.keywords, info.ordering) == ("wind", ("wind power",), "dom")
    assert (info.reason, info.finished, dict(info.stats)) == ("", None, {})
    assert info.number("PAGE_RELEVANT", 0.1) == 0.2
    assert info.number("POLITENESS_MIN_DELAY", 1.0) == 1.0


@pytest.mark.parametrize(
    "manifest", ["{}", '{"topic": null, "parameters": 3, "settings": [], "stats": "x", "started": "soon"}']
)
def test_missing_and_odd_keys_take_their_defaults(tmp_path, manifest):
    (tmp_path / "crawl.json").write_text(manifest)
    info = read_info(tmp_path)
    assert (info.topic, info.targets, info.started) == ("", (), None)


@pytest.mark.parametrize(("content", "wish"), [(None, "crawl.json"), ("[]", "object"), ('{"topic"', "JSON")])
def test_what_is_no_manifest_is_refused_with_place_and_wish(tmp_path, content, wish):
    if content is not None:
        (tmp_path / "crawl.json").write_text(content)
    with pytest.raises(BadCrawlDir, match=wish) as refused:
        read_info(tmp_path)
    assert str(tmp_path) in refused.value.place


def test_visits_come_in_fetch_order_without_the_torn_last_line(write_crawl, page, tmp_path):
    visits = [page(f"http://a.example/{i}", at=float(i)) for i in range(3)]
    folder = write_crawl(tmp_path / "c", visits)
    with (folder / "history.jsonl").open("a") as history:
        history.write('{"url": "http://a.example/torn", "sta')
    assert list(read_visits(folder)) == visits


def test_the_fields_of_a_visit_may_have_any_order(write_crawl, page, tmp_path):
    visit = page("http://a.example/", title="Reefs", relevance=0.5)
    folder = write_crawl(tmp_path / "c")
    backwards = dict(reversed(dataclasses.asdict(visit).items()))
    (folder / "history.jsonl").write_text(json.dumps(backwards) + "\n")
    assert list(read_visits(folder)) == [visit]


def test_a_crawl_without_history_has_no_visits(write_crawl, tmp_path):
    folder = write_crawl(tmp_path / "c")
    (folder / "history.jsonl").unlink()
    assert list(read_visits(folder)) == []


def test_unknown_fields_of_a_visit_are_ignored(write_crawl, tmp_path):
    folder = write_crawl(tmp_path / "c")
    (folder / "history.jsonl").write_text('{"url": "http://a.example/", "status": 200, "at": 1.0, "colour": "red"}\n')
    assert next(read_visits(folder)).url == "http://a.example/"


@pytest.mark.parametrize("line", ["[1, 2]", '{"status": 200}', "{"])
def test_a_damaged_line_is_named(write_crawl, page, tmp_path, line):
    folder = write_crawl(tmp_path / "c", [page("http://a.example/")])
    with (folder / "history.jsonl").open("a") as history:
        history.write(line + "\n")
    with pytest.raises(BadCrawlDir, match="line 2"):
        list(read_visits(folder))


@pytest.mark.parametrize(
    ("name", "value"),
    [("url", "http:/a.example/"), ("url", 5), ("at", "1"), ("at", 1e300), ("relevance", None), ("size", "9"), ("signs", []),
     ("seconds", {}), ("spam", "x"), ("number", None), ("md5", "/etc/passwd"), ("md5", "../../../crawl.json"), ("md5", 7),
     ("score", "x"), ("depth", []), ("status", {}), ("parent", 5), ("anchor", None), ("title", 7), ("duplicate_of", -1),
     ("digest", []), ("signs", {"crawl_delay": "x"}), ("signs", {"retry_after": None}), ("parts", [1]), ("topics", {"a": "b"})],
)  # fmt: skip
def test_a_field_that_no_crawl_wrote_so_is_named(write_crawl, page, tmp_path, name, value):
    folder = write_crawl(tmp_path / "c", [page("http://a.example/")])
    line = {"url": "http://a.example/b", "status": 200, "at": 1.0, name: value}
    with (folder / "history.jsonl").open("a") as history:
        history.write(json.dumps(line) + "\n")
    with pytest.raises(BadCrawlDir, match=f"line 2: expected a fetch, but its {name} is"):
        list(read_visits(folder))


@pytest.mark.parametrize("line", ["[1, 2]", '{"target": "x"}', "{"])
def test_a_damaged_link_is_named(tmp_path, line):
    (tmp_path / "links.jsonl").write_text('{"source": "s", "target": "t"}\n' + line + "\n")
    with pytest.raises(BadCrawlDir, match=r"links\.jsonl, line 2"):
        list(read_links(tmp_path))


def test_refusals_are_sorted_by_count(write_crawl, tmp_path):
    refused = {"counts": {"a": 1, "b": 5, "c": 0}, "samples": {"b": [["http://x.example/", None], "odd"]}}
    folder = write_crawl(tmp_path / "c", refused=refused)
    assert read_refused(folder) == [RefusalCounts("b", 5, (("http://x.example/", None),)), RefusalCounts("a", 1)]


def test_no_refusals_no_file(write_crawl, tmp_path):
    assert read_refused(write_crawl(tmp_path / "c")) == []
