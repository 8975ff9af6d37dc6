"""What the sites of the sample web are about: six themes, and everyday life around them.

Each theme is a phrase bank in a module of its own. Sentences in ``subjects`` are about that subject and can stand in
any order; sentences in ``remarks`` have the slots ``{subject}``, ``{place}``, ``{year}`` and ``{number}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
