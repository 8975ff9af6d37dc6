"""The registry of judges: built-in ones, entry points of the group ``topical.judges``, and ``module:Class``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import entry_points

from crawlproject.errors import BadSetting
from crawlproject.pages.text.relevance import BY_KEYWORDS
from crawlproject.parts.judges.base import Judge

SETTING = "setting TOPIC_RELEVANCE"
INSTALLED = "topical.judges"
OURS = {"examples": "ExamplesJudge", "embeddings": "EmbeddingsJudge", "llm": "ChatJudge"}  # module -> class in it

_registered: dict[str, type[Judge]] = {}


def register(name: str, judge: type[Judge]) -> None:
    """Register a class under a name in this process. Raises ``BadSetting`` for a built-in name, or if it is not a judge."""
    if name in OURS or name in BY_KEYWORDS:
        raise BadSetting(f"judge {name}", "expected a name that no built-in judge has")
    _registered[name] = _a_judge(name, judge)


def judge_class(name: str) -> type[Judge]:
    """The class of a judge. Raises ``BadSetting``, which suggests the nearest name."""
    if name in _registered:
        return _registered[name]
    if name in OURS:
        return _a_judge(name, getattr(import_module(f"crawlproject.parts.judges.{name}"), OURS[name]))
    if ":" in name:
        return _load(name, *name.split(":", 1))
    points = {point.name: point for point in entry_points(group=INSTALLED)}
    if name in points:
        return _load(name, points[name].module, points[name].attr)
    known = [*BY_KEYWORDS, *OURS, *_registered, *points]
    raise BadSetting(SETTING, f"there is no judge {name!r}; {_near(name, known)}")


def _load(name: str, module: str, attribute: str) -> type[Judge]:
    try:
        found = getattr(import_module(module), attribute)
    except Exception as failure:  # the module may raise anything
        raise BadSetting(SETTING, f"{name!r} cannot be imported: {type(failure).__name__}: {failure}") from failure
    return _a_judge(name, found)


def _a_judge(name: str, found: object) -> type[Judge]:
    if not (isinstance(found, type) and issubclass(found, Judge)):
        raise BadSetting(SETTING, f"{name}: expected a subclass of crawlproject.parts.judges.base.Judge")
    return found


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name.lower(), known := list(known), 1)
    return f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}, or module:Class"
