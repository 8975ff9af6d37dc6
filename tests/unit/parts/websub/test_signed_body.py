"""Signatures of deliveries: only the correct one is accepted."""

from __future__ import annotations

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hub import signature

from crawlproject.parts.websub.deliveries import SignedBody

METHODS = ("sha1", "sha256", "sha384", "sha512")
# RFC 4231, test case 2, and RFC 2202, test case 2: the key is "Jefe", the text "what do ya want for nothing?".
KNOWN = {
    "sha1": "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
    "sha256": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
}


def is_valid(header: str, secret: str, body: bytes) -> bool:
    signed = SignedBody(header, secret)
    for start in range(0, len(body), 7):
        signed.add(body[start : start + 7])
    return signed.is_valid


@pytest.mark.parametrize("method", KNOWN)
def test_published_signatures(method: str) -> None:
    assert is_valid(f"{method}={KNOWN[method]}", "Jefe", b"what do ya want for nothing?")
    assert is_valid(
        f" {method.upper()} = {KNOWN[method].upper()}".replace(" = ", "="), "Jefe", b"what do ya want for nothing?"
    )


@given(st.text(min_size=1, max_size=50), st.binary(max_size=100), st.sampled_from(METHODS), st.data())
def test_only_the_right_signature_counts(secret: str, body: bytes, method: str, data: st.DataObject) -> None:
    header = signature(secret, body, method)
    assert is_valid(header, secret, body)
    assert not is_valid(header, secret + "x", body) and not is_valid(header, secret, body + b"x")
    cut = data.draw(st.integers(0, len(header) - 1))
    assert not is_valid(header[:cut], secret, body)
    other = data.draw(st.sampled_from([name for name in METHODS if name != method]))
    assert not is_valid(header.replace(method, other), secret, body)


@given(st.text(max_size=200), st.binary(max_size=20))
def test_any_header_gives_an_answer(header: str, body: bytes) -> None:
    assert not is_valid(header, "secret", body) or header.strip().lower() in {
        signature("secret", body, method) for method in METHODS
    }


@pytest.mark.parametrize("method", ["md5", "sha224", "sha3_256", "", "none"])
def test_other_methods_do_not_count(method: str) -> None:
    digits = hmac.new(b"secret", b"body", method if method not in ("", "none") else "sha256").hexdigest()
    assert not is_valid(f"{method}={digits}", "secret", b"body")


def test_nothing_is_signed_with_an_empty_secret() -> None:
    assert not is_valid(signature("", b"body"), "", b"body")
