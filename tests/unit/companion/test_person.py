"""The data of a person on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawlproject.companion.person import PersonFolder, default_folder
from crawlproject.companion.profile import Profile
from crawlproject.errors import BadInput, StorageFailed


def test_only_the_owner_reads_it(tmp_path: Path) -> None:
    person = PersonFolder(tmp_path / "me")
    person.save(Profile(interests={"etag": 1.0}))
    token = person.token()
    assert len(token) >= 32 and PersonFolder(tmp_path / "me").token() == token
    for path in (tmp_path / "me", *(tmp_path / "me").iterdir()):
        assert path.stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in (tmp_path / "me").iterdir()) == ["profile.json", "token"]


def test_a_token_that_was_deleted_or_cut_is_another_one(tmp_path: Path) -> None:
    person = PersonFolder(tmp_path)
    first = person.token()
    (tmp_path / "token").write_text("short")
    assert person.token() not in (first, "short")


def test_an_edit_is_seen_and_not_overwritten(tmp_path: Path) -> None:
    person = PersonFolder(tmp_path)
    profile = person.load()
    assert not person.is_changed()
    person.save(profile)
    assert not person.is_changed()
    person.path.write_text(json.dumps({"interests": {"football": 3}}))
    assert person.is_changed()
    with pytest.raises(BadInput, match="edited meanwhile"):
        person.save(profile)
    assert person.load().interests == {"football": 3.0} and not person.is_changed()


def test_a_profile_that_cannot_be_read_stays_as_it_is(tmp_path: Path) -> None:
    person = PersonFolder(tmp_path)
    person.path.write_bytes(b"\xff{")
    with pytest.raises(BadInput, match="delete the file to start over"):
        person.load()
    assert person.path.read_bytes() == b"\xff{"
    person.delete()
    assert person.load() == Profile() and not person.is_changed()


def test_a_disk_that_refuses(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed, match="cannot make the folder"):
        PersonFolder(tmp_path / "file" / "me")


def test_where_it_is_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "topical-crawler" / "companion"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert default_folder().is_relative_to(Path.home())
