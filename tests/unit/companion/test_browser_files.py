"""The browser extension: its permissions, and that the files that it names exist."""

from __future__ import annotations

import json
import re

import crawlproject
from crawlproject.companion.person import extension_folder
from crawlproject.companion.service import _ASSETS

FOLDER = extension_folder()
MANIFEST = json.loads((FOLDER / "manifest.json").read_text())


def test_it_never_runs_in_private_windows_and_asks_for_little():
    assert MANIFEST["manifest_version"] == 3 and MANIFEST["incognito"] == "not_allowed"
    assert set(MANIFEST["permissions"]) == {"storage", "sidePanel"}
    assert MANIFEST["host_permissions"] == ["http://127.0.0.1/*"]
    (script,) = MANIFEST["content_scripts"]
    assert "*://127.0.0.1/*" in script["exclude_matches"] and not script.get("all_frames")


def test_every_file_that_is_named_is_there():
    named = {
        MANIFEST["background"]["service_worker"],
        *MANIFEST["background"]["scripts"],
        *MANIFEST["content_scripts"][0]["js"],
        MANIFEST["side_panel"]["default_path"],
        MANIFEST["sidebar_action"]["default_panel"],
        *re.findall(r'(?:src|href)="([\w.]+)"', (FOLDER / "panel.html").read_text()),
        *(name for name, _ in _ASSETS.values()),
    }
    assert {path.name for path in FOLDER.iterdir()} == named | {"manifest.json"}


def test_it_has_the_version_of_the_project():
    assert MANIFEST["version"] == crawlproject.__version__


def test_it_talks_to_loopback_only_and_reads_nothing_as_html():
    for path in FOLDER.glob("*.js"):
        text = path.read_text()
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text), path.name
        assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://127.0.0.1"}, path.name


def test_pages_of_this_machine_are_not_looked_at():
    text = (FOLDER / "content.js").read_text()
    (own,) = re.findall(r"if \(/(.+)/\.test\(location\.hostname\)\) return;", text)
    hosts = (
        "localhost",
        "tax.localhost",
        "localhost.",
        "127.0.0.1",
        "127.0.0.2",
        "[::1]",
        "0.0.0.0",
        "[::]",
        "[::ffff:7f00:1]",
    )
    assert all(re.search(own, host) for host in hosts)
    others = "a.example", "localhost.example", "notlocalhost", "[2001:db8::1]", "10.0.0.1", "[::ffff:a00:1]"
    assert not any(re.search(own, host) for host in others)
