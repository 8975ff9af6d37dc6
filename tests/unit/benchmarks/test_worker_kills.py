"""The verdict of worker_kills: each worker keeps the k rule separately."""

from __future__ import annotations

import pytest

from benchmarks.worker_kills import K, k_rule
from crawlproject.http.virtual_web_server import Access


def _access(at: float, agent: str, host: int, page: int) -> Access:
    name = f"h{host}.example"
    return {
        "start": at,
        "end": at + 0.01,
        "host": name,
        "url": f"http://{name}/{page}",
        "method": "GET",
        "status": 200,
        "agent": agent,
        "bytes": 1,
    }


@pytest.mark.parametrize(("again", "broken"), [([], 0), ([K - 2], 1)])
def test_a_host_that_comes_again_too_soon_breaks_the_rule_of_its_worker_alone(again: list[int], broken: int) -> None:
    own = {"one": range(K), "two": range(100, 100 + K)}
    log = [
        _access(10.0 * page + 0.1 * place, agent, host, page)
        for agent, hosts in own.items()
        for page in range(8)
        for place, host in enumerate(hosts)
    ]
    log += [_access(10.0 * 4 - 1, "one", host, 50) for host in again]
    looked_at, found = k_rule(log, concurrent=8)
    assert looked_at > K
    assert found == broken
