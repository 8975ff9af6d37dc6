"""Where a crawl may connect to, judged by URLs and addresses alone."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.configuration import read_options
from crawlproject.core.address_policy import ADDRESS, PORT, SCHEME, AddressPolicy, make_safety
from crawlproject.errors import BadSetting, InvalidUrl
from crawlproject.urls.addresses import is_public
from crawlproject.urls.canonical import canonical_url

NAT64 = IPv6Network("64:ff9b::/96")
PRIVATE = (
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.8", "192.168.0.1", "198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
    "255.255.255.255", "168.63.129.16", "100.100.100.200",
    "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1", "100::1", "4000::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
    "2002:7f00:1::", "2002:c0a8:101::1",
    "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
)  # fmt: skip
PUBLIC = (
    "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "223.255.255.255",
    "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
)  # fmt: skip
# One loopback address, a private one and a metadata service, as links may spell them.
SPELLINGS = (
    "http://127.0.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://0177.0.0.1/",
    "http://017700000001/", "http://127.1/", "http://127.0.1/", "http://0x7f.0x0.0x0.0x1/", "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/", "http://１２７.0.0.1/", "http://①②⑦.0.0.1/", "http://127。0。0。1/", "http:127.0.0.1/",
    "http:\\\\127.0.0.1\\", "http://user:pass@127.0.0.1/", "http://good.example@127.0.0.1/", "http://0/",
    "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[fe80::1]/",
    "http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/", "http://[fd00:ec2::254]/", "http://10.0.0.1/", "http://192.168.1.1/", "http://0x0a000001/",
)  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_of_somebodys_own_network_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_address_is_as_public_as_the_one_it_carries(address: IPv4Address) -> None:
    bits = int(address)
    carriers = (0xFFFF << 32 | bits, 0x0064_FF9B << 96 | bits, 0x2002 << 112 | bits << 80)
    assert {is_public(IPv6Address(carrier)) for carrier in carriers} == {is_public(address)}


@given(st.ip_addresses())
def test_what_python_calls_local_is_never_public(address: IPv4Address | IPv6Address) -> None:
    if isinstance(address, IPv6Address) and (address.ipv4_mapped or address.sixtofour or address in NAT64):
        return
    local = address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified
    assert not (is_public(address) and (local or address.is_private or address.is_reserved))


@pytest.mark.parametrize("url", SPELLINGS)
def test_a_spelling_of_a_private_address_is_refused_or_no_url(url: str) -> None:
    with suppress(InvalidUrl):
        assert AddressPolicy().refusal(canonical_url(url)) == ADDRESS


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://h.example/", None),
        ("https://h.example/", None),
        ("https://h.example:8443/", None),
        ("http://1.1.1.1/", None),
        ("http://h.example:22/", PORT),
        ("http://h.example:6379/", PORT),
        ("http://h.example:99999/", PORT),
        ("https://10.0.0.1:25/", PORT),
        ("ftp://h.example/", SCHEME),
        ("file:///etc/passwd", SCHEME),
        ("gopher://h.example:80/", SCHEME),
    ],
)
def test_ports_and_schemes_are_those_of_the_web(url: str, reason: str | None) -> None:
    assert make_safety(read_options({})).refusal(url) == reason


def test_a_seed_that_spells_an_address_allows_that_host_with_that_port() -> None:
    safety = make_safety(read_options({}), ["http://127.0.0.1:5000/start", "http://localhost/", "http://[::1]:81/"])
    for allowed in ("http://127.0.0.1:5000/x", "http://localhost/x", "http://[::1]:81/x"):
        assert safety.refusal(allowed) is None
    for refused in ("http://127.0.0.1/", "http://127.0.0.1:8000/", "http://127.0.0.2:80/", "http://[::1]/"):
        assert safety.refusal(refused) == ADDRESS
    assert safety.refusal("http://127.0.0.1:5001/") == PORT
    assert not safety.permits(ip_address("127.0.0.1")), "no name may lead there"
    assert not safety.is_named("rebinding.example", 5000)


def test_a_seed_with_a_name_allows_its_port_and_no_private_address() -> None:
    safety = make_safety(read_options({}), ["http://reef.org:5000/"])
    assert safety.refusal("http://reef.org:5000/x") is None
    assert safety.refusal("http://other.org:5000/x") == PORT
    assert not safety.is_named("reef.org", 5000)


@pytest.mark.parametrize("host", ["wiki", "wiki.internal", "printer.local", "nas.home.arpa", "a.test", "x.localhost"])
def test_a_seed_with_a_name_that_no_stranger_can_give_away_allows_it_with_its_port(host: str) -> None:
    safety = make_safety(read_options({}), [f"http://{host}:5000/"])
    assert safety.is_named(host, 5000) and not safety.is_named(host, 80)
    assert not safety.is_named(f"a.{host}", 5000) and not safety.is_named(f"{host}.org", 5000)


def test_the_setting_allows_networks_addresses_names_and_places() -> None:
    listed = "10.0.0.0/8, 192.168.1.1,intranet.example,wiki.example:8090,[fd00::1]:8080,fd12::/16"
    safety = make_safety(read_options({"CRAWL_ALLOWED_ADDRESSES": listed}))
    assert safety.permits(ip_address("10.200.0.1")) and safety.permits(ip_address("192.168.1.1"))
    assert not safety.permits(ip_address("192.168.1.2"))
    assert safety.refusal("http://10.1.1.1/") is None and safety.refusal("http://[fd12::5]/") is None
    assert safety.refusal("http://10.1.1.1:22/") == PORT
    assert safety.is_named("Intranet.example", 80) and safety.refusal("http://intranet.example:22/") == PORT
    assert safety.is_named("wiki.example", 8090) and not safety.is_named("wiki.example", 80)
    assert safety.refusal("http://wiki.example:8090/") is None
    assert safety.refusal("http://[fd00::1]:8080/") is None and safety.refusal("http://[fd00::1]/") == ADDRESS


@pytest.mark.parametrize("entry", ["http://10.0.0.1/", "a b/c", "host:port", "10.0.0.0/99", ":80", "user@host"])
def test_an_entry_that_is_none_of_these_is_bad_input(entry: str) -> None:
    with pytest.raises(BadSetting, match="CRAWL_ALLOWED_ADDRESSES"):
        AddressPolicy([entry])


def test_own_public_addresses_can_be_refused() -> None:
    listed = {
        "CRAWL_REFUSED_ADDRESSES": "192.0.32.0/20, 2606:4700::/32,10.1.0.0/16",
        "CRAWL_ALLOWED_ADDRESSES": "10.0.0.0/8",
    }
    safety = make_safety(read_options(listed), ["http://192.0.33.8/"])
    for refused in ("192.0.32.1", "::ffff:192.0.32.1", "64:ff9b::c000:2001", "2606:4700::1", "10.1.2.3", "192.0.33.8"):
        assert not safety.permits(ip_address(refused))
    assert safety.refusal("http://192.0.32.1/") == ADDRESS and safety.refusal("http://192.0.33.8/") is None
    assert safety.permits(ip_address("10.2.2.3")) and safety.permits(ip_address("8.8.8.8"))
    with pytest.raises(BadSetting, match="CRAWL_REFUSED_ADDRESSES"):
        AddressPolicy(refused=["h.example"])


def test_no_ports_means_all() -> None:
    assert make_safety(read_options({"CRAWL_ALLOWED_PORTS": "[]"})).refusal("http://h.example:22/") is None


@given(st.text(max_size=60))
def test_any_text_gets_an_answer(text: str) -> None:
    AddressPolicy(ports=[80]).refusal(f"http://{text}/")
    AddressPolicy(seeds=[text, f"http://{text}/"])
