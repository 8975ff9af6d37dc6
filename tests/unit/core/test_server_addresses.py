"""Which host names count as one server."""

from __future__ import annotations

from crawlproject.core.server_addresses import FAST, MANY, ServerAddresses

SERVER = "192.0.2.7"


class Told:
    """A frontier that records the addresses of hosts; ``busy`` ones are in use."""

    def __init__(self) -> None:
        self.addresses: dict[str, str] = {}
        self.busy: set[str] = set()

    def host_address(self, host: str, address: str) -> bool:
        self.addresses[host] = address
        return address not in self.busy


def names(number: int) -> list[str]:
    return [f"www.site{n}.example" for n in range(number)]


def test_the_frontier_is_told_and_says_whether_the_host_may_be_visited() -> None:
    told = Told()
    servers = ServerAddresses(told.host_address)
    assert not servers.knows("a.example")
    assert servers.found("a.example", [SERVER])
    assert servers.knows("a.example") and told.addresses == {"a.example": SERVER}
    told.busy.add(SERVER)
    assert not servers.found("b.example", [SERVER])


def test_of_several_addresses_the_same_one_counts_in_any_order() -> None:
    told = Told()
    servers = ServerAddresses(told.host_address)
    servers.found("a.example", ["192.0.2.9", SERVER])
    servers.found("b.example", [SERVER, "192.0.2.9"])
    assert set(told.addresses.values()) == {SERVER}


def test_a_host_without_an_address_is_not_looked_up_again_and_nobody_is_told() -> None:
    told = Told()
    servers = ServerAddresses(told.host_address)
    assert servers.found("a.example", [])
    assert servers.knows("a.example") and not told.addresses


def test_a_fast_address_of_many_domains_is_a_content_network() -> None:
    told = Told()
    servers = ServerAddresses(told.host_address)
    for host in names(MANY):
        servers.found(host, [SERVER])
        servers.answered(host, FAST / 2)
    told.busy.add(SERVER)
    assert set(told.addresses.values()) == {""}
    assert servers.found("late.example", [SERVER])
    assert "late.example" not in told.addresses


def test_a_slow_address_of_many_domains_and_a_fast_one_of_many_hosts_are_one_server() -> None:
    for seconds, hosts in ((2 * FAST, names(3 * MANY)), (FAST / 2, [f"h{n}.site.example" for n in range(3 * MANY)])):
        told = Told()
        servers = ServerAddresses(told.host_address)
        for host in hosts:
            servers.found(host, [SERVER])
            servers.answered(host, seconds)
        assert set(told.addresses.values()) == {SERVER}
