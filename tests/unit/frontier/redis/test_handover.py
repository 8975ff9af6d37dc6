"""A worker that joins waits for the existing workers, and after a kill still knows which ones it waits for."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.frontiersteps import url
from support.workers import own_frontier

from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.redis.handover import Handover
from crawlproject.frontier.redis.members import Members, Shares

ONE, TWO, THREE = Members(1, {"a": 1}), Members(2, {"a": 1, "b": 2}), Members(3, {"a": 1, "b": 2, "c": 3})


def handover(worker: str, folder: Path | None, frontier: FrontierCore | None = None) -> Handover:
    return Handover(worker, Shares(worker), own_frontier() if frontier is None else frontier, folder)


def give_all(some: Handover) -> list[tuple[str, bool]]:
    """All that it hands over."""
    given: list[tuple[str, bool]] = []
    while not some.hand_over(lambda key, is_done: given.append((key, is_done))):
        assert some.is_scanning
    some.save()
    return given


def meet(some: Handover, members: Members) -> None:
    assert some.meet(members)
    give_all(some)


def test_who_was_there_waits_for_nobody_and_hands_over_what_is_anothers(tmp_path: Path) -> None:
    frontier = own_frontier()
    frontier.put_many(url(f"h{number}/") for number in range(40))
    for number in range(40, 60):
        frontier.done(f"http://h{number}.test/", 0.0, 0.0)
    first = handover("a", tmp_path, frontier)
    meet(first, ONE)
    assert not first.is_open and first.meet(TWO)
    given, shares = give_all(first), Shares("b")
    shares.set_members(TWO)
    assert not first.is_open and first.epoch == 2
    every = {f"http://h{number}.test/": number >= 40 for number in range(60)}
    assert dict(given) == {key: is_done for key, is_done in every.items() if shares.is_own(key[7:-1])}
    assert not first.meet(TWO), "no news"


def test_who_joins_waits_for_all_who_were_there(tmp_path: Path) -> None:
    third = handover("c", tmp_path)
    meet(third, THREE)
    assert third.is_open
    third.hear("a", 2)
    third.hear("b", 3)
    assert third.is_open, "a has not handed over for epoch 3 yet"
    third.hear("a", 3)
    assert not third.is_open


def test_who_waits_does_not_open_with_hosts_that_were_given_to_a_third_one(tmp_path: Path) -> None:
    second = handover("b", tmp_path)
    meet(second, TWO)
    second.hear("a", 3)
    assert second.is_open, "it does not know of epoch 3"
    meet(second, THREE)
    assert not second.is_open


def test_who_is_awaited_and_gone_is_inherited_from(tmp_path: Path) -> None:
    second = handover("b", tmp_path)
    meet(second, TWO)
    meet(second, Members(3, {"b": 2}))
    gained = second.inherited()
    assert not second.is_open and gained is not None and gained("any.test")
    assert second.inherited() is None, "that is asked once"


def test_who_is_away_is_not_waited_for(tmp_path: Path) -> None:
    second = handover("b", tmp_path)
    assert second.meet(TWO, away={"a"})
    assert not second.is_open and second.inherited() is not None


def test_who_leaves_stays_until_all_others_know(tmp_path: Path) -> None:
    """Otherwise no worker reads the letters that others send to it, or send back."""
    leaving = Members(4, {"a": -4, "b": 2, "c": 3})
    first = handover("a", tmp_path)
    meet(first, THREE)
    first.hear("b", 3)
    assert not first.has_left(())
    assert first.meet(leaving)
    assert not first.has_left({"b", "c"}), "it has not handed over"
    give_all(first)
    assert not first.has_left(()) and not first.has_left({"c"})
    first.hear("b", 4)
    assert not first.has_left(()) and first.has_left({"c"})
    first.hear("c", 5)
    assert first.has_left(())
    alone = handover("a", None)
    meet(alone, THREE)
    meet(alone, Members(5, {"a": -4}))
    assert alone.has_left(()), "the others are lost"


@pytest.mark.parametrize("heard", [(), ("a",), ("b",), ("a", "b")])
def test_a_kill_while_waiting_changes_nothing(tmp_path: Path, heard: tuple[str, ...]) -> None:
    third = handover("c", tmp_path)
    meet(third, THREE)
    for worker in heard:
        third.hear(worker, 3)
        third.save()
    again = handover("c", tmp_path)
    assert not again.is_new and again.is_open is third.is_open is (len(heard) < 2)
    assert not again.meet(THREE)
    for worker in {"a", "b"} - set(heard):
        again.hear(worker, 3)
    assert not again.is_open
    again.save()
    assert not handover("c", tmp_path).is_open


def test_a_kill_while_handing_over_begins_it_again(tmp_path: Path) -> None:
    frontier = own_frontier()
    frontier.put_many(url(f"h{number}/") for number in range(40))
    first = handover("a", tmp_path, frontier)
    meet(first, ONE)
    assert first.meet(TWO)
    first.hear("b", 2)
    first.save()
    again = handover("a", tmp_path, frontier)
    assert again.epoch == 1 and again.meet(TWO)
    assert len(give_all(again)) == len(give_all(first)) > 0


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b'[1,{"a":1}]', b"[1,2,3,4]", b'[1,{"a":1},3,4]', b"null"])
def test_a_damaged_file_is_as_none(tmp_path: Path, damage: bytes) -> None:
    meet(handover("c", tmp_path), THREE)
    (tmp_path / "members.json").write_bytes(damage)
    again = handover("c", tmp_path)
    assert again.is_new and again.epoch == 0


def test_who_is_lost_leaves_its_hosts_to_the_others(tmp_path: Path) -> None:
    first = handover("a", tmp_path)
    meet(first, TWO)
    before = Shares("a")
    before.set_members(TWO)
    meet(first, Members(3, {"a": 1}))
    gained = first.inherited()
    assert gained is not None
    hosts = [f"h{number}.test" for number in range(50)]
    assert [gained(host) for host in hosts] == [not before.is_own(host) for host in hosts]


def test_who_comes_back_to_a_server_that_lost_the_crawl_counts_from_one_again(tmp_path: Path) -> None:
    first = handover("a", tmp_path)
    meet(first, Members(9, {"a": 1, "b": 9}))
    first.hear("b", 9)
    first.save()
    again = handover("a", tmp_path)
    again.begin_anew(100.0)
    assert not again.meet(ONE, now=99.0), "the other one may come back"
    assert again.meet(TWO, now=99.0) and again.inherited() is None
    give_all(again)
    assert again.epoch == 2 and not again.is_open


@pytest.mark.parametrize(("joined", "now"), [({"a": 1}, 100.0), ({"a": 1, "c": 2}, 1.0)])
def test_who_does_not_come_back_to_it_is_lost(tmp_path: Path, joined: dict[str, int], now: float) -> None:
    meet(handover("a", tmp_path), Members(9, {"a": 1, "b": 9}))
    again = handover("a", tmp_path)
    again.begin_anew(100.0)
    killed = handover("a", tmp_path)
    for some in (again, killed):
        assert some.meet(Members(2, joined), now=now)
        assert some.inherited() is not None
