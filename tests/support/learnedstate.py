"""The state of a learner, field by field, as plain values that can be compared."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping, Set
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

# Objects that parts use but do not learn, by the modules of their classes.
TOOLS = (
    *("crawlproject.core.part.", "crawlproject.core.peers.", "crawlproject.core.services.", "crawlproject.frontier."),
    *("crawlproject.options.", "crawlproject.storage.", "pathlib.", "spacy."),
)
PLAIN = (str, bytes, int, float, bool, type(None))


def state(thing: Any, run_time: Mapping[str, frozenset[str]], seen: frozenset[int] = frozenset()) -> Any:
    """All fields of ``thing`` and, recursively, of its parts. ``run_time`` names, by class, the fields left out.

    Also left out: functions, random number generators, the topic's judge and analyzer, and the ``TOOLS``.
    """
    if isinstance(thing, PLAIN):
        return thing
    if id(thing) in seen:
        return "seen"
    seen |= {id(thing)}
    if isinstance(thing, np.ndarray | np.generic):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, bytearray | memoryview):
        return bytes(thing)
    if isinstance(thing, array):
        return thing.typecode, thing.tobytes()
    if isinstance(thing, Mapping):
        entries = [(state(key, run_time, seen), state(value, run_time, seen)) for key, value in thing.items()]
        return entries if isinstance(thing, OrderedDict) else sorted(entries, key=repr)
    if isinstance(thing, Set):
        return sorted((state(item, run_time, seen) for item in thing), key=repr)
    if hasattr(thing, "__iter__"):
        return [state(item, run_time, seen) for item in thing]
    names = [name for cls in type(thing).__mro__ for name in getattr(cls, "__slots__", ())]
    names += list(getattr(thing, "__dict__", ()))
    if names:
        left_out = run_time.get(type(thing).__name__, frozenset())
        fields = {name: getattr(thing, name) for name in names if name not in left_out}
        return type(thing).__name__, {
            name: state(value, run_time, seen) for name, value in sorted(fields.items()) if not _learns_nothing(value)
        }
    return repr(thing)


def _learns_nothing(value: Any) -> bool:
    name, module = type(value).__name__, type(value).__module__
    tools = "OrderingContext", "TopicJudge", "Analyzer"
    is_tool = name in tools or f"{module}.".startswith(TOOLS)
    return isinstance(value, Callable | Random | ModuleType) or is_tool  # type: ignore[arg-type]


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """The places where two states differ, for a readable message."""
    if type(one) is type(other) and isinstance(one, dict):
        names = sorted({*one, *other})
        return [found for name in names for found in differences(one.get(name), other.get(name), f"{place}.{name}")]
    if isinstance(one, list | tuple) and type(one) is type(other) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for n, (a, b) in pairs for found in differences(a, b, f"{place}[{n}]")]
    return [] if one == other else [f"{place}: {str(one)[:300]} != {str(other)[:300]}"]
