"""Decompression restores the data, returns no more than requested, and detects bombs by their size."""

from __future__ import annotations

import gzip
import random
import sys
import time
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.unpack import Damaged, Unpacked, announced_by_brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def deflate_raw(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACK = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw": deflate_raw,
    "br": lambda data: brotli.compress(data, quality=3),
    "zstd": zstd.compress,
}
CODINGS = list(PACK)


def unpack(packed: bytes, packed_as: str, limit: int) -> Unpacked:
    return Unpacked(packed, "deflate" if packed_as == "raw" else packed_as, limit)


@given(st.sampled_from(CODINGS), st.binary(max_size=5_000), st.integers(1, 60), st.integers(1, 400_000))
def test_what_was_packed_comes_out_as_far_as_it_is_wanted(coding: str, piece: bytes, times: int, limit: int) -> None:
    body = piece * times
    unpacked = unpack(PACK[coding](body), coding, limit)
    assert unpacked.body == body[:limit] or (unpacked.is_bomb and not unpacked.body)
    assert unpacked.is_cut == (len(body) > limit)


@given(st.binary(max_size=500), st.integers(0, 3_000), st.integers(0, 9), st.sampled_from([10, 16, 17, 18, 22, 24]))
def test_what_brotli_announces_comes_out(piece: bytes, times: int, quality: int, window: int) -> None:
    body = piece * times
    announced = announced_by_brotli(brotli.compress(body, quality=quality, lgwin=window))
    assert announced == len(body) if len(body) <= 1_000 else 0 < announced <= len(body)


@given(st.binary(max_size=20))
def test_whatever_brotli_begins_with_may_be_asked(packed: bytes) -> None:
    assert 0 <= announced_by_brotli(packed) <= 2**24


@given(st.sampled_from(CODINGS), st.binary(min_size=1, max_size=20_000), st.data())
def test_of_a_body_that_ends_too_early_the_beginning_comes_out(coding: str, body: bytes, data: st.DataObject) -> None:
    packed = PACK[coding](body)
    cut = packed[: data.draw(st.integers(0, len(packed)))]
    try:
        assert body.startswith(unpack(cut, coding, 100_000).body)
    except Damaged:
        assert cut != packed


@pytest.mark.parametrize("coding", CODINGS)
def test_a_bomb_costs_no_more_than_a_page(coding: str) -> None:
    packed = PACK[coding](bytes(50_000_000))
    began = time.thread_time()
    unpacked = unpack(packed, coding, 1_048_576)
    assert time.thread_time() - began < 0.2
    assert unpacked.is_bomb and len(unpacked.body) in (0, 1_048_576)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_long_page_is_no_bomb(coding: str) -> None:
    body = "".join(f"<tr><td>{number}</td><td>{number * number}</td></tr>" for number in range(60_000)).encode()
    unpacked = unpack(PACK[coding](body), coding, 1_048_576)
    assert unpacked.is_cut and not unpacked.is_bomb


def test_members_behind_one_another_are_one_body() -> None:
    for pack, coding in ((gzip.compress, "gzip"), (zstd.compress, "zstd")):
        assert Unpacked(pack(b"coral ") + pack(b"reef"), coding, 100).body == b"coral reef"
    assert Unpacked(gzip.compress(b"reef") + b"\0\0 padding", "gzip", 100).body == b"reef"


@pytest.mark.parametrize("length", [1, 3_000, 300_000])
def test_a_wrong_checksum_costs_nothing(length: int) -> None:
    """Browsers ignore it."""
    body = random.Random(length).randbytes(length)
    assert Unpacked(gzip.compress(body)[:-8] + b"mistaken", "gzip", 10**6).body == body


def test_members_without_end_are_given_up() -> None:
    began = time.thread_time()
    Unpacked(gzip.compress(b"") * 50_000, "gzip", 1_000_000)
    assert time.thread_time() - began < 0.5


@pytest.mark.parametrize("coding", CODINGS)
def test_what_is_not_packed_is_told(coding: str) -> None:
    with pytest.raises(Damaged):
        unpack(b"<html>not packed at all</html>", coding, 100)
