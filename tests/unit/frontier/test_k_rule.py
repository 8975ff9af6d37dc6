from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.k_rule import RecentHosts


def barred(window: RecentHosts, hosts: str = "abcde") -> str:
    return "".join(host for host in hosts if window.bars(host))


def picked(hosts: str, size: int, remembered: int = 99) -> RecentHosts:
    window = RecentHosts()
    for host in hosts:
        window.pick(host, remembered)
        window.fit(size)
    return window


def test_a_host_picked_twice_is_barred_by_its_later_pick():
    window = picked("aba", 2)
    assert window.last("a") > window.last("b")
    window.give_back("a")
    window.fit(2)
    assert window.last("a") < window.last("b")


def test_what_is_forgotten_cannot_be_given_back():
    window = picked("abcd", 1, remembered=2)
    assert list(window) == ["c", "d"]
    window.give_back("a")
    assert list(window) == ["c", "d"]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("pick"), st.sampled_from("abcde")),
            st.tuples(st.just("give_back"), st.sampled_from("abcde")),
            st.tuples(st.just("fit"), st.integers(0, 6)),
        )
    )
)
def test_it_is_the_end_of_a_list(operations):
    window, picks, size = RecentHosts(), [], 0
    for operation, value in operations:
        if operation == "pick":
            window.pick(value, 99)
            picks.append(value)
        elif operation == "fit":
            size = value
        elif value in picks:
            window.give_back(value)
            del picks[len(picks) - 1 - picks[::-1].index(value)]
        before = barred(window)
        moved = window.fit(size)
        assert barred(window) == "".join(sorted(set(picks[len(picks) - min(size, len(picks)) :])))
        assert set(before) ^ set(barred(window)) <= set(moved)
        assert list(window) == picks
