"""spaCy's stop word lists, as they are in its files; a built package contains a copy, so that it works without spaCy.

``setup.py`` runs this file to write the copy, so it imports only the standard library. It reads the files of an installed
spaCy, but never imports spaCy, which takes over a second and 60 MB.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterable
from functools import cache
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

COPY = "stop_words.json"


def languages() -> frozenset[str]:
    """Return the codes of the languages that have a list; none without a copy and without spaCy."""
    if copied := _copy():
        return frozenset(copied)
    folder = _folder()
    return frozenset(path.parent.name for path in folder.glob("*/stop_words.py")) if folder else frozenset()


def words(language: str) -> Iterable[str]:
    """Return the stop words of one of the ``languages``, in any order."""
    return (_copy() or {}).get(language) or _from_spacy(language)


def as_json() -> bytes | None:
    """Return the content of the copy, with spaCy's licence; None if spaCy is not installed."""
    if _folder() is None:
        return None
    licence = next(path for path in distribution("spacy").files or () if path.name == "LICENSE")
    lists = {language: sorted(_from_spacy(language)) for language in sorted(languages())}
    return json.dumps({"licence": licence.read_text(), "lists": lists}, ensure_ascii=False).encode()


@cache
def _copy() -> dict[str, list[str]] | None:
    path = Path(__file__).with_name(COPY)
    found: dict[str, list[str]] | None = json.loads(path.read_bytes())["lists"] if path.is_file() else None
    return found


def _from_spacy(language: str) -> frozenset[str]:
    folder = _folder()
    assert folder is not None
    return frozenset(runpy.run_path(str(folder / language / "stop_words.py"))["STOP_WORDS"])


def _folder() -> Path | None:
    """Return the folder of spaCy's languages; None if spaCy is not installed."""
    spec = find_spec("spacy")
    return Path(spec.submodule_search_locations[0], "lang") if spec and spec.submodule_search_locations else None
