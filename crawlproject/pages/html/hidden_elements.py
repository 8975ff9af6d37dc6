"""Elements that a browser does not show: text for search engines only, and menus that wait for a click."""

from __future__ import annotations

import re
from collections.abc import Mapping

_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0*\.?[01]?(?:px|pt|em|rem|%)?\s*(?:;|!|$)"
    r"|opacity\s*:\s*0*\.?0*\s*(?:;|!|$)|text-indent\s*:\s*-\d{3,}|(?:left|top|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*0|(?:height|width)\s*:\s*0(?:px)?\s*(?:;|$)"
)
_COLOURS = re.compile(r"(?<![-\w])(background-color|background|color)\s*:\s*([^;!]{1,40})")
_RULE = re.compile(r"\.([\w-]{1,60})\s*\{([^{}]{0,300})\}")
_LONGEST_SHEET = 20_000
_NAMES = {"white": "fff", "black": "000", "#ffffff": "fff", "#000000": "000", "#fff": "fff", "#000": "000"}


def conceals(style: str) -> bool:
    """Whether a ``style`` attribute makes an element that nobody sees: not shown, of no size, out of sight, or of one colour."""
    style = style.lower()
    if _HIDING.search(style):
        return True
    if "color" not in style:
        return False
    colours = {name.removesuffix("-color"): _plain(value) for name, value in _COLOURS.findall(style)}
    return "color" in colours and colours["color"] == colours.get("background")


def concealing_classes(sheet: str) -> frozenset[str]:
    """The classes that a ``<style>`` hides by a rule of their own."""
    if ("none" not in sheet and "hidden" not in sheet) or len(sheet) > _LONGEST_SHEET:
        return frozenset()
    rules = _RULE.findall(sheet)
    return frozenset(
        name for name, declarations in rules if re.search(r"display\s*:\s*none|visibility\s*:\s*hidden", declarations)
    )


def is_concealed(attributes: Mapping[str, str], classes: frozenset[str]) -> bool:
    """Whether an element with these attributes is not shown, as far as that can be known without a browser."""
    style = attributes.get("style")
    if style and conceals(style):
        return True
    if "hidden" in attributes:
        return True
    return bool(classes) and not classes.isdisjoint(attributes.get("class", "").split())


def _plain(colour: str) -> str:
    colour = colour.strip().lower()
    return _NAMES.get(colour, colour)
