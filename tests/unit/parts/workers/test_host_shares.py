"""Which worker keeps the scores of which hosts."""

from __future__ import annotations

from crawlproject.parts.workers.host_shares import SILENT, HostShares

HOSTS = [f"h{number}.example" for number in range(1000)]


def crew(*names: bytes, now: float = 100.0) -> list[HostShares]:
    shares = [HostShares(name) for name in names]
    for one in shares:
        for name in names:
            one.heard(name, now)
        one.pass_time(now)
    return shares


def test_each_host_is_one_workers_and_shares_are_alike() -> None:
    workers = crew(b"a", b"b", b"c", b"d")
    owners = [[worker.is_own(host) for worker in workers].count(True) for host in HOSTS]
    assert set(owners) == {1}
    assert all(180 < sum(map(worker.is_own, HOSTS)) < 320 for worker in workers)


def test_alone_a_worker_has_all_hosts() -> None:
    (alone,) = crew(b"a")
    assert all(map(alone.is_own, HOSTS))


def test_the_hosts_of_a_worker_that_is_silent_go_to_the_others_and_no_other_host_moves() -> None:
    one, other, gone = crew(b"a", b"b", b"c")
    before = [(one.is_own(host), other.is_own(host), gone.is_own(host)) for host in HOSTS]
    for worker in (one, other):
        worker.heard(b"a", 100.0 + SILENT)
        worker.heard(b"b", 100.0 + SILENT)
        worker.pass_time(101.0 + SILENT)
    for host, (was_one, was_other, _) in zip(HOSTS, before, strict=True):
        assert one.is_own(host) + other.is_own(host) == 1
        assert one.is_own(host) >= was_one and other.is_own(host) >= was_other


def test_a_worker_that_was_heard_of_long_ago_has_no_share() -> None:
    late = HostShares(b"late")
    late.heard(b"old", 5.0)
    late.pass_time(5.0 + 2 * SILENT)
    assert all(map(late.is_own, HOSTS))


def test_who_is_silent_is_counted_no_more() -> None:
    shares = HostShares(b"one")
    shares.heard(b"two", 1000.0)
    shares.pass_time(1010.0)
    assert len(shares) == 2
    shares.pass_time(1010.0 + SILENT)
    assert len(shares) == 1 and all(shares.is_own(f"h{n}.example") for n in range(20))
