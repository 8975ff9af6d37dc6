"""Records finished measurements, so that an interrupted comparison resumes where it stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.cost import Cost
from benchmarks.side_by_side import Entry
from crawlproject.errors import BadInput
from crawlproject.storage.append_log import write_atomically


class Ledger:
    """The finished entries and notes of a folder of runs, in ``ledger.json`` there.

    ``asked`` holds the options of all measurements. Raises ``BadInput`` when the folder holds figures for other options,
    or something else.
    """

    def __init__(self, folder: Path, asked: Mapping[str, Any]) -> None:
        self.entries: dict[str, Entry] = {}
        self.notes: list[str] = []
        self._folder = folder
        self._path = folder / "ledger.json"
        self._asked = dict(asked)
        if self._path.exists():
            self._load()
        elif folder.exists() and any(folder.iterdir()):
            raise BadInput(f"--out {folder}", "expected a new folder, or one of an earlier comparison")
        folder.mkdir(parents=True, exist_ok=True)
        self._save()

    def begin(self, name: str) -> None:
        """Remove the runs that an interrupted measurement of ``name`` left."""
        for run in self._folder.glob("*/*/"):
            if run.name == name:
                shutil.rmtree(run)

    def add(self, entry: Entry, *notes: str) -> None:
        """Record a finished entry and the notes about it, also on disk."""
        self.entries[entry.name] = entry
        self.notes += notes
        self._save()

    def _load(self) -> None:
        held = json.loads(self._path.read_text("utf-8"))
        if held["asked"] != self._asked:
            wish = f"expected a new folder: this one holds figures for {json.dumps(held['asked'])}"
            raise BadInput(f"--out {self._folder}", wish)
        self.notes = held["notes"]
        for entry in held["entries"]:
            self.entries[entry["name"]] = Entry(**{**entry, "cost": Cost(**entry["cost"])})

    def _save(self) -> None:
        entries = [asdict(entry) for entry in self.entries.values()]
        found = {"asked": self._asked, "entries": entries, "notes": self.notes}
        write_atomically(self._path, [json.dumps(found, indent=1).encode()])
