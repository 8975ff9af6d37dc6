"""A parameter whose hashes combine with many URLs names versions; an ID that belongs to one URL does not."""

from __future__ import annotations

from hashlib import sha1

import pytest

from crawlproject.parts.duplicates.url_versions import UrlVersions
from crawlproject.records import FetchEvent, Visit

GIT = "http://git.example/repo"
FILES = ("main.c", "reef.c", "fish.c", "tide.c")


def commit(number: int) -> str:
    return sha1(b"%d" % number).hexdigest()


def learned(urls: list[str], known: set[str] = frozenset()) -> UrlVersions:  # type: ignore[assignment]
    versions = UrlVersions(known.__contains__)
    versions.learn(FetchEvent(Visit(f"{GIT}/", 200, 0.0), urls))
    return versions


def crossed(form: str) -> list[str]:
    return [form.format(file=file, commit=commit(number)) for number in range(4) for file in FILES]


@pytest.mark.parametrize(
    "form",
    [
        GIT + "/tree/{file}?id={commit}",
        GIT + "/tree/{file}?id={commit}&showmsg=1",
        GIT + "/?a=blob;f={file};hb={commit}",
        GIT + "/annotate?checkin={commit}&filename={file}",
    ],
)
def test_the_first_version_that_was_found_comes_first(form: str) -> None:
    versions = learned(crossed(form))
    assert not versions.is_old(form.format(file="main.c", commit=commit(0)))
    assert versions.is_old(form.format(file="main.c", commit=commit(1)))
    assert versions.is_old(form.format(file="main.c", commit=commit(99)))
    assert not versions.is_old(form.format(file="new.c", commit=commit(99))), "nothing else shows it"


@pytest.mark.parametrize(
    ("form", "plain"),
    [
        (GIT + "/tree/{file}?id={commit}", GIT + "/tree/{file}"),
        (GIT + "/tree/{file}?id={commit}&showmsg=1", GIT + "/tree/{file}?showmsg=1"),
        (GIT + "/file?ci={commit}&name={file}", GIT + "/file?name={file}"),
        (GIT + "/file?name={file}&rev={commit}", GIT + "/file?name={file}"),
    ],
)
def test_the_url_without_a_version_comes_before_all(form: str, plain: str) -> None:
    versions = learned(crossed(form), {plain.format(file="main.c")})
    assert versions.is_old(form.format(file="main.c", commit=commit(0)))
    assert not versions.is_old(form.format(file="reef.c", commit=commit(0)))
    assert not versions.is_old(plain.format(file="main.c"))


@pytest.mark.parametrize(
    "urls",
    [
        [f"http://shop.example/item?id={commit(number)}" for number in range(50)],
        [f"http://shop.example/{view}?id={commit(number)}" for number in range(50) for view in ("item",)],
        [f"http://shop.example/{number}?sid={commit(number)}" for number in range(50)],
        [f"http://news.example/{part}?page={number}" for part in FILES for number in range(1_000_000, 1_000_009)],
        [f"http://news.example/{part}?lang={language}" for part in FILES for language in ("dead", "beef", "cafe")],
    ],
    ids=["own ids", "one view", "one each", "numbers", "short words"],
)
def test_what_does_not_cross_or_is_no_hash_names_no_version(urls: list[str]) -> None:
    versions = learned(urls)
    assert not any(map(versions.is_old, urls))
