"""What an ordering has learned, as bytes and back.

It is pickled whole, by its attributes: an ordering needs no code for it. What belongs to the crawl and is made anew by each run
(the context, its judge, its archive) is left out, and what cannot be pickled makes the ordering ``Unfit``.

A crawl folder may come from a stranger, and a pickle may call whatever it names. So what is read is held to a list: what the
modules of the orderings define themselves (not what they import), records, and what arrays, counters and generators of random
numbers consist of. Nothing of it opens a file, starts a process or imports a module.
"""

from __future__ import annotations

import importlib
import io
import pickle
from collections import deque
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

from crawlproject.orderings.base import BaseOrdering

_PACKAGES = (
    "crawlproject.orderings.",
    "crawlproject.pages.text.terms.",
    "crawlproject.pages.text.text_hashes.",
    "crawlproject.records.",
)
_OTHERS = {
    "array": ("array", "_array_reconstructor"),
    "builtins": (
        "bytearray",
        "complex",
        "dict",
        "float",
        "frozenset",
        "int",
        "list",
        "range",
        "set",
        "slice",
        "str",
        "tuple",
    ),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque"),
    "numpy": ("dtype", "ndarray"),
    "numpy._core.multiarray": ("_reconstruct", "scalar"),
    "numpy._core.numeric": ("_frombuffer",),
    "numpy.core.multiarray": ("_reconstruct", "scalar"),
    "numpy.core.numeric": ("_frombuffer",),
    "random": ("Random",),
}

_CONTAINERS = (dict, list, set, deque)
_OF_CONTAINERS = ("__contains__", "__getitem__", "add", "append", "get")


class Unfit(Exception):
    """An ordering that cannot be written, or bytes that are no ordering."""


def dump(ordering: BaseOrdering) -> bytes:
    """Raises ``Unfit``."""
    file = io.BytesIO()
    try:
        _Pickler(file, ordering).dump((ordering, ordering.context.random.getstate()))
    except (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError) as damage:
        raise Unfit(f"{type(ordering).__name__}: {damage}") from damage
    return file.getvalue()


def load(data: bytes, ordering: BaseOrdering) -> BaseOrdering:
    """The ordering that was written, as one of the run of ``ordering``, whose generator of random numbers goes on as its own did.

    Raises ``Unfit``.
    """
    try:
        found, state = _Unpickler(io.BytesIO(data), ordering).load()
        if type(found) is not type(ordering):
            raise Unfit(f"a {type(found).__name__}")
        ordering.context.random.setstate(state)
    except Unfit:
        raise
    except Exception as damage:  # whatever damaged bytes lead to
        raise Unfit(repr(damage)) from damage
    return found


def _tools_of(ordering: BaseOrdering) -> dict[str, Any]:
    """What belongs to the run, by name."""
    context, judge = ordering.context, ordering.context.judge
    tools = {
        "context": context,
        "judge": judge,
        "analyzer": getattr(judge, "analyzer", None),
        "archive": context.archive,
        "graph": context.graph,
        "random": context.random,
    }
    return {name: tool for name, tool in tools.items() if tool is not None}


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, ordering: BaseOrdering) -> None:
        super().__init__(file, 5)
        self._names = {id(tool): name for name, tool in _tools_of(ordering).items()}
        self._package = _package_of(ordering)

    def persistent_id(self, thing: Any) -> str | None:
        return self._names.get(id(thing))

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, memoryview):
            return View, (thing.tobytes(), thing.format, thing.readonly)
        is_of_container = isinstance(thing, BuiltinMethodType) and isinstance(thing.__self__, _CONTAINERS)
        if is_of_container or isinstance(thing, MethodType):
            return Method, (thing.__self__, thing.__name__)
        if isinstance(thing, type | FunctionType) or hasattr(thing, "__qualname__"):
            _refuse_strangers(
                getattr(thing, "__module__", None) or "", getattr(thing, "__qualname__", ""), self._package
            )
        return NotImplemented


class Method:
    """A method of what was learned, which something else has at hand."""

    def __new__(cls, owner: Any, name: str) -> MethodType:  # type: ignore[misc]
        if isinstance(owner, _CONTAINERS):
            if name not in _OF_CONTAINERS:
                raise Unfit(f"{name} of a container is not admitted")
            return getattr(owner, name)
        _refuse_strangers(type(owner).__module__, type(owner).__name__, "")
        found = getattr(owner, name)
        if not isinstance(found, MethodType) or name.startswith("__"):
            raise Unfit(f"{name} is no method")
        return found


class View:
    """A ``memoryview`` that is written as what it shows."""

    def __new__(cls, data: bytes, form: str, readonly: bool) -> memoryview:  # type: ignore[misc]
        return memoryview(data if readonly else bytearray(data)).cast(form)  # type: ignore[call-overload]


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, ordering: BaseOrdering) -> None:
        super().__init__(file)
        self._tools = _tools_of(ordering)
        self._package = _package_of(ordering)

    def persistent_load(self, name: Any) -> Any:
        return self._tools[name]

    def find_class(self, module: str, name: str) -> Any:
        _refuse_strangers(module, name, self._package)
        found = getattr(importlib.import_module(module), name)
        if name not in _OTHERS.get(module, ()) and getattr(found, "__module__", None) != module:
            raise Unfit(f"{module}.{name} is imported there")
        return found


def _package_of(ordering: BaseOrdering) -> str:
    """The package, or the module, that the class of an ordering is in."""
    module = type(ordering).__module__
    return f"{module.rpartition('.')[0] or module}."


def _refuse_strangers(module: str, name: str, package: str) -> None:
    """Raises ``Unfit`` for what is not on the list."""
    if (module == __name__ and name in ("Method", "View")) or name in _OTHERS.get(module, ()):
        return
    if "." in name or not f"{module}.".startswith((*_PACKAGES, package)):
        raise Unfit(f"{module}.{name} is not admitted")
