"""Rehearsals: the same crawl every time, polite on a virtual clock, and comparable between orderings."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from support.krule import broken_picks, hosts_of, picks_under_the_rule
from support.webs import HTML, DictWeb, html, page, robots

from crawlproject.configuration import read_options
from crawlproject.errors import BadCrawlDir, BadSetting
from crawlproject.evaluation.simulation.runner import Runner, reading_key
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.parts.duplicates.url_rule_store import read_rules
from crawlproject.records import Reply, Topic
from crawlproject.storage.append_log import read_lines
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import ROUND_TRIP, PageCacheFolder

HOSTS, PAGES = 60, 6
PORTAL = "http://portal.example/"
AGENT = "topical-crawler/0.1"
IMPATIENT = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "FRONTIER_BATCH_SIZE": 1, "PAGE_DUPLICATES": False}


def wide_web() -> DictWeb:
    """A portal that links to every page of 60 hosts; every third page is about reefs."""
    random = Random(5)
    urls = [f"http://h{h}.example/{p}" for h in range(HOSTS) for p in range(PAGES)]
    entries = dict([page(PORTAL, *urls, text="coral reef")])
    for url in urls:
        text = "coral reef" if random.random() < 0.3 else "steam engine"
        entries |= dict([page(url, *random.sample(urls, 3), text=text, seconds=random.choice([0.0, 0.3, 2.0]))])
    return DictWeb(entries)


def linked_web() -> tuple[DictWeb, tuple[str, ...]]:
    """150 pages of 30 hosts in a random graph, and 10 targets that look like any other page."""
    random = Random(8)
    urls = [f"http://h{n % 30}.example/{n}" for n in range(150)]
    entries = dict([page(PORTAL, *urls[:3], text="reef")])
    for number, url in enumerate(urls):
        ahead = [urls[min(number + step, 149)] for step in (1, random.randrange(2, 20))]
        back = random.sample(urls[: number + 1], min(2, number))
        entries |= dict([page(url, *ahead, *back, text="reef")])
    return DictWeb(entries), tuple(sorted(random.sample(urls[20:], 10)))


def rehearse(
    web: DictWeb,
    out: Path,
    *names: str,
    pages: int = 10_000,
    targets: Iterable[str] = (),
    concurrency: int = 64,
    **settings: object,
):
    """Rehearse on one topic; return the outcome of each ordering. Only linked pages are fetched."""
    topic = Topic("reef", ("coral reef",), (PORTAL,), targets=tuple(targets))
    stage = Runner(
        web, lambda _: {"CRAWL_FRONT_PAGES": False, **settings}, pages=pages, agent=AGENT, concurrency=concurrency
    )
    return {name: crawl for name, _, crawl in stage.rehearse(topic, names, out)}


def history(out: Path, name: str) -> list[dict]:
    return list(read_lines(out / "reef" / name / "history.jsonl"))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.json*"))}


# ------------------------------------------------------------ the same every time


@pytest.mark.parametrize("name", ORDERINGS)
def test_two_rehearsals_are_the_same_to_the_byte(tmp_path: Path, name: str) -> None:
    web, targets = linked_web()
    for folder in ("one", "two"):
        rehearse(web, tmp_path / folder, name, pages=60, targets=targets)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert len(history(tmp_path / "one", name)) == 60 or name == "omniscient", "whose plan ends with the last target"


def test_orderings_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Orderings share read and judged pages: alone and after others, each produces the same history."""
    web, targets = linked_web()
    rehearse(web, tmp_path / "together", *ORDERINGS, pages=60, targets=targets)
    for name in ("random", "hub_seeking", "dom"):
        rehearse(web, tmp_path / "alone", name, pages=60, targets=targets)
        assert history(tmp_path / "alone", name) == history(tmp_path / "together", name)


def test_what_a_page_asks_of_this_crawler_by_name_holds(tmp_path: Path) -> None:
    """Pages are read again under another user agent: a store keeps the view of one crawler."""
    web = tmp_path / "web" / "h.example"
    web.mkdir(parents=True)
    (web / "index.html").write_text('<p>reef <a href="/named.html">reef</a> <a href="/other.html">reef</a>')
    for name, robot in (("named", "topical-crawler"), ("other", "somebody")):
        (web / f"{name}.html").write_text(f'<meta name="{robot}" content="noindex"><p>reef {name}')
    for agent, barred in ((AGENT, "named"), ("somebody/2.0", "other")):
        stage = Runner(
            open_web(str(web.parent), cache_dir=tmp_path),
            lambda _: {},
            pages=9,
            agent=agent,
            shelf=PageCacheFolder(tmp_path, str(web.parent)),
        )
        list(stage.rehearse(Topic("reef", ("reef",), ("http://h.example/",)), ["dom"], tmp_path / agent))
        stage.close()
        errors = {line["url"]: line["error"] for line in history(tmp_path / agent, "dom")}
        assert [url for url, error in errors.items() if error == "noindex"] == [f"http://h.example/{barred}.html"]
        assert len(errors) == 3


# ------------------------------------------------------------ polite


def crawl_wide(out: Path, concurrency: int) -> list[dict]:
    """The history of a whole rehearsal on the wide web with the default settings; its pages are copies of each other."""
    web = wide_web()
    for h in range(0, HOSTS, 20):
        web.replies |= dict([robots(f"http://h{h}.example", "User-agent: *\nCrawl-delay: 7\n")])
    rehearse(web, out, "dom", PAGE_DUPLICATES=False, concurrency=concurrency)
    return history(out, "dom")


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    return crawl_wide(tmp_path_factory.mktemp("wide"), concurrency=64)


@pytest.fixture(scope="module")
def one_at_a_time(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    return crawl_wide(tmp_path_factory.mktemp("one"), concurrency=1)


def most_at_once(lines: list[dict]) -> int:
    """The largest number of simultaneous fetches."""
    starts = [line["at"] - line["seconds"] for line in lines]
    return max(
        sum(start <= moment + 1e-9 and line["at"] > moment + 1e-9 for start, line in zip(starts, lines, strict=True))
        for moment in starts
    )


def test_fetches_are_under_way_together_and_end_in_order(wide: list[dict], one_at_a_time: list[dict]) -> None:
    assert all(later["at"] >= earlier["at"] for earlier, later in pairwise(wide))
    assert most_at_once(one_at_a_time) == 1 and 30 < most_at_once(wide) <= HOSTS
    assert wide[-1]["at"] < 0.2 * one_at_a_time[-1]["at"]


def test_no_more_fetches_are_under_way_than_allowed(tmp_path: Path) -> None:
    assert most_at_once(crawl_wide(tmp_path, concurrency=5)) == 5


def test_links_are_known_when_the_fetch_of_their_page_has_ended(wide: list[dict]) -> None:
    ends = {line["url"]: line["at"] for line in wide}
    assert all(line["at"] - line["seconds"] >= ends[line["parent"]] - 1e-9 for line in wide[1:])


def test_robots_txt_is_a_visit_after_which_the_host_rests(wide: list[dict]) -> None:
    """The first page of a host starts when its link is known, robots.txt has come, and the host has rested."""
    portal, first, *_ = wide
    assert portal["at"] == pytest.approx(ROUND_TRIP + 1.0 + ROUND_TRIP, abs=0.05)
    assert first["at"] - first["seconds"] == pytest.approx(portal["at"] + ROUND_TRIP + 1.0, abs=0.05)


def test_every_page_is_fetched_once(wide: list[dict]) -> None:
    assert len(wide) == HOSTS * PAGES + 1 and len({line["url"] for line in wide}) == len(wide)


def test_each_host_rests_as_long_as_it_should(wide: list[dict]) -> None:
    visits = defaultdict(list)
    for line, host in zip(wide, hosts_of(line["url"] for line in wide), strict=True):
        visits[host].append(line)
    for host, seen in visits.items():
        asked = 7.0 if host in ("h0.example", "h20.example", "h40.example") else 0.0
        for earlier, later in pairwise(seen):
            gap = later["at"] - later["seconds"] - earlier["at"]
            assert gap >= max(1.0, earlier["seconds"], asked) - 1e-9, host


def test_any_k_takes_are_of_different_hosts(one_at_a_time: list[dict]) -> None:
    picked = hosts_of(line["url"] for line in one_at_a_time[1:])
    waiting = dict.fromkeys(picked, PAGES)
    assert len(waiting) == HOSTS and picks_under_the_rule(picked, waiting, 50) > 250
    assert broken_picks(picked, waiting, 50) == []


# ------------------------------------------------------------ what is met on the way


def test_robots_rules_are_obeyed_and_distinguished(tmp_path: Path) -> None:
    web = DictWeb(
        dict(
            [
                page(PORTAL, "http://a.example/private/x", "http://a.example/open", "http://b.example/", text="reef"),
                page("http://a.example/private/x"),
                page("http://a.example/open", "http://c.example/private/x"),
                page("http://b.example/"),
                page("http://c.example/private/x"),
                robots("http://a.example", "User-agent: topical-crawler\nDisallow: /private/\n"),
                robots("http://b.example", "", status=503),
                robots("http://d.example", "User-agent: *\nDisallow: /\n"),
            ]
        )
    )
    web.replies["http://c.example/robots.txt"] = Reply("", 301, {"location": "http://d.example/robots.txt"})
    crawl = rehearse(web, tmp_path, "dom")["dom"]
    assert [line["url"] for line in history(tmp_path, "dom")] == [PORTAL, "http://a.example/open"]
    assert crawl.folder.refusals.counts == {"robots/forbidden": 2, "robots/unreachable": 1}


def test_a_rehearsal_writes_the_rules_that_it_learned(tmp_path: Path) -> None:
    """Copies at ``/story_N`` and ``/story?id=N`` (Bar-Yossef and others): within 50 pages, few of 40 copies are fetched."""
    random = Random(3)
    entries = dict(
        [page(PORTAL, *(f"{PORTAL}story{kind}{n}" for n in range(40) for kind in ("_", "?id=")), text="reef")]
    )
    for number in range(40):
        text = "reef " + " ".join(f"w{random.randrange(5000)}" for _ in range(200))
        for kind in ("_", "?id="):
            url = f"{PORTAL}story{kind}{number}"
            entries[url] = Reply(url, 200, HTML, html(text=text, title=f"Story {number}"))
    rehearse(
        DictWeb(entries), tmp_path, "breadth_first", pages=50, concurrency=1, **{**IMPATIENT, "PAGE_DUPLICATES": True}
    )
    rules = read_rules(tmp_path / "reef" / "breadth_first")
    assert list(map(str, rules)) == ["portal.example replace /story?id= /story_"]
    fetched = [line["url"] for line in history(tmp_path, "breadth_first")]
    assert sum("?id=" in url for url in fetched) < 15 and sum("story_" in url for url in fetched) > 30


def test_robots_txt_in_a_circle_allows(tmp_path: Path) -> None:
    web = DictWeb(dict([page(PORTAL, text="reef")]))
    web.replies[f"{PORTAL}robots.txt"] = Reply("", 302, {"location": "/robots.txt?again"})
    web.replies[f"{PORTAL}robots.txt?again"] = Reply("", 302, {"location": "/robots.txt"})
    assert rehearse(web, tmp_path, "dom")["dom"].stats.pages == 1


def test_what_is_no_page_is_reported_in_the_history(tmp_path: Path) -> None:
    links = ("/gone", "/film", "/old", "/self", "/nowhere", "/slow", "/closed", "/hidden")
    web = DictWeb(dict([page(PORTAL, *links, text="reef"), page("http://b.example/new", text="reef")]))
    web.replies |= {
        f"{PORTAL}film": Reply("", 200, {"content-type": "video/mp4"}, b"x"),
        f"{PORTAL}old": Reply("", 301, {"location": "http://b.example/new?utm_source=x"}),
        f"{PORTAL}self": Reply("", 302, {"location": "/self#part"}),
        f"{PORTAL}nowhere": Reply("", 302, {"location": "mailto:x@b.example"}),
        f"{PORTAL}slow": Reply("", 0, error="timeout", seconds=30.0),
        f"{PORTAL}closed": Reply("", 0, error="connection refused"),
        f"{PORTAL}hidden": Reply("", 200, {**HTML, "x-robots-tag": "noindex"}, html(text="reef")),
    }
    crawl = rehearse(web, tmp_path, "dom", **IMPATIENT)["dom"]
    lines = {line["url"].removeprefix(PORTAL): line for line in history(tmp_path, "dom")}
    assert {url: line["error"] for url, line in lines.items()} == {
        "": "",
        "gone": "http 404",
        "film": "content type video/mp4",
        "old": "",
        "http://b.example/new": "",
        "self": "redirect to itself",
        "nowhere": "redirect to no URL",
        "slow": "timeout",
        "closed": "connection refused",
        "hidden": "noindex",
    }
    assert lines["old"]["redirect"] == "http://b.example/new"
    assert lines["http://b.example/new"]["parent"] == PORTAL and lines["http://b.example/new"]["depth"] == 1
    assert lines["slow"]["seconds"] == 30.0
    assert (crawl.stats.pages, crawl.stats.fetches) == (2, 10)


def test_a_rehearsal_leaves_a_folder_without_pages(tmp_path: Path) -> None:
    web, targets = linked_web()
    out = rehearse(web, tmp_path, "dom", pages=20, targets=targets)["dom"].folder.path
    assert sorted(path.name for path in out.iterdir()) == ["crawl.json", "history.jsonl", "refused.json"]
    manifest = json.loads((out / "crawl.json").read_text())
    assert manifest["reason"] == "page budget" and manifest["started"] == 0.0 and manifest["finished"] > 0
    assert all(line["md5"] for line in history(tmp_path, "dom")), "pages are named, as in a live crawl"


# ------------------------------------------------------------ targets


def recall(lines: list[dict], targets: Iterable[str]) -> float:
    """Mean share of the targets found after each fetch."""
    wanted, found, total = set(targets), 0, 0
    for line in lines:
        found += line["url"] in wanted
        total += found
    return total / len(lines) / len(wanted)


@pytest.mark.parametrize("concurrency", [1, 64])
def test_omniscience_is_far_ahead(tmp_path: Path, concurrency: int) -> None:
    web, targets = linked_web()
    rehearse(web, tmp_path, *ORDERINGS, pages=100, targets=targets, concurrency=concurrency, **IMPATIENT)
    scores = {name: recall(history(tmp_path, name)[:100], targets) for name in ORDERINGS}
    best = scores.pop("omniscient")
    assert best > max(scores.values()) and len(scores) >= 8


def test_targets_that_cannot_be_reached_are_left_out_of_the_reckoning(tmp_path: Path) -> None:
    web, targets = linked_web()
    island = "http://island.example/"
    web.replies |= dict([page(island)])
    rehearse(web, tmp_path, "dom", pages=5, targets=[*targets, island, "http://gone.example/"])
    found = json.loads((tmp_path / "reef" / "reachable.json").read_text())
    assert sorted(found["targets"]) == sorted(targets)
    assert len(found["least_pages"]) == len(targets)


# ------------------------------------------------------------ again


def test_a_finished_run_is_kept_and_an_unfinished_one_starts_anew(tmp_path: Path) -> None:
    web, targets = linked_web()
    rehearse(web, tmp_path, "dom", "random", pages=30, targets=targets)
    before = files(tmp_path)
    manifest = tmp_path / "reef" / "random" / "crawl.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "reason": "", "finished": None}))
    log = tmp_path / "reef" / "random" / "history.jsonl"
    log.write_bytes(log.read_bytes()[:-30])
    for name in ("rules.jsonl", "agents.json", "collection.sqlite"):  # of a part that this run has not
        (log.parent / name).write_bytes(b"{}\n")
    again = rehearse(web, tmp_path, "dom", "random", pages=30, targets=targets)
    assert again["dom"] is None and again["random"] is not None
    assert files(tmp_path) == before


def test_a_rehearsal_ends_with_its_pages_though_the_crawl_would_visit_them_again(tmp_path: Path) -> None:
    web, _ = linked_web()
    rehearse(web, tmp_path / "once", "dom", pages=30)
    rehearse(web, tmp_path / "again", "dom", pages=30, CRAWL_REVISIT="uniform")
    visits = [(tmp_path / name / "reef" / "dom" / "history.jsonl").read_bytes() for name in ("once", "again")]
    assert visits[0] == visits[1]


@pytest.mark.parametrize("settings", [{"pages": 31}, {"pages": 30, "POLITENESS_MIN_DELAY": 2}])
def test_a_finished_run_with_other_settings_is_no_answer(tmp_path: Path, settings: dict) -> None:
    web, _ = linked_web()
    rehearse(web, tmp_path, "dom", pages=30)
    with pytest.raises(BadCrawlDir, match=r"reef/dom: holds a rehearsal with (CRAWL_MAX_PAGES 30, not 31|POLITENESS)"):
        rehearse(web, tmp_path, "dom", **settings)
    assert rehearse(web, tmp_path, "dom", pages=30, CRAWL_PROGRESS_SECONDS=1) == {"dom": None}


def test_a_finished_run_with_another_number_of_fetches_at_a_time_is_no_answer(tmp_path: Path) -> None:
    """Rehearsals of earlier versions fetched one page at a time, and did not record that."""
    web, _ = linked_web()
    rehearse(web, tmp_path, "dom", pages=30, concurrency=64)
    with pytest.raises(BadCrawlDir, match="CONCURRENT_REQUESTS 64, not 8"):
        rehearse(web, tmp_path, "dom", pages=30, concurrency=8)
    manifest = tmp_path / "reef" / "dom" / "crawl.json"
    held = json.loads(manifest.read_text())
    del held["settings"]["concurrent_requests"]
    manifest.write_text(json.dumps(held))
    with pytest.raises(BadCrawlDir, match="CONCURRENT_REQUESTS 1, not 64"):
        rehearse(web, tmp_path, "dom", pages=30, concurrency=64)
    assert rehearse(web, tmp_path, "dom", pages=30, concurrency=1) == {"dom": None}


def test_a_damaged_manifest_is_reported(tmp_path: Path) -> None:
    web, _ = linked_web()
    (tmp_path / "reef" / "dom").mkdir(parents=True)
    (tmp_path / "reef" / "dom" / "crawl.json").write_text("{")
    with pytest.raises(BadCrawlDir, match=r"crawl\.json"):
        rehearse(web, tmp_path, "dom")


def test_a_typing_error_in_a_setting_is_reported_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="FRONTIER_BATCHSIZE"):
        rehearse(DictWeb({}), tmp_path, "dom", FRONTIER_BATCHSIZE=3)
    assert list(tmp_path.iterdir()) == []


class EndlessWeb(DictWeb):
    def get(self, url: str) -> Reply:
        path = url.partition(".example/")[2]
        if not path.isdecimal():
            return super().get(url)
        return Reply(url, 200, HTML, html(f"/{int(path) + 1}", f"http://h{path}.example/0", text="coral reef"))


def test_pages_are_read_anew_for_other_terms_and_not_for_another_judge() -> None:
    default, words, meaning = (
        reading_key("en", read_options(settings), AGENT)
        for settings in ({}, {"TOPIC_TERMS": "word"}, {"TOPIC_RELEVANCE": "vectors"})
    )
    assert words != default == meaning


def test_a_web_without_end_ends_with_the_budget(tmp_path: Path) -> None:
    web = EndlessWeb(dict([page(PORTAL, "/0", text="coral reef")]))
    seen: Counter[int] = Counter()
    stage = Runner(web, lambda _: {"CRAWL_FRONT_PAGES": False}, pages=80, agent=AGENT)
    topic = Topic("reef", ("coral reef",), (PORTAL,), targets=(PORTAL,))
    for _, _, crawl in stage.rehearse(topic, ["best_first"], tmp_path, lambda crawl: seen.update([crawl.stats.pages])):
        assert crawl is not None and crawl.stats.pages == 80
    assert seen == Counter(range(1, 81)), "progress is called after each fetch"
