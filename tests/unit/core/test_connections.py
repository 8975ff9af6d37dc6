"""A page, a host or the network that does not answer, told apart by who else does."""

from __future__ import annotations

import pytest

from crawlproject.core.connections import ANY_HOSTS, KNOWN_HOSTS, KNOWN_RETRIES, NEW_RETRIES, PAGE_RETRIES, Connections


class Told:
    """Connections, told of failures and answers; many hosts wait, unless said otherwise."""

    def __init__(self, patience: float = 1000.0) -> None:
        self.connections = Connections(delay=5.0, patience=patience)
        self.now = 100.0
        self.url_only = False  # what the latest failure meant

    def failed(self, host: str, key: str = "", *, waiting: int = 1000, in_flight: int = 0) -> tuple[float, bool]:
        self.now += 1.0
        retry = self.connections.failed(key or host, host, self.now, waiting=waiting, in_flight=in_flight)
        self.url_only = retry.url_only
        return retry.rest, retry.again

    def answered(self, *hosts: str) -> None:
        for host in hosts:
            self.now += 1.0
            self.connections.answered(host, self.now)

    def is_out(self) -> bool:
        return self.connections.began is not None


def test_a_host_that_is_away_while_others_answer_is_tried_again_ever_later_and_then_given_up() -> None:
    for told, retries in ((Told(), NEW_RETRIES), (Told(), KNOWN_RETRIES)):
        if retries == KNOWN_RETRIES:
            told.answered("away")
        for retry in range(retries):
            assert told.failed("away", f"page {retry}") == (5.0 * 2.0**retry, True)
            assert told.connections.is_in_doubt("away") and not told.connections.is_given_up("away")
            told.answered("other")
        assert told.failed("away", "last page") == (300.0, False)
        assert told.connections.is_given_up("away") and not told.connections.is_in_doubt("away")
        assert told.failed("away", "another page")[1] is False, "nobody waits for it any longer"
        told.answered("away")
        assert told.failed("away", "one more") == (5.0, True), "it was not dead after all"
        assert not told.connections.outages


def test_a_host_whose_robots_txt_is_an_error_is_tried_again_as_one_that_does_not_answer() -> None:
    told = Told()
    connections = told.connections
    for retry in range(KNOWN_RETRIES):
        connections.answered("away", 1.0, open_to_us=False)
        assert connections.turned_away("away") == (5.0 * 2.0**retry, True, False)
        assert connections.is_in_doubt("away") and not connections.is_given_up("away")
    connections.answered("away", 2.0, open_to_us=False)
    assert connections.turned_away("away") == (300.0, False, False)
    assert connections.is_given_up("away") and not told.is_out()
    told.answered("away")
    assert not connections.is_given_up("away"), "it is open again"
    assert connections.turned_away("away").rest == 5.0


def test_hosts_that_turn_us_away_are_no_outage_and_end_one() -> None:
    told = Told()
    for number in range(2 * ANY_HOSTS):
        told.connections.answered(f"h{number}", 1.0, open_to_us=False)
        told.connections.turned_away(f"h{number}")
    assert not told.is_out()
    for number in range(KNOWN_HOSTS):
        told.failed(f"h{number}")
    assert told.is_out()
    told.connections.answered("h0", 9.0, open_to_us=False)
    assert not told.is_out()


def test_what_fails_with_nobody_answering_in_between_does_not_count_against_its_host() -> None:
    """It may be the network."""
    told = Told()
    assert [told.failed("away")[0] for _ in range(10)] == [5.0] * 10
    told.answered("other")
    assert told.failed("away") == (10.0, True)


def test_a_page_that_never_comes_is_given_up_while_its_host_answers() -> None:
    told = Told()
    for _ in range(PAGE_RETRIES):
        assert told.failed("h", "h/slow") == (5.0, True)
        told.answered("h")
    assert told.failed("h", "h/slow") == (5.0, False)
    assert not told.is_out()


@pytest.mark.parametrize(
    ("before", "needed"), [("all", KNOWN_HOSTS), ("one", ANY_HOSTS), ("others", 2 * ANY_HOSTS), ("none", ANY_HOSTS)]
)
def test_many_hosts_that_fail_in_a_row_are_an_outage(before: str, needed: int) -> None:
    """``before``: which of them had answered."""
    told = Told()
    hosts = [f"h{number}" for number in range(needed)]
    told.answered(*{"all": hosts, "one": hosts[-1:], "others": ["other"], "none": []}[before])
    for _ in range(2):
        for host in hosts[1:]:
            told.failed(host)
        assert not told.is_out()
        assert told.connections.needs_witness == (needed > ANY_HOSTS)
        if before == "none":
            break
        told.answered("other")
        assert not told.connections.needs_witness, "somebody answered in between"
    else:
        for host in hosts[1:]:
            told.failed(host)
    began = told.now - len(hosts) + 2
    assert told.failed(hosts[0]) == (5.0, True)
    assert told.connections.began == began and told.connections.needs_witness


def out_of_order() -> Told:
    """An outage that has just been noticed."""
    told = Told()
    hosts = [f"h{number}" for number in range(KNOWN_HOSTS)]
    told.answered(*hosts)
    for host in hosts:
        told.failed(host)
    assert told.is_out()
    return told


def test_an_outage_is_probed_ever_later_and_ends_with_the_first_answer() -> None:
    told = out_of_order()
    waits = []
    for number in range(9):
        waits.append(told.connections.next_take() - told.now)
        told.now = told.connections.next_take()
        told.connections.probe = f"page {number}"
        assert told.failed("h1", "of old") == (5.0, True)
        assert told.connections.next_take() <= told.now, "that was no probe"
        assert told.failed("h0", f"page {number}") == (5.0, True)
    assert waits == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0, 300.0]
    began = told.connections.began
    assert began is not None
    told.answered("h0")
    assert not told.is_out() and told.connections.next_take() == 0.0
    assert told.connections.latest == told.now - began
    assert told.failed("h0") == (5.0, True), "what failed in the outage counts against nobody"


def test_a_probe_of_a_host_that_was_never_heard_of_says_little() -> None:
    told = out_of_order()
    for _ in range(5):
        told.now = told.connections.next_take()
        told.connections.probe = "new page"
        told.failed("new", "new page")
        assert told.connections.next_take() == told.now + 0.5


def test_when_nothing_else_is_left_to_try_a_host_that_answered_is_an_outage() -> None:
    told = Told()
    told.answered("only")
    assert told.failed("only", waiting=1) == (5.0, True)
    assert not told.is_out(), "others may be tried first"
    told.failed("only", waiting=1, in_flight=1)
    assert not told.is_out(), "another answer may be on its way"
    told.failed("only", waiting=2)
    assert not told.is_out()
    told.failed("only", waiting=1)
    assert told.is_out()


def test_dead_hosts_that_are_left_at_the_end_are_no_outage() -> None:
    told = Told()
    told.answered("other")
    again = [told.failed("dead", waiting=0)[1] for _ in range(NEW_RETRIES + 1)]
    assert again == [True] * NEW_RETRIES + [False] and not told.is_out()


@pytest.mark.parametrize("waiting", [1, 1000])
def test_a_port_that_is_closed_is_neither_an_outage_nor_the_end_of_its_host(waiting: int) -> None:
    """The site answers over http only, and its host is all that is left."""
    told = Told()
    told.answered("http://a.example")
    for retry in range(NEW_RETRIES):
        assert told.failed("https://a.example", f"https://a.example/{retry}", waiting=waiting)[1] and told.url_only
        if waiting > 1:
            told.answered("http://b.example")
    assert told.failed("https://a.example", "last", waiting=waiting) == (5.0, False) and told.url_only
    assert not told.is_out() and told.connections.is_given_up("https://a.example")
    assert not told.connections.is_in_doubt("http://a.example")
    told.failed("http://a.example", waiting=waiting)
    assert not told.url_only, "now the whole host waits"


def test_an_outage_has_an_end_and_a_run_in_which_nobody_answers_an_early_one() -> None:
    told = out_of_order()
    began = told.connections.began
    assert began is not None and told.connections.deadline() == began + 1000.0
    assert not told.connections.is_over(began + 999.0) and told.connections.is_over(began + 1000.0)
    for patience, limit in ((1000.0, 60.0), (0.0, 60.0), (30.0, 30.0)):
        silent = Told(patience)
        for _ in range(2):
            silent.failed("seed", waiting=1)
        assert silent.connections.deadline() == 101.0 + limit
    endless = Told(patience=0.0)
    endless.answered("only")
    for _ in range(2):
        endless.failed("only", waiting=1)
    assert endless.is_out() and endless.connections.deadline() is None and not endless.connections.is_over(1e12)
