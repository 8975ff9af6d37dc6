from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.k_rule import KRule


def barred(rule: KRule, hosts: str = "abcde") -> str:
    return "".join(host for host in hosts if rule.bars(host))


def picked(hosts: str, size: int, leases: int = 99) -> KRule:
    rule = KRule(size + 1)
    rule.set_hosts(size + 1)
    for host in hosts:
        rule.pick(host, leases)
    return rule


def test_a_host_picked_twice_is_barred_by_its_later_pick():
    rule = picked("aba", 2)
    assert rule.last_pick("a") > rule.last_pick("b")
    rule.give_back("a")
    assert rule.last_pick("a") < rule.last_pick("b")


def test_what_is_forgotten_cannot_be_given_back():
    rule = picked("abcd", 1, leases=1)
    assert list(rule.picks()) == ["c", "d"]
    rule.give_back("a")
    assert list(rule.picks()) == ["c", "d"]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("pick"), st.sampled_from("abcde")),
            st.tuples(st.just("give_back"), st.sampled_from("abcde")),
            st.tuples(st.just("fit"), st.integers(0, 6)),
        )
    )
)
def test_what_is_barred_is_the_end_of_a_list(operations):
    rule, picks, size, changed = KRule(10), [], 0, []
    rule.listen(changed.append)
    for operation, value in operations:
        before = barred(rule)
        changed.clear()
        if operation == "pick":
            rule.pick(value, 99)
            picks.append(value)
        elif operation == "fit":
            size = value
            rule.set_hosts(size + 1)
        elif value in picks:
            rule.give_back(value)
            del picks[len(picks) - 1 - picks[::-1].index(value)]
        assert barred(rule) == "".join(sorted(set(picks[len(picks) - min(size, len(picks)) :])))
        assert set(before) ^ set(barred(rule)) <= set(changed)
        assert list(rule.picks()) == picks
