"""Names are resolved by a name server on loopback, over real sockets, and by a stand-in for the system resolver."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import pytest
from aiohttp.abc import ResolveResult
from support.nameserver import NameServer, serving

from crawlproject.core.address_policy import AddressPolicy
from crawlproject.core.server_addresses import LEAST, MISSING, MOST, UNKNOWN
from crawlproject.http import name_resolver
from crawlproject.http.connector import AddressRefused, SafeResolver
from crawlproject.http.name_resolver import SILENCES, NameResolver, NameServers, NotFound

REEF, TWO, OTHER = "93.184.215.14", "93.184.215.15", "93.184.215.16"


class System:
    """Resolves ``names``, and counts the queries."""

    def __init__(self, **names: str) -> None:
        self.names = {name.replace("_", "."): address for name, address in names.items()}
        self.asked: Counter[str] = Counter()

    def __call__(self, name: str, family: int) -> Sequence[str]:
        self.asked[name] += 1
        if name not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [self.names[name]]


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class CountingServers(NameServers):
    """Counts queries before they reach c-ares, which also caches answers."""

    def __init__(self, place: str, patience: float) -> None:
        super().__init__(patience, servers=[place])
        self.asked: Counter[str] = Counter()

    async def look_up(self, name: str, family: int) -> tuple[list[str], float]:
        self.asked[name] += 1
        return await super().look_up(name, family)


class Setting:
    """A resolver and all that it depends on; ``patience`` is in seconds."""

    def __init__(self, server: NameServer, system: System | None, patience: float) -> None:
        self.server = server
        self.servers = CountingServers(server.place, patience)
        self.system = system or System()
        self.clock = Clock()
        self.resolver = NameResolver(self.servers, self.system, self.clock)

    async def find(self, name: str) -> list[str]:
        return list(await self.resolver.addresses(name))


def run(
    server: NameServer,
    scenario: Callable[[Setting], Awaitable[None]],
    system: System | None = None,
    patience: float = 30.0,
) -> None:
    async def main() -> None:
        made = Setting(server, system, patience)
        try:
            await scenario(made)
        finally:
            await made.resolver.close()

    with serving(server):
        asyncio.run(main())


@pytest.mark.parametrize(("ttl", "holds"), [(0, LEAST), (5, LEAST), (1_000, 1_000), (2**31 - 1, MOST)])
def test_an_answer_holds_for_the_ttl_of_its_record_within_bounds(ttl: int, holds: float) -> None:
    async def scenario(made: Setting) -> None:
        assert await made.find("reef.org") == [REEF]
        made.clock.now += holds - 1.5  # c-ares counts whole seconds
        assert await made.find("reef.org") == [REEF]
        assert made.servers.asked["reef.org"] == 1
        made.clock.now += 1.5
        assert await made.find("reef.org") == [REEF]
        assert made.servers.asked["reef.org"] == 2
        assert not made.system.asked

    run(NameServer({"reef.org": ([REEF], ttl)}), scenario)


def test_an_address_that_changes_is_seen_when_its_ttl_is_over() -> None:
    async def scenario(made: Setting) -> None:
        assert await made.find("reef.org") == [REEF]
        made.server.answers["reef.org"] = ([OTHER], 0)
        assert await made.find("reef.org") == [REEF]
        made.clock.now += LEAST
        assert await made.find("reef.org") == [OTHER]
        assert made.server.asked["reef.org"] == 2

    run(NameServer({"reef.org": ([REEF], 0)}), scenario)


def test_several_addresses_take_turns() -> None:
    async def scenario(made: Setting) -> None:
        first, second, third = [await made.find("reef.org") for _ in range(3)]
        assert sorted(first) == [REEF, TWO]
        assert second == first[::-1] and third == first

    run(NameServer({"reef.org": ([REEF, TWO], 300)}), scenario)


def test_what_name_servers_do_not_know_the_system_is_asked_for() -> None:
    async def scenario(made: Setting) -> None:
        assert await made.find("wiki.reef.org") == [REEF]
        made.clock.now += UNKNOWN - 1
        assert await made.find("wiki.reef.org") == [REEF]
        assert made.system.asked["wiki.reef.org"] == 1
        made.clock.now += 1
        await made.find("wiki.reef.org")
        assert made.system.asked["wiki.reef.org"] == 2

    run(NameServer(), scenario, System(wiki_reef_org=REEF))


@pytest.mark.parametrize("name", ["localhost", "wiki", "printer.local", "reef.example"])
def test_names_of_ones_own_network_are_asked_of_the_system_alone(name: str) -> None:
    async def scenario(made: Setting) -> None:
        assert await made.find(name) == ["192.168.0.1"]
        assert not made.server.asked

    run(NameServer(any_name=REEF), scenario, System(**{name.replace(".", "_"): "192.168.0.1"}))


def test_a_name_that_is_not_there_is_asked_for_again_soon() -> None:
    async def scenario(made: Setting) -> None:
        for _ in range(3):
            with pytest.raises(OSError):
                await made.find("none.reef.org")
        assert made.servers.asked["none.reef.org"] == made.system.asked["none.reef.org"] == 1
        made.server.answers["none.reef.org"] = ([REEF], 300)
        made.clock.now += MISSING
        assert await made.find("none.reef.org") == [REEF]

    run(NameServer(), scenario)


def test_servers_that_are_late_keep_no_other_name_waiting() -> None:
    """More names than threads get no answer: an existing name is resolved before those are given up."""

    async def scenario(made: Setting) -> None:
        assert await made.find("first.reef.org") == [REEF]
        silent = [asyncio.create_task(made.find(f"silent{number}.reef.org")) for number in range(200)]
        await asyncio.sleep(0)
        assert await made.find("second.reef.org") == [REEF]
        assert not any(task.done() for task in silent)
        found = await asyncio.wait_for(asyncio.gather(*silent, return_exceptions=True), 30)
        assert all(isinstance(one, OSError) for one in found)
        assert not made.system.asked, "it would wait for the same servers"
        with pytest.raises(OSError):
            await made.find("silent0.reef.org")
        assert made.servers.asked["silent0.reef.org"] == 2, "a silence is not remembered"

    run(NameServer(any_name=REEF), scenario, patience=1.5)


def test_servers_that_never_answered_are_asked_no_more_when_the_system_knows_a_better_way() -> None:
    names = [f"silent{number}.reef.org" for number in range(SILENCES + 2)]

    async def scenario(made: Setting) -> None:
        for name in names:
            assert await made.find(name) == [REEF]
        assert len(made.servers.asked) == SILENCES

    run(NameServer(), scenario, System(**{name.replace(".", "_"): REEF for name in names}), 0.3)


def test_where_c_ares_cannot_start_the_system_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**options: object) -> None:
        raise name_resolver.pycares.AresError("no more inotify watches")

    monkeypatch.setattr(name_resolver.pycares, "Channel", fail)

    async def scenario(made: Setting) -> None:
        assert await made.find("reef.org") == [REEF]

    run(NameServer(), scenario, System(reef_org=REEF))


def test_thousands_of_names_are_found_and_asked_for_once_each() -> None:
    async def scenario(made: Setting) -> None:
        names = [f"name{number}.reef.org" for number in range(3_000)]
        for start in range(0, len(names), 200):
            asked = [made.find(name) for name in names[start : start + 200] for _ in range(2)]
            assert await asyncio.gather(*asked) == [[REEF]] * 400
        assert set(made.servers.asked.values()) == {1} and len(made.server.asked) == 3_000

    run(NameServer(any_name=REEF), scenario)


def test_whoever_asks_first_may_give_up() -> None:
    async def scenario(made: Setting) -> None:
        first = asyncio.create_task(made.find("reef.org"))
        await asyncio.sleep(0)
        second = asyncio.create_task(made.find("reef.org"))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == [REEF]
        assert made.servers.asked["reef.org"] == 1

    run(NameServer(any_name=REEF), scenario)


@pytest.mark.parametrize("name", ["foo bar.org", "x" * 300 + ".org", "ｆｏｏ.org", "a..org", ".org", "\x00.org"])
def test_what_is_no_name_is_not_found(name: str) -> None:
    async def scenario(made: Setting) -> None:
        with pytest.raises(OSError):
            await made.find(name)

    run(NameServer(), scenario)


def test_a_remembered_address_is_checked_like_a_new_one() -> None:
    """DNS rebinding: every cached address, from any cache, is checked by the policy each time."""

    async def scenario(made: Setting) -> None:
        assert await made.find("evil.org") == ["127.0.0.1"]
        safe = SafeResolver(AddressPolicy(), made.resolver)
        for _ in range(2):
            with pytest.raises(AddressRefused):
                await safe.resolve("evil.org", 80)
        results: list[ResolveResult] = await safe.resolve("reef.org", 8080, socket.AF_UNSPEC)
        assert [(one["host"], one["port"], one["family"]) for one in results] == [(REEF, 8080, socket.AF_INET)]

    run(NameServer({"evil.org": (["127.0.0.1"], 300), "reef.org": ([REEF, "10.0.0.1"], 300)}), scenario)


def test_addresses_of_the_new_protocol_are_found() -> None:
    async def scenario(made: Setting) -> None:
        (result,) = await made.resolver.resolve("reef.org", 80, socket.AF_INET6)
        assert (result["host"], result["family"]) == ("2606:2800:21f::1", socket.AF_INET6)

    run(NameServer({"reef.org": ([REEF, "2606:2800:21f::1"], 300)}), scenario)


def test_nobody_is_asked_after_the_end() -> None:
    async def scenario(made: Setting) -> None:
        waiting = asyncio.create_task(made.servers.look_up("silent.reef.org", 0))
        await asyncio.sleep(0)
        made.servers.close()
        with pytest.raises(NotFound):
            await waiting
        with pytest.raises(NotFound):
            await made.servers.look_up("reef.org", 0)

    run(NameServer(), scenario)
