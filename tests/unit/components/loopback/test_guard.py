"""Which requests the dashboard answers."""

import pytest

from crawlproject.components.loopback.guard import TOKEN, Guard

GUARD = Guard("crawler.internal", "secret")
HERE = "127.0.0.1"
COMMAND = {"Host": "127.0.0.1:8992", "Content-Type": "application/json", TOKEN: "secret"}


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8992", "localhost:8992", "LOCALHOST", "[::1]:8992", "192.168.1.7:80", "crawler.internal:8992"]
)
def test_this_machine_may_be_named_by_address(host):
    assert GUARD.objection("GET", {"Host": host}, HERE) is None


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8992", "", "127.0.0.1.evil.example", "localhost.evil.example", "evil@127.0.0.1"],
)
def test_a_name_that_may_have_been_rebound_is_refused(host):
    assert "rebinding" in GUARD.objection("GET", {"Host": host}, HERE)
    assert GUARD.objection("POST", {**COMMAND, "Host": host}, HERE)


def test_a_command_carries_the_token_of_the_page():
    assert GUARD.objection("POST", COMMAND, HERE) is None
    assert GUARD.objection("POST", COMMAND, "::ffff:127.0.0.1") is None
    assert "token" in GUARD.objection("POST", {**COMMAND, TOKEN: "guess"}, HERE)
    assert "token" in GUARD.objection("POST", {**COMMAND, TOKEN: "sécret"}, HERE)


@pytest.mark.parametrize(
    "wrong",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:8992"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
    ],
)
def test_a_command_of_another_site_is_refused_even_with_the_token(wrong):
    assert GUARD.objection("POST", {**COMMAND, **wrong}, HERE)


def test_what_another_site_asks_for_is_not_answered():
    assert GUARD.objection("GET", {"Host": "127.0.0.1", "Sec-Fetch-Site": "cross-site"}, HERE)
    assert GUARD.objection("GET", {"Host": "127.0.0.1", "Sec-Fetch-Site": "none"}, HERE) is None


@pytest.mark.parametrize("peer", ["192.168.1.7", "2001:db8::1", "", "unix"])
def test_from_elsewhere_crawls_are_seen_and_not_controlled(peer):
    assert GUARD.objection("GET", {"Host": "192.168.1.9:8992"}, peer) is None
    assert "own machine" in GUARD.objection("POST", {**COMMAND, "Host": "192.168.1.9:8992"}, peer)
