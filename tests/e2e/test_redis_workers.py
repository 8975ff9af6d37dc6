"""Several workers of one crawl over sockets, with their own Redis."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from support.crawling import QUICK, history, refusals, scrapy, stored, topic_file
from support.crew import Crew, lines, pauses, wait_for
from support.redisserver import LASTING, PROGRAM, RedisServer, redis_server
from support.webs import DictWeb, OverloadedWeb, are_kept, host_farm, page

from benchmarks.worker_kills import served
from crawlproject.http.virtual_web_server import AccessLog, read_log, running

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")
PORTAL = "http://portal.example/"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path / "redis", *LASTING) as running_server:
        yield running_server


def pages_of(web: DictWeb) -> set[str]:
    return {url for url in web.urls() if not url.endswith("robots.txt")}


def test_two_workers_share_one_crawl_and_every_host_has_its_rest(tmp_path: Path, server: RedisServer) -> None:
    web = host_farm(20, 8, seconds=0.02)
    topic = topic_file(tmp_path, PORTAL)
    with served(web, tmp_path / "log") as port:
        crew = Crew(tmp_path / "crawl", topic, server, port, POLITENESS_MIN_DELAY=0.2, CONCURRENT_REQUESTS=4)
        for name in ("a", "b"):
            crew.start(name)
        crew.wait()
    assert crew.stored() == dict.fromkeys(pages_of(web), 1)
    assert all(stored(worker) for worker in crew.workers()), "both had a part in it"
    assert min(pauses(tmp_path / "log")) >= 0.2

    told = scrapy("report", tmp_path / "crawl")
    assert told.returncode == 0, told.stderr
    assert stored(tmp_path / "crawl") == pages_of(web)
    moments = [line["at"] for line in history(tmp_path / "crawl")]
    assert moments == sorted(moments)
    assert f">{len(pages_of(web))}<" in (tmp_path / "crawl" / "report.html").read_text()
    manifest = json.loads((tmp_path / "crawl" / "crawl.json").read_text())
    assert (manifest["workers"], manifest["reason"]) == (["a", "b"], "finished")
    assert "redis://" not in json.dumps(manifest["settings"]), "a URL may carry a password"
    assert scrapy("report", tmp_path / "crawl").returncode == 0, "it may be merged again"


def test_killed_workers_and_a_killed_redis_lose_nothing(tmp_path: Path, server: RedisServer) -> None:
    web = host_farm(25, 12, seconds=0.05)
    topic = topic_file(tmp_path, PORTAL)
    with served(web, tmp_path / "log") as port:
        crew = Crew(tmp_path / "crawl", topic, server, port, POLITENESS_MIN_DELAY=0.1, CONCURRENT_REQUESTS=6)
        crew.start("a")
        crew.start("b")
        for victim, after in (("a", 20), ("b", 40)):
            wait_for(lambda after=after: lines(tmp_path / "log") > after)
            crew.kill(victim)
            crew.start(victim)
        before = lines(tmp_path / "log")
        wait_for(lambda: lines(tmp_path / "log") > before + 40)
        server.kill()
        time.sleep(1.0)
        server.start()
        said = crew.wait()
    assert set(crew.stored()) == pages_of(web)
    assert "the crawl waits, nothing is lost" in said and "the crawl continues" in said
    assert min(pauses(tmp_path / "log")) >= 0.1
    fetched = Counter(access["url"] for access in read_log(tmp_path / "log") if "robots.txt" not in access["url"])
    assert sum(fetched.values()) - len(fetched) <= 2 * 6, "what was being fetched when a worker was killed"


@pytest.mark.parametrize("ordering", ["dom", "adaptive"])
def test_a_cleared_redis_ends_the_worker_with_advice_and_loses_nothing(
    tmp_path: Path, server: RedisServer, ordering: str
) -> None:
    web = host_farm(12, 12, seconds=0.25)
    folder = tmp_path / "crawl"
    with served(web, tmp_path / "log") as port:
        crew = Crew(folder, topic_file(tmp_path, PORTAL), server, port)
        crew.start("one", ordering)
        wait_for(lambda: lines(folder / "workers/one/history.jsonl") > 30)
        redis.Redis(port=server.port).flushall()
        _, said = crew.processes["one"].communicate(timeout=60)
        assert crew.processes["one"].returncode == 3
        assert "cleared" in said and "run the same command" in said and "space" not in said, said
        assert len(stored(folder / "workers/one")) < len(pages_of(web))
        crew.start("one", ordering)
        assert "the server had lost this crawl" in crew.wait()
    assert crew.stored() == dict.fromkeys(pages_of(web), 1)
    assert not [
        url for url, times in Counter(line["url"] for line in history(folder / "workers/one")).items() if times > 1
    ]


def test_the_rest_that_a_server_asks_for_is_kept_by_all_workers_of_all_crawls(tmp_path, server) -> None:
    pages = host_farm(2, 8, seconds=0.02)
    web = OverloadedWeb(pages.replies, ["http://h1.example/"], 3)
    with AccessLog(tmp_path / "log") as log, running(web, latency=True, log=log) as front:
        crews = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            topic = topic_file(tmp_path / name, PORTAL, extra=f'name = "{name}"')
            crews.append(Crew(tmp_path / name / "crawl", topic, server, front.port))
            crews[-1].start(name)
        for crew in crews:
            crew.wait()
    assert [set(crew.stored()) for crew in crews] == [pages_of(pages)] * 2
    visits = sorted(
        (access["start"], access) for access in read_log(tmp_path / "log") if access["host"] == "h1.example"
    )
    refused = next(at for at, (_, access) in enumerate(visits) if access["status"] == 503)
    assert visits[refused + 1][0] - visits[refused][1]["end"] >= 3.0


def test_a_worker_that_never_comes_back_is_replaced_by_the_others(tmp_path: Path, server: RedisServer) -> None:
    web = host_farm(6, 6, seconds=0.3)
    with running(web, latency=True) as front:
        crew = Crew(tmp_path / "crawl", topic_file(tmp_path, PORTAL), server, front.port, FRONTIER_REDIS_LEASE=3)
        crew.start("lost")
        wait_for(lambda: lines(tmp_path / "crawl/workers/lost/history.jsonl") > 3)
        crew.kill("lost")
        del crew.processes["lost"]
        crew.start("left")
        said = crew.wait()
    assert set(crew.stored()) == pages_of(web), said


def test_a_worker_that_is_drained_gives_its_hosts_to_the_others_and_ends(tmp_path: Path, server: RedisServer) -> None:
    web = host_farm(12, 8, seconds=0.1)
    folder = tmp_path / "crawl"
    with served(web, tmp_path / "log") as port:
        crew = Crew(folder, topic_file(tmp_path, PORTAL), server, port, POLITENESS_MIN_DELAY=0.1)
        for name in ("stays", "goes"):
            crew.start(name)
        wait_for(lambda: all(lines(folder / f"workers/{name}/history.jsonl") > 5 for name in ("stays", "goes")))
        done = scrapy("frontier", "drain", f"{server.url}/topic", "goes")
        assert done.returncode == 0, done.stderr
        crew.wait()
    assert crew.stored() == dict.fromkeys(pages_of(web), 1)
    reasons = {path.name: json.loads((path / "crawl.json").read_text())["reason"] for path in crew.workers()}
    assert reasons == {"goes": "drained", "stays": "finished"}
    assert are_kept(pauses(tmp_path / "log"), 0.1)


def test_two_workers_of_one_name_are_refused(tmp_path: Path, server: RedisServer) -> None:
    with running(host_farm(2, 3, seconds=3.0), latency=True) as front:
        crew = Crew(tmp_path / "crawl", topic_file(tmp_path, PORTAL), server, front.port)
        crew.start("same")
        wait_for((tmp_path / "crawl/workers/same/crawl.json").exists)
        settings = {**crew.settings, "CRAWL_WORKER": "same"}
        second = scrapy("crawl", "topical", "-a", f"topic={crew.topic}", **settings)
        crew.kill("same")
    assert second.returncode == 2
    assert "give each worker its own CRAWL_WORKER" in second.stderr


def test_the_budget_of_pages_is_that_of_all_workers(tmp_path: Path, server: RedisServer) -> None:
    web = host_farm(10, 10, seconds=0.02)
    with running(web, latency=True) as front:
        crew = Crew(tmp_path / "crawl", topic_file(tmp_path, PORTAL), server, front.port, CRAWL_MAX_PAGES=40)
        for name in ("a", "b", "c"):
            crew.start(name)
        crew.wait()
    assert sum(crew.stored().values()) == 40
    manifests = [json.loads((worker / "crawl.json").read_text()) for worker in crew.workers()]
    assert [manifest["reason"] for manifest in manifests] == ["page budget"] * 3


def test_the_limit_of_a_host_is_that_of_all_workers(tmp_path: Path, server: RedisServer) -> None:
    web = host_farm(4, 12, seconds=0.02)
    with running(web, latency=True) as front:
        crew = Crew(tmp_path / "crawl", topic_file(tmp_path, PORTAL), server, front.port, TRAP_MAX_URLS_PER_HOST=5)
        for name in ("a", "b"):
            crew.start(name)
        crew.wait()
    by_host = Counter(url.split("/")[2] for url in crew.stored())
    assert by_host == {"portal.example": 1, **{f"h{number}.example": 5 for number in range(4)}}
    assert sum(refusals(worker).get("trap/host_full", 0) for worker in crew.workers()) == 4 * (12 - 5)


def test_seeds_are_pushed_while_the_crawl_runs(tmp_path: Path, server: RedisServer) -> None:
    urls = ["http://a.example/", "http://b.example/", "http://c.example/", "http://d.example/", "http://e.example/"]
    client = redis.Redis(port=server.port)
    client.lpush("topical:start_urls", urls[1], "no URL at all", "{broken")
    with running(DictWeb(dict(page(url, text="reef") for url in urls))) as front:
        crew = Crew(tmp_path / "crawl", topic_file(tmp_path, urls[0]), server, front.port, MAX_IDLE_TIME_BEFORE_CLOSE=8)
        crew.start("a")
        wait_for(lambda: lines(tmp_path / "crawl/workers/a/history.jsonl") == 2)
        client.sadd("topic:start_urls", json.dumps({"url": urls[2], "meta": {"score": 7}}))
        wait_for(lambda: lines(tmp_path / "crawl/workers/a/history.jsonl") == 3)
        client.delete("topical:start_urls")
        client.zadd("topical:start_urls", {urls[3]: 1, urls[4]: 2})
        said = crew.wait()
    assert set(crew.stored()) == set(urls)
    assert next(line for line in history(crew.workers()[0]) if line["url"] == urls[2])["score"] == 7
    assert said.count("not a seed") == 1
    assert refusals(crew.workers()[0])["seed/no_url"] == 1
    assert client.exists("topical:start_urls", "topic:start_urls") == 0


def test_the_command_looks_into_redis_and_clears_it(tmp_path: Path, server: RedisServer) -> None:
    web = host_farm(3, 4)
    with running(web) as front:
        crew = Crew(tmp_path / "crawl", topic_file(tmp_path, PORTAL), server, front.port, CRAWL_MAX_PAGES=5)
        crew.start("a")
        crew.wait()
    place = f"{server.url}/topic"
    stats = json.loads(scrapy("frontier", "stats", place, "--json").stdout)
    assert (stats["kind"], stats["done"], stats["leased"], stats["in_use_by"]) == ("redis", 5, 0, None)
    elsewhere = scrapy("frontier", "peek", place)
    assert elsewhere.returncode == 2 and "name the crawl folder" in elsewhere.stderr
    best = json.loads(scrapy("frontier", "peek", tmp_path / "crawl", "--json", "--top", "100").stdout)
    assert len(best) == stats["waiting"] > 0
    why = json.loads(scrapy("frontier", "why", tmp_path / "crawl", best[0]["url"], "--json").stdout)
    assert why["state"] == "waiting"
    assert scrapy("frontier", "drain", place, "nobody").returncode == 2
    cleared = scrapy("frontier", "clear", place, "--yes")
    assert cleared.returncode == 0, cleared.stderr
    left = redis.Redis(port=server.port).keys("*")
    assert all(key.startswith(b"topical:clock:") for key in left), left
    assert scrapy("frontier", "stats", place).returncode == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"REDIS_URL": "redis://127.0.0.1:1/0"}, "no Redis at"), ({"REDIS_URL": "http://127.0.0.1/"}, "REDIS_URL")],
)
def test_a_redis_that_cannot_be_used_is_one_message(tmp_path: Path, server: RedisServer, settings, message) -> None:
    chosen = {**QUICK, "CRAWL_DIR": tmp_path / "crawl", "FRONTIER": "redis", "REDIS_URL": server.url, **settings}
    done = scrapy("crawl", "topical", "-a", f"topic={topic_file(tmp_path, PORTAL)}", **chosen)
    assert done.returncode != 0
    assert message in done.stderr and "Traceback" not in done.stderr
