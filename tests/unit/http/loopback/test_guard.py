"""The requests that the dashboard answers."""

import pytest

from crawlproject.http.loopback import PRIVATE_TOKEN, TOKEN, Guard, PrivateGuard

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


PRIVATE = PrivateGuard("secret")
ASKED = {"Host": "127.0.0.1:8993", "Content-Type": "application/json", PRIVATE_TOKEN: "secret"}


def objection(method: str = "GET", *, is_open: bool = False, peer: str = HERE, **headers: str) -> str | None:
    chosen = {**ASKED, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return PRIVATE.objection(method, chosen, peer, is_open=is_open)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("origin", ["", "http://127.0.0.1:8993", "chrome-extension://abc", "moz-extension://abc"])
def test_what_is_private_is_given_to_whoever_has_the_token(method, origin):
    headers = {"Origin": origin} if origin else {}
    assert objection(method, **headers) is None
    assert "token" in objection(method, **headers, **{PRIVATE_TOKEN: "guess"})


def test_an_extension_may_come_from_another_site_and_a_page_may_not():
    assert objection(Origin="chrome-extension://abc", Sec_Fetch_Site="cross-site") is None
    assert "other sites" in objection(Sec_Fetch_Site="cross-site")
    assert "other sites" in objection(Origin="http://evil.example")
    assert "other sites" in objection(Origin="null")
    assert "other sites" in objection("POST", Origin="https://chrome-extension.evil.example")


def test_pages_without_secrets_are_open_to_this_machine_and_to_no_other():
    assert objection(is_open=True, **{PRIVATE_TOKEN: ""}, Sec_Fetch_Site="cross-site") is None
    assert "token" in objection("POST", is_open=True, **{PRIVATE_TOKEN: ""})
    assert "other machines" in objection(is_open=True, peer="192.168.1.7")
    for host in ("evil.example", "192.168.1.9", "localhost.evil.example", ""):
        assert "rebinding" in objection(is_open=True, Host=host)


def test_a_form_of_another_site_is_no_json():
    assert objection("POST", Content_Type="text/plain") == "expected application/json"
