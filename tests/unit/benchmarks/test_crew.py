"""Workers of a crew on a virtual clock share one frontier, one budget, and what they learn."""

from __future__ import annotations

import pytest
from support.webs import DictWeb, page

from benchmarks.crew import rehearse
from crawlproject.configuration import read_options
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.records import Topic


@pytest.mark.parametrize("ordering", ["adaptive", "tag_path_bandit"])
def test_a_crew_spends_one_budget_and_fetches_nothing_twice(ordering: str) -> None:
    hosts = [f"http://h{host}.example" for host in range(4)]
    pages = [page(f"{host}/", *(f"{host}/{n}" for n in range(5)), *(f"{other}/" for other in hosts)) for host in hosts]
    pages += [page(f"{host}/{n}", text="coral reef" if n < 2 else "steam") for host in hosts for n in range(5)]
    web = DictWeb(dict(pages))
    options = read_options({"CRAWL_MAX_PAGES": 12, "ORDERING": ordering, "POLITENESS_MIN_DELAY": 0.1})
    topic = Topic("reefs", ("coral reef",), (f"{hosts[0]}/",), targets=(f"{hosts[1]}/1",))
    found = rehearse(web, topic, read_pages(web, "en", options), options, 2, 4)
    assert (found["workers"], found["pages"], found["twice"]) == (2, 12, 0)
