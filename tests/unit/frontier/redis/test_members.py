"""Hosts are distributed evenly, all workers agree on their owners, and no host moves unless it must."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.redis.members import Members, Shares

HOSTS = [f"h{number}.example" for number in range(3000)]
names = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=6, unique=True)


def shares(workers: list[str], of: str = "", *, leaving: tuple[str, ...] = ()) -> Shares:
    """The shares as seen by the worker ``of``."""
    made = Shares(of or workers[0])
    made.set_members(Members(len(workers), {name: -1 if name in leaving else 1 for name in workers}))
    return made


@pytest.mark.parametrize("number", [2, 3, 8])
def test_shares_are_even(number: int) -> None:
    workers = [f"worker-{one}" for one in range(number)]
    counts = Counter(map(shares(workers).owner, HOSTS))
    assert set(counts) == set(workers)
    spread = 5 * (len(HOSTS) / number) ** 0.5  # five standard deviations
    assert all(abs(count - len(HOSTS) / number) < spread for count in counts.values())


@given(names, st.data())
def test_all_workers_agree_whatever_order_they_joined_in(workers: list[str], data: st.DataObject) -> None:
    views = [shares(data.draw(st.permutations(workers)), of) for of in workers]
    for host in HOSTS[:50]:
        owner = views[0].owner(host)
        assert {view.owner(host) for view in views} == {owner}
        assert [of for of, view in zip(workers, views, strict=True) if view.is_own(host)] == [owner]


@given(names, st.text(min_size=1, max_size=12))
def test_only_the_share_of_a_newcomer_moves(workers: list[str], newcomer: str) -> None:
    if newcomer in workers:
        workers.remove(newcomer)
    if not workers:
        return
    before, after = shares(workers), shares([*workers, newcomer])
    for host in HOSTS[:200]:
        assert after.owner(host) in (before.owner(host), newcomer)


@given(names)
def test_only_the_share_of_who_leaves_moves_to_those_who_stay(workers: list[str]) -> None:
    *stay, gone = workers
    before, after = shares(workers), shares(workers, leaving=(gone,))
    assert after.others() == [name for name in workers if name != workers[0]], "also those that are leaving"
    for host in HOSTS[:200]:
        owner = before.owner(host)
        if not stay:
            assert after.owner(host) == gone, "nobody else is there"
        elif owner == gone:
            assert after.owner(host) in stay
        else:
            assert after.owner(host) == owner


def test_until_others_are_known_all_hosts_are_own() -> None:
    alone = Shares("w")
    assert all(map(alone.is_own, HOSTS)) and alone.others() == [] and len(alone) == 1


@given(st.text(max_size=20))
def test_a_host_may_be_any_text(host: str) -> None:
    assert shares(["a", "b"]).owner(host) in ("a", "b")
    assert shares(["a", "b"]).owner("\ud800") in ("a", "b")
