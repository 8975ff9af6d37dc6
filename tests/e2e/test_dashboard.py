"""The dashboard of a real crawl, over HTTP and in a browser."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from support.browser import DESKTOP, PHONE, Watcher, browser, fits, serving, wait_until
from support.crawling import QUICK, history, topic_file
from support.livecrawl import crawl_web

from crawlproject.records import Topic
from crawlproject.storage.logs import PageChange, PageChangeLog
from crawlproject.storage.read import read_links, read_visits
from crawlproject.topic.parse import load_topic
from crawlproject.webs.sample import SampleWeb

pytestmark = pytest.mark.slow

SEEDS = ("http://www.lagoon-notes.example/", "http://www.nacre-divers.example/", "http://www.hobby-ring.example/")
SLOW = {"POLITENESS_MIN_DELAY": 1.5, "CRAWL_PROGRESS_SECONDS": 0, "VIRTUAL_WEB": "sample"}


def get(url: str, **headers: str) -> Any:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as reply:
        return json.load(reply) if "json" in reply.headers["Content-Type"] else reply.read().decode()


def post(url: str, body: object, **headers: str) -> tuple[int, Any]:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def until(condition: Any, seconds: float = 120.0) -> Any:
    """Wait until ``condition`` returns a true value; return that value."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)
    return found


def crawling(folder: Path, topic: Path, **settings: object) -> Any:
    chosen = {**SLOW, "CRAWL_DIR": folder, "CRAWL_MAX_PAGES": 5000, **settings}
    return serving(folder.parent, "crawl", "topical", "-a", f"topic={topic}", DASHBOARD=1, **chosen)


def test_a_running_crawl_is_seen_paused_resumed_and_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "reefs"
    with crawling(folder, topic_file(tmp_path, *SEEDS)) as url:
        page = get(f"{url}/")
        token = page.split('name="token" content="')[1].split('"')[0]
        assert [crawl["name"] for crawl in get(f"{url}/api/crawls")["crawls"]] == ["reefs"]

        def state() -> dict[str, Any]:
            (found,) = get(f"{url}/api/state?crawl=reefs")["states"]
            return found

        running = until(lambda: (found := state())["pages"] > 10 and found)
        assert running["status"] == "running" and running["waiting"] > 0 and running["frontier_hosts"]
        assert running["best"][0]["relevance"] > 0.3 and running["curve"][-1][0] <= running["pages"]

        command = {"crawl": "reefs", "action": "pause"}
        assert post(f"{url}/api/control", command)[0] == 403
        assert post(f"{url}/api/control", command, **{"X-Dashboard-Token": "guess"})[0] == 403
        assert (
            post(f"{url}/api/control", command, **{"X-Dashboard-Token": token, "Origin": "http://evil.example"})[0]
            == 403
        )
        assert post(f"{url}/api/control", command, **{"X-Dashboard-Token": token, "Host": "evil.example"})[0] == 403
        best = state()["best"][0]["url"]
        judgment = {"crawl": "reefs", "url": best, "relevant": True}
        ours = {"X-Dashboard-Token": token}
        assert post(f"{url}/api/judge", judgment)[0] == 403
        assert post(f"{url}/api/judge", judgment, **ours, Origin="http://evil.example")[0] == 403
        assert not (folder / "judgments.jsonl").exists()
        for wrong in ({"url": "http://never.example/"}, {"relevant": 1}, {"url": None}, {"crawl": "../reefs"}):
            assert post(f"{url}/api/judge", judgment | wrong, **ours)[0] == 400
        assert post(f"{url}/api/judge", judgment, **ours)[0] == 200
        assert state()["judged"] == {best: True} and state()["judgeable"]

        assert state()["status"] == "running"
        assert post(f"{url}/api/control", {**command, "action": "explode"}, **{"X-Dashboard-Token": token})[0] == 400

        assert post(f"{url}/api/control", command, **{"X-Dashboard-Token": token})[0] == 200
        until(lambda: not state()["leased"] or None)
        before = state()["fetches"]
        time.sleep(2.0)  # more than the politeness delay of any host
        assert state()["fetches"] == before and state()["status"] == "paused"

        assert post(f"{url}/api/control", {**command, "action": "resume"}, **{"X-Dashboard-Token": token})[0] == 200
        until(lambda: state()["fetches"] > before)

        found = get(f"{url}/api/search?crawl=reefs&q=coral+reef")
        assert found["total"] > 0 and "<b>" in found["hits"][0]["snippet"]
        assert "crawl report" in get(f"{url}/report?crawl=reefs")

        assert post(f"{url}/api/control", {**command, "action": "stop"}, **{"X-Dashboard-Token": token})[0] == 200
        until(lambda: (folder / "report.html").exists() and json.loads((folder / "crawl.json").read_text())["reason"])
    assert json.loads((folder / "crawl.json").read_text())["reason"] == "shutdown"
    assert len(history(folder)) > before and not (folder / "dashboard.json").exists()


def test_a_name_that_was_rebound_reads_nothing(tmp_path: Path) -> None:
    with crawling(tmp_path / "reefs", topic_file(tmp_path, *SEEDS)) as url:
        for path in ("/", "/api/crawls", "/api/state?crawl=reefs", "/report?crawl=reefs", "/dashboard.js"):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                get(url + path, Host="evil.example")
        with pytest.raises(urllib.error.HTTPError, match="400"):
            get(f"{url}/report?crawl=../../etc")


def test_the_live_view_of_a_crawl_in_a_browser(tmp_path: Path) -> None:
    with browser() as chromium, crawling(tmp_path / "reefs", topic_file(tmp_path, *SEEDS)) as url:
        page = chromium.new_page(viewport=DESKTOP)
        watcher = Watcher(page)
        page.goto(url)
        page.wait_for_selector("#best li")
        page.wait_for_selector("#curve svg polyline")
        assert page.inner_text(".run .status") == "running"
        first = page.inner_text(".tiles dd")
        wait_until(page, f"document.querySelector('.tiles dd').textContent !== {first!r}")  # it is live
        assert page.locator("#details table").count() >= 3

        page.fill("#search-query", "coral")
        page.click("#search button")
        page.wait_for_selector("#hits li b")

        # A second click on a button withdraws its judgment. The button is not redrawn while it is held down, however long.
        judgments = tmp_path / "reefs" / "judgments.jsonl"
        address = page.locator("#best .url").first.inner_text()

        def press(button: str, said: object) -> None:
            page.locator("#best li", has_text=address).first.locator(f".judge .{button}").click(
                delay=1200 if said else 0
            )
            until(lambda: judgments.exists() and judgments.read_text().endswith("\n"), 10)
            until(lambda: json.loads(judgments.read_text().splitlines()[-1])["relevant"] is said, 10)
            assert json.loads(judgments.read_text().splitlines()[-1])["url"] == address

        press("yes", True)
        page.wait_for_selector("#best .yes[aria-pressed=true]")
        press("no", False)
        page.wait_for_selector("#best .no[aria-pressed=true]")
        assert page.locator("#best .yes[aria-pressed=true]").count() == 0
        assert "1 judged by you" in page.inner_text("#judged-note")
        press("no", None)
        wait_until(page, "!document.querySelector('#best [aria-pressed=true]')")
        page.locator("#hits .yes").first.click()
        page.wait_for_selector("#hits .yes[aria-pressed=true]")

        page.click("[data-action=pause]")
        page.wait_for_selector(".status.paused")
        page.click("[data-action=resume]")
        page.wait_for_selector(".status.running")
        page.set_viewport_size(PHONE)
        assert fits(page)
        page.click("[data-action=stop]")
        wait_until(page, "document.querySelector('#connection').textContent === 'ended'")
        assert page.inner_text(".run .status") == "ended" and page.locator(".run button, .run a, .judge").count() == 0
        assert f"Its report is {tmp_path / 'reefs' / 'report.html'}" in page.inner_text(".run")
        assert fits(page)
        assert all(request.startswith(url) for request in watcher.requests)
        assert [problem for problem in watcher.problems if "ERR_CONNECTION_REFUSED" not in problem] == []


def test_crawls_are_started_from_a_query_and_compared(tmp_path: Path) -> None:
    arguments = ("dashboard", tmp_path / "crawls")
    settings = {**QUICK, "VIRTUAL_WEB": "sample", "CRAWL_ALLOWED_DOMAINS": ""}
    with browser() as chromium, serving(tmp_path, *arguments, **settings) as url:
        page = chromium.new_page(viewport=DESKTOP)
        watcher = Watcher(page)
        page.goto(url)
        page.fill("#query", "coral reefs, bleaching")
        page.fill("#seeds", "\n".join(SEEDS))
        page.fill("#pages", "40")
        page.click("#orderings summary")
        page.set_checked("#orderings input[value=adaptive]", False)
        for ordering in ("infospiders", "breadth_first"):
            page.set_checked(f"#orderings input[value={ordering}]", True)
        page.click("#start-button")
        page.wait_for_selector(".run:nth-of-type(2) .tiles", timeout=60_000)
        wait_until(page, "[...document.querySelectorAll('.run .status')].every(e => e.textContent.startsWith('ended'))")
        assert {*page.locator("#curve .legend li").all_inner_texts()} == {"infospiders", "breadth_first"}
        colours = page.eval_on_selector_all("#curve .legend li", "nodes => nodes.map(n => n.className)")
        assert len(set(colours)) == 2
        badges = set(page.locator("#best .badge").all_inner_texts())
        assert badges == {"infospiders", "breadth_first"}
        assert page.locator(".judge").count() == 0  # judgments affect neither ordering

        # A single crawl shows a colour for each agent.
        page.goto(f"{url}/#coral-reefs-bleaching.infospiders")
        page.reload()
        page.wait_for_selector("#best .badge")
        agents = set(page.locator("#best .badge").all_inner_texts())
        assert len(agents) > 1 and all(agent.startswith("agent ") for agent in agents)
        marks = page.eval_on_selector_all("#best li", "nodes => nodes.map(n => getComputedStyle(n).borderLeftColor)")
        assert len(set(marks)) == len(agents)
        assert watcher.problems == [] and all(request.startswith(url) for request in watcher.requests)

        page.fill("#query", "bread")
        page.fill("#seeds", "ftp://example.org/")
        page.click("#start-button")
        wait_until(page, "document.querySelector('#start-problem').textContent.startsWith('Seeds: ')")
    lines = history(tmp_path / "crawls" / "coral-reefs-bleaching.infospiders")
    assert sum(bool(line["md5"]) for line in lines) == 40
    assert {line["signs"]["agent"] for line in lines} > {0.0}


def test_a_query_is_enough_and_the_agents_have_a_family_tree(tmp_path: Path) -> None:
    everything = Topic("everything", ("coral reef", "honey bees"), ("http://www.open-directory.example/", *SEEDS))
    quick = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "CRAWL_MAX_PAGES": 60}
    crawl_web(everything, SampleWeb(), tmp_path / "crawls" / "everything", **quick)
    mine = tmp_path / "mine.txt"
    mine.write_text("http://www.night-dive.example/ coral reefs at night\nhttp://www.sour-diary.example/ bread\n")
    settings = {**QUICK, "VIRTUAL_WEB": "sample", "POLITENESS_MIN_DELAY": 0.2, "CRAWL_ALLOWED_DOMAINS": ""}
    settings |= {"SEED_FILES": mine, "ORDERING_REPRODUCTION": 2, "ORDERING_POPULATION": 5}
    with browser() as chromium, serving(tmp_path, "dashboard", tmp_path / "crawls", **settings) as url:
        page = chromium.new_page(viewport=DESKTOP)
        watcher = Watcher(page)
        page.goto(url)
        page.fill("#query", "zeppelins")
        page.click("#find-button")
        wait_until(page, "document.querySelector('#start-problem').textContent.includes('name a page to start from')")
        page.fill("#query", "coral reefs, bleaching")
        page.click("#find-button")
        page.wait_for_selector("#found-seeds li", timeout=60_000)
        found = page.input_value("#seeds").split()
        assert (
            "http://www.night-dive.example/" in found and len(found) > 3 and not any("sour" in seed for seed in found)
        )
        assert "everything" in page.inner_text("#found-seeds") and "mine.txt" in page.inner_text("#found-seeds")

        page.fill("#seeds", "")
        page.fill("#pages", "150")
        page.set_checked("#orderings input[value=adaptive]", False)
        page.set_checked("#orderings input[value=infospiders]", True)
        page.click("#start-button")
        page.wait_for_selector("#agents .tree meter", timeout=60_000)  # while it runs
        page.wait_for_selector("#agents .tree ul [data-agent]", timeout=60_000)  # an offspring, below its parent
        wait_until(page, "document.querySelector('.run .status').textContent.startsWith('ended')")
        wait_until(page, "document.querySelectorAll('#agents .dead').length > 0")
        nested = page.eval_on_selector_all(
            "#agents ul ul > [data-agent]",
            "nodes => nodes.map(n => [n.parentNode.parentNode.dataset.agent, n.querySelector('summary').textContent])",
        )
        assert nested and all(f"of agent {parent}" in text for parent, text in nested if "born at" in text)
        hues = "nodes => nodes.map(n => getComputedStyle(n).getPropertyValue('--mark'))"
        colours = page.eval_on_selector_all("#agents [data-agent]", hues)
        assert len(set(colours)) == len(colours) > 3
        page.locator("#agents summary").first.click()
        page.wait_for_selector("#agents details[open] .pages li")
        page.wait_for_timeout(300)
        page.evaluate("drawAgents()")  # it stays open when it is drawn again
        assert page.locator("#agents details[open] .pages li a").count() > 0
        page.set_viewport_size(PHONE)
        wait_until(page, "document.querySelector('#curve svg').viewBox.baseVal.width < innerWidth")
        assert fits(page)
        assert [problem for problem in watcher.problems if "400" not in problem] == []
        assert all(request.startswith(url) for request in watcher.requests)
    folder = tmp_path / "crawls" / "coral-reefs-bleaching.infospiders"
    topic = load_topic(folder / "topic.toml")
    assert (
        set(topic.seeds) == set(found) and "  # mine.txt: coral reefs at night" in (folder / "topic.toml").read_text()
    )
    assert {int(line["signs"]["agent"]) for line in history(folder) if line["md5"]} <= {
        agent["number"] for agent in json.loads((folder / "agents.json").read_text())
    }


def test_changes_of_known_pages_are_shown(tmp_path: Path) -> None:
    folder = tmp_path / "crawls" / "reefs"
    topic = Topic("reefs", ("coral reef",), SEEDS, settings={**QUICK, "CRAWL_MAX_PAGES": 5})
    crawl_web(topic, SampleWeb(), folder)
    log, [url, *_] = PageChangeLog(folder), [visit.url for visit in read_visits(folder)]
    text = {"title": "Reefs <b>of the north", "novelty": 0.31, "added": ("A new survey.",), "removed": ("An old one.",)}
    log.append(PageChange(url, "changed", 1_790_000_000.0, 1_780_000_000.0, 2, 2, **text))
    log.append(PageChange(f"{url}maps", "moved", 1_790_000_100.0, 1_780_000_000.0, 2, 1, target="http://maps.example/"))
    log.close()
    with browser() as chromium, serving(tmp_path, "dashboard", tmp_path / "crawls") as address:
        page = chromium.new_page(viewport=DESKTOP)
        page.goto(address)
        wait_until(page, "document.querySelectorAll('#changes li').length === 2")
        moved, changed = page.inner_text("#changes li:nth-child(1)"), page.inner_text("#changes li:nth-child(2)")
        assert "moved to http://maps.example/" in moved
        assert "Reefs <b>of the north" in changed and "changed, 31% new" in changed
        assert "A new survey." in changed and "An old one." in changed
        assert fits(page)


def test_a_running_crawl_learns_from_a_click(tmp_path: Path) -> None:
    folder = tmp_path / "reefs"
    with crawling(folder, topic_file(tmp_path, *SEEDS), ORDERING="best_first", FRONTIER_BATCH_SIZE=1) as url:
        ours = {"X-Dashboard-Token": get(f"{url}/").split('name="token" content="')[1].split('"')[0]}

        def state() -> dict[str, Any]:
            return get(f"{url}/api/state?crawl=reefs")["states"][0]

        until(lambda: state().get("pages", 0) > 15)
        assert state()["learns"] and state()["best_score"] < 1.0
        assert post(f"{url}/api/control", {"crawl": "reefs", "action": "pause"}, **ours)[0] == 200
        until(lambda: not state()["leased"] or None)
        links = dict(read_links(folder))
        fetched = {line["url"] for line in history(folder)}
        liked = next(page for page, targets in links.items() if len({*targets} - fetched) > 3)
        assert post(f"{url}/api/judge", {"crawl": "reefs", "url": liked, "relevant": True}, **ours)[0] == 200
        until(lambda: state()["best_score"] == 1.0)
        assert state()["learning"] is None
        assert post(f"{url}/api/control", {"crawl": "reefs", "action": "resume"}, **ours)[0] == 200
        liked_links = {*links[liked]} - fetched  # their hosts may have to rest first
        until(lambda: any(line["url"] in liked_links and line["score"] == 1.0 for line in history(folder)))
        assert all(line["score"] < 1.0 or line["depth"] == 0 for line in history(folder) if line["url"] in fetched)


def started(url: str, **wish: object) -> tuple[str, dict[str, str]]:
    """Start one crawl over HTTP; return its name, and the headers for commands."""
    token = get(f"{url}/").split('name="token" content="')[1].split('"')[0]
    headers = {"X-Dashboard-Token": token}
    form = {"query": "coral reefs", "seeds": "\n".join(SEEDS), "orderings": ["dom"], "pages": 1500, **wish}
    status, answer = post(f"{url}/api/start", form, **headers)
    assert status == 200, answer
    (name,) = answer["started"]
    return name, headers


def test_a_query_alone_over_sockets(tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("".join(f"{seed} reefs\n" for seed in SEEDS))
    with serving(tmp_path, "dashboard", tmp_path / "crawls", **SLOW, SEED_FILES=mine) as url:
        page = get(f"{url}/")
        assert "earlier crawls, 1 seed file" in page
        ours = {"X-Dashboard-Token": page.split('name="token" content="')[1].split('"')[0]}
        for path, body in (("seeds", {"query": "reefs"}), ("start", {"query": "reefs"})):
            assert post(f"{url}/api/{path}", body)[0] == 403
            assert post(f"{url}/api/{path}", body, **ours, Origin="http://evil.example")[0] == 403
        assert [seed["url"] for seed in post(f"{url}/api/seeds", {"query": "reefs"}, **ours)[1]["seeds"]] == list(SEEDS)
        for query in ("", " , ", "the", "bread"):
            status, answer = post(f"{url}/api/seeds", {"query": query}, **ours)
            assert status == 400 and answer["error"]
        form = {"query": "reefs", "seeds": "", "orderings": ["dom"], "pages": 50}
        status, answer = post(f"{url}/api/start", form, **ours)
        assert status == 200 and answer["started"] == ["reefs.dom"] and answer["notes"] == []
        assert [seed["source"] for seed in answer["seeds"]] == ["mine.txt"] * 3
        until(lambda: get(f"{url}/api/state?crawl=reefs.dom")["states"][0].get("pages"), 40)
        assert get(f"{url}/report?crawl=reefs.dom")
    # The next dashboard shows the ended crawl, with working links.
    with serving(tmp_path, "dashboard", tmp_path / "crawls") as url:
        (state,) = get(f"{url}/api/state?crawl=reefs.dom")["states"]
        assert state["status"] == "interrupted" and state["pages"] > 0
        assert "crawl report" in get(f"{url}/report?crawl=reefs.dom") and get(f"{url}/map?crawl=reefs.dom")


def test_a_stopped_crawl_is_resumed(tmp_path: Path) -> None:
    with serving(tmp_path, "dashboard", tmp_path / "crawls", **SLOW) as url:
        name, headers = started(url)

        def state() -> dict[str, Any]:
            return get(f"{url}/api/state?crawl={name}")["states"][0]

        def command(action: str) -> None:
            assert post(f"{url}/api/control", {"crawl": name, "action": action}, **headers)[0] == 200

        until(lambda: state().get("waiting") and state()["pages"] > 5, 40)
        command("stop")
        stopped = until(lambda: (found := state())["status"] == "interrupted" and found, 40)
        assert stopped["resumable"]
        command("resume")
        until(lambda: state()["status"] == "running" and state()["pages"] > stopped["pages"], 40)
    # The crawls of a dashboard end with it, and can be resumed.
    manifest = json.loads((tmp_path / "crawls" / name / "crawl.json").read_text())
    assert manifest["reason"] == "shutdown" and len(manifest["resumes"]) == 1


def test_a_crawl_that_cannot_start_says_why(tmp_path: Path) -> None:
    with serving(tmp_path, "dashboard", tmp_path / "crawls", **SLOW, TRAP_MAX_DEPTH="many") as url:
        name, _ = started(url)
        failed = until(
            lambda: (found := get(f"{url}/api/state?crawl={name}")["states"][0])["status"] == "failed" and found, 40
        )
        assert "TRAP_MAX_DEPTH" in failed["output"] and not failed["resumable"]
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            get(f"{url}/report?crawl={name}")
        assert "has no report: it fetched nothing" in refused.value.read().decode()


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with serving(tmp_path, "dashboard", tmp_path / "crawls") as url:
        for path, status in (("/nothing", 404), ("/api/start", 405), ("/map?crawl=none", 400), ("/api/search", 400)):
            with pytest.raises(urllib.error.HTTPError, match=str(status)):
                get(url + path)
        token = {"X-Dashboard-Token": get(f"{url}/").split('name="token" content="')[1].split('"')[0]}
        assert post(f"{url}/api/start", ["no form"], **token)[0] == 400
        assert post(f"{url}/api/start", {"query": "x" * 100_000}, **token)[0] == 400
        assert get(f"{url}/api/crawls") == {"crawls": []}
