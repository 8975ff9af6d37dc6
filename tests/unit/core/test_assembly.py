"""Assembly of a crawl: which setting reaches which part, and which data an ordering receives."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from support.pages import DictArchive, a_text_page

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.reading import make_traps, topic_in_canonical_urls
from crawlproject.errors import BadCrawlDir, BadInput, BadSetting, BadTopic, BadWeb
from crawlproject.frontier.factory import make_frontier
from crawlproject.records import CrawlUrl, Fetch, Topic
from crawlproject.urls.canonical import make_canonicalizer

SEEDS = ("http://a.example/", "http://b.example/index.html", "http://B.example/#part")
TOPIC = Topic("reef", ("coral reef",), SEEDS, targets=("http://c.example/?utm_source=x",))


def assembled(folder: Path, *, rehearsal: bool = False, topic: Topic = TOPIC, **settings: object) -> Crawl:
    options = read_options({"POLITENESS_MIN_DELAY": 0, **settings})
    graph = {"http://a.example/": ["http://c.example/"], "http://c.example/": []}.get
    return assemble(topic, options, clock=lambda: 50.0, folder=folder, graph=graph, rehearsal=rehearsal)


def test_seeds_and_targets_take_the_spelling_of_the_crawl() -> None:
    topic = topic_in_canonical_urls(TOPIC, make_canonicalizer(read_options({})))
    assert topic.seeds == ("http://a.example/", "http://b.example/")
    assert topic.targets == ("http://c.example/",)
    strict = make_canonicalizer(read_options({"CRAWL_URL_DEFAULT_PAGES": False, "CRAWL_URL_QUERY_RULES": False}))
    assert topic_in_canonical_urls(TOPIC, strict).seeds == (
        "http://a.example/",
        "http://b.example/index.html",
        "http://b.example/",
    )
    assert topic_in_canonical_urls(TOPIC, strict).targets == TOPIC.targets


def test_a_crawl_is_ready_to_take_from(tmp_path: Path) -> None:
    crawl = assembled(tmp_path, ORDERING="dom")
    assert [crawl.take(60.0).url for _ in range(2)] == ["http://a.example/", "http://b.example/"]
    manifest = json.loads((tmp_path / "crawl.json").read_text())
    assert manifest["started"] == 50.0 and manifest["parameters"] == {"alpha": 0.25}
    assert manifest["settings"]["politeness_min_delay"] == 0
    assert (tmp_path / "frontier" / "state.json").exists()


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    "wrong", [{"CRAWL_REVISIT": "no_policy"}, {"CRAWL_SPAM_MODEL": "no.file"}, {"CRAWL_RULES": "no"}]
)
def test_a_crawl_that_is_refused_leaves_nothing_behind(tmp_path: Path, wrong: dict[str, str], exists: bool) -> None:
    folder = tmp_path / "crawl"
    if exists:
        folder.mkdir()
    with pytest.raises(BadInput):
        assembled(folder, **wrong)
    assert not folder.exists(), "the crawl of another topic may begin there"


def test_a_crawl_that_is_refused_when_it_is_resumed_loses_nothing(tmp_path: Path) -> None:
    first = assembled(tmp_path)
    first.close("interrupted", 60.0)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(BadInput):
        assembled(tmp_path, CRAWL_REVISIT="no_policy")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_rehearsal_keeps_its_frontier_in_memory(tmp_path: Path) -> None:
    assembled(tmp_path, rehearsal=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.json", "history.jsonl"]


def test_parameters_reach_the_ordering_and_the_manifest(tmp_path: Path) -> None:
    crawl = assembled(tmp_path, ORDERING="dom", ORDERING_ALPHA="0.75", ORDERING_WIDTH=9)
    assert crawl.ordering.alpha == 0.75
    assert json.loads((tmp_path / "crawl.json").read_text())["parameters"] == {"alpha": 0.75}


def write_archive(folder: Path) -> Path:
    """A folder of hosts with the first seed's page, a page that links to it, and others."""
    pages = {"a.example": "coral reef", "far.example": '<a href="http://a.example/">coral</a>', "rail.example": "steam"}
    for host, text in pages.items():
        (folder / host).mkdir(parents=True)
        (folder / host / "index.html").write_text(f"<p>{text}")
    return folder


def test_the_archive_that_a_setting_names_reaches_the_ordering(tmp_path: Path) -> None:
    archive = write_archive(tmp_path / "web")
    crawl = assembled(tmp_path / "crawl", ORDERING="context_graph", ORDERING_ARCHIVE=str(archive))
    found = crawl.ordering.context.archive
    assert found is not None
    assert list(found.urls()) == ["http://a.example/", "http://far.example/", "http://rail.example/"]
    page = found.page("http://a.example/")
    assert page is not None and page.relevance == pytest.approx(1.0)
    read = [name for name in crawl.stats.counters() if name.startswith("reader/")]
    assert not read, "what is read from an archive does not count as read by the crawl"


def test_an_archive_that_cannot_be_opened_is_reported_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(BadWeb, match=r"setting ORDERING_ARCHIVE: web .*nowhere.*there is no such file"):
        assembled(tmp_path / "crawl", ORDERING_ARCHIVE=str(tmp_path / "nowhere"))
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(("ordering", "lent"), [("focused", True), ("reinforcement", False), ("dom", False)])
def test_a_rehearsal_lends_its_web_to_orderings_that_need_an_archive(tmp_path: Path, ordering: str, lent: bool) -> None:
    pages = [a_text_page(f"http://{name}.example/", name, relevance=len(name) / 9) for name in ("a", "reef", "rail")]
    archive = DictArchive(*pages)
    options = read_options({"ORDERING": ordering})
    crawl = assemble(TOPIC, options, clock=lambda: 0.0, folder=tmp_path, rehearsal=True, archive=archive)
    assert (crawl.ordering.context.archive is archive) == lent


def test_examples_are_found_before_the_crawl(tmp_path: Path) -> None:
    archive = str(write_archive(tmp_path / "web"))
    topic = dataclasses.replace(TOPIC, positive=("http://a.example/index.html",), negative=("http://rail.example/",))
    for settings in ({"ORDERING_ARCHIVE": archive}, {"VIRTUAL_WEB": archive}):
        crawl = assembled(tmp_path / str(len(settings)), topic=topic, ORDERING="focused", **settings)
        assert [page.url for page in crawl.ordering.context.positive] == ["http://a.example/"]
        assert [page.url for page in crawl.ordering.context.negative] == ["http://rail.example/"]
        crawl.close("test", 0.0)
    with pytest.raises(BadTopic, match=r"examples\.positive\[0\]: http://a\.example/ is neither in"):
        assembled(tmp_path / "nowhere", topic=topic, ORDERING="focused")
    assert not (tmp_path / "nowhere").exists()
    assembled(tmp_path / "dom", topic=topic, ORDERING="dom")  # dom reads no examples


def test_examples_are_found_in_the_pages_of_a_resumed_crawl(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    on, off = tmp_path / "on.html", tmp_path / "off.html"
    on.write_text("coral reef")
    off.write_text("steam")
    topic = dataclasses.replace(TOPIC, positive=(str(on),), negative=(str(off),))
    crawl = assembled(folder, topic=topic, ORDERING="focused")
    url = crawl.take(60.0)
    assert url is not None
    body = b"<p>Coral reef"
    page, fetch = crawl.steps.score_page(crawl.steps.read(url, body)), Fetch(200, 61.0, 0.1)
    crawl.steps.keep(page, crawl.steps.visit(url, page, body, fetch))
    crawl.close("test", 62.0)
    resumed = assembled(folder, topic=dataclasses.replace(topic, positive=(url.url,)), ORDERING="focused")
    assert [page.relevance for page in resumed.ordering.context.positive] == [pytest.approx(1.0)]


@pytest.mark.parametrize("settings", [{"ORDERING": "omniscient"}, {"ORDERING_ALHPA": 1}, {"ORDERING": "depth_first"}])
def test_a_wrong_ordering_leaves_no_folder(tmp_path: Path, settings: dict[str, object]) -> None:
    topic = Topic("reef", ("coral reef",), SEEDS)
    with pytest.raises(BadSetting):
        assembled(tmp_path / "crawl", topic=topic, **settings)
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(("ordering", "shown"), [("dom", ()), ("omniscient", ("http://c.example/",))])
def test_targets_are_shown_to_omniscience_only(tmp_path: Path, ordering: str, shown: tuple[str, ...]) -> None:
    context = assembled(tmp_path, rehearsal=True, ORDERING=ordering).ordering.context
    assert context.targets == shown and context.topic.targets == ()
    assert (context.graph is not None) == bool(shown)


def test_another_ordering_does_not_get_the_folder(tmp_path: Path) -> None:
    assembled(tmp_path, ORDERING="dom").close("finished", 60.0)
    with pytest.raises(BadCrawlDir, match="ordered by dom, not best_first"):
        assembled(tmp_path, ORDERING="best_first")


def committed(crawl_or_frontier: object) -> set[str]:
    """The first two URLs taken when 200 wait and each take is followed by the arrival of a better one."""
    frontier = crawl_or_frontier
    for number in range(200):
        frontier.put(CrawlUrl(f"http://h{number}.example/", 0.5))
    first = frontier.take(60.0).url
    frontier.put(CrawlUrl("http://better.example/", 0.9))
    return {first, frontier.take(60.0).url}


def test_best_n_first_brings_its_commitment_and_the_setting_overrides_it() -> None:
    options = read_options({"FRONTIER_BATCH_SIZE": 1})
    assert "http://better.example/" in committed(make_frontier(options))
    assert "http://better.example/" not in committed(make_frontier(options, 256))
    one_by_one = read_options({"FRONTIER_BATCH_SIZE": 1, "FRONTIER_COMMIT": 2})
    assert "http://better.example/" not in committed(make_frontier(one_by_one))


def test_the_same_seed_makes_the_same_choices() -> None:
    def order(seed: int) -> list[str]:
        frontier = make_frontier(read_options({"CRAWL_SEED": seed, "FRONTIER_BATCH_SIZE": 1}), 64)
        frontier.put_many(CrawlUrl(f"http://h{number}.example/", 0.5) for number in range(64))
        return [frontier.take(60.0).url for _ in range(64)]

    assert order(1) == order(1) != order(2)


def test_trap_settings_reach_the_trap_rules() -> None:
    traps = make_traps(read_options({"TRAP_MAX_URL_LENGTH": 30, "TRAP_EXTENSIONS": ".XYZ", "TRAP_MAX_DEPTH": 0}))
    assert traps.refusal("http://a.example/" + "x" * 20) == "too_long"
    assert traps.refusal("http://a.example/f.xyz") == "extension" == traps.refusal("http://a.example/f.mp4")
    assert traps.refusal("http://a.example/", depth=10_000) is None


def test_a_refused_crawl_leaves_no_lock(tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        assembled(tmp_path / "crawl", CRAWL_RULES=["/no/such/rules"])
    assert not (tmp_path / "crawl" / "lock").exists()
