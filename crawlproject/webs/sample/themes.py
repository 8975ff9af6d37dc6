"""What the sites of the sample web are about: six themes, and everyday life around them.

Each theme is a phrase bank, a file in ``phrases/``. Sentences in ``subjects`` are about that subject, in any order; sentences in
``remarks`` have the slots ``{subject}``, ``{place}``, ``{year}`` and ``{number}``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Theme:
    """A phrase bank.

    ``sites`` are (name in the host, title, kind); the kinds are those of ``crawlproject.webs.sample.sites``.
    ``goods`` are sold in the theme's shops.
    """

    key: str
    name: str
    about: str
    places: tuple[str, ...]
    sites: tuple[tuple[str, str, str], ...]
    subjects: Mapping[str, tuple[str, ...]]
    remarks: tuple[str, ...]
    goods: tuple[str, ...]


def _load(key: str) -> Theme:
    text = (resources.files(__package__) / "phrases" / f"{key}.toml").read_text("utf-8")
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in tomllib.loads(text).items()
    }
    fields["sites"] = tuple(map(tuple, fields["sites"]))
    fields["subjects"] = {subject: tuple(sentences) for subject, sentences in fields["subjects"].items()}
    return Theme(**fields)


EVERYDAY = _load("everyday")
THEMES = tuple(map(_load, ("coral", "bread", "bees", "volcanoes", "music", "railways")))
