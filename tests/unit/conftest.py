"""Fabricated crawl folders, like those of real crawls."""

import dataclasses
import json
from random import Random

import pytest

from crawlproject.records import Visit
from crawlproject.urls.hosts import page_name

WORDS = ("turbine", "offshore", "rotor", "blade", "grid", "storage", "farm", "coastal", "survey", "market", "museum")


@pytest.fixture
def write_crawl():
    """``write_crawl(folder, visits, refused=None, **manifest)`` makes a crawl folder and returns its path."""

    def write(folder, visits=(), refused=None, **manifest):
        folder.mkdir(parents=True, exist_ok=True)
        document = {"version": 1, "topic": {"name": "wind"}, "ordering": "dom", **manifest}
        (folder / "crawl.json").write_text(json.dumps(document))
        lines = [json.dumps(dataclasses.asdict(visit)) + "\n" for visit in visits]
        (folder / "history.jsonl").write_text("".join(lines))
        if refused:
            (folder / "refused.json").write_text(json.dumps(refused))
        return folder

    return write


@pytest.fixture
def page():
    """``page(url, **fields)`` is the visit of a stored page."""

    def make(url, **fields):
        values = {
            "status": 200,
            "at": 1000.0,
            "md5": page_name(url),
            "digest": page_name(url),
            "title": f"Title of {url}",
        }
        return Visit(url=url, **{**values, **fields})

    return make


@pytest.fixture
def crawl_of_pages(page):
    """``crawl_of_pages(n)`` returns the visits of a plausible crawl: hosts, links, failures, redirects, polite pauses."""

    def make(n, seed=7, hosts=25, min_delay=1.0):
        random = Random(seed)
        clock, free, stored, visits = 1_790_000_000.0, {}, [], []
        while len(stored) < n:
            number = len(visits)
            host = f"site{random.randrange(hosts)}.example.org"
            seconds = random.uniform(0.05, 0.6)
            clock = max(clock + 0.02, free.get(host, 0.0))
            near = [visit for visit in stored[-60:] if visit.depth < 9]
            parent = random.choice(near) if len(stored) > 3 and near else None
            depth = parent.depth + 1 if parent else 0
            relevance = min(1.0, max(0.0, 0.7 * (parent.relevance if parent else 0.4) + random.gauss(0.06, 0.1)))
            title = " ".join(random.sample(WORDS, 4)).capitalize()
            fields = {
                "at": clock + seconds,
                "seconds": seconds,
                "score": max(0.0, relevance + random.gauss(0, 0.1)) if parent else 1.0,
                "depth": depth,
                "parent": parent.url if parent else None,
                "anchor": " ".join(random.sample(WORDS, 2)) if parent else "",
                "context_score": random.random() if parent else 0.0,
            }
            url = f"http://{host}/{'/'.join(random.sample(WORDS, 2))}/{number}"
            free[host] = clock + seconds + max(min_delay, seconds)
            kind = random.random()
            if kind < 0.05:
                visits.append(page(url, status=404, md5="", digest="", title="", error="http 404", **fields))
            elif kind < 0.07:
                visits.append(page(url, status=0, md5="", digest="", title="", error="timeout", **fields))
            elif kind < 0.1:
                target = f"http://{host}/moved/{number}"
                visits.append(page(url, status=301, md5="", digest="", title="", redirect=target, **fields))
            else:
                stored.append(page(url, relevance=relevance, title=title, size=random.randrange(2000, 60000), **fields))
                visits.append(stored[-1])
        return visits

    return make


@pytest.fixture
def write_runs(write_crawl, page):
    """``write_runs(folder, skills)`` writes runs on topics t0, t1, ... that find 20 targets among 200 pages.

    ``skills`` maps an ordering to its odds of fetching a target rather than another page, one number per topic.
    """

    def write(folder, skills, pages=200, targets=20):
        for ordering, odds in skills.items():
            for number, odd in enumerate(odds):
                random = Random(f"{ordering} {number}")
                wanted = [f"http://t{number}.example/target/{i}" for i in range(targets)]
                others = [f"http://t{number}.example/page/{i}" for i in range(pages)]
                left, visits = list(wanted), []
                for position in range(pages):
                    hit = bool(left) and random.random() < odd
                    url = left.pop() if hit else others[position]
                    visits.append(page(url, relevance=0.6 if hit else 0.05, at=float(position)))
                topic = {"name": f"t{number}", "targets": wanted}
                write_crawl(folder / f"t{number}" / ordering, visits, topic=topic, ordering=ordering)
        return folder

    return write
