"""Serialises what an ordering or a part has learned.

An ordering is pickled whole, by its attributes, and needs no code for it. Objects that belong to the crawl and are made by each
run (the context, its judge, its archive) are left out. An attribute that cannot be pickled makes the ordering ``Unfit``. A part
returns what it has learned: plain values, and instances of data classes that it lists (``dump_values``).

A crawl folder may come from a stranger, and a pickle may call anything that it names. So only listed names may be loaded: those
that the modules of the orderings define themselves (not what they import), records, and the constituents of arrays, counters
and random number generators. None of them opens a file, starts a process or imports a module.
"""

from __future__ import annotations

import importlib
import io
import pickle
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

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

_NAMED = (type, FunctionType, BuiltinMethodType)  # objects that a pickle refers to by name
_CONTAINERS = (dict, list, set, deque)
_OF_CONTAINERS = ("__contains__", "__getitem__", "add", "append", "get")


Packed = tuple[int, bytes, bytes]  # size of a table, numbers of its non-empty pieces, these pieces

_PIECE = 64  # bytes


class Unfit(Exception):
    """State that cannot be written, or bytes from which it cannot be restored."""


class HasFields(Protocol):
    """An object that keeps what it has learned in the fields named ``LEARNED``."""

    LEARNED: ClassVar[tuple[str, ...]]


def fields_of(*things: HasFields) -> list[dict[str, Any]]:
    """The ``LEARNED`` fields of each of ``things``."""
    return [{name: getattr(thing, name) for name in thing.LEARNED} for thing in things]


def set_fields(found: Sequence[Mapping[str, Any]], *things: HasFields) -> None:
    """Restore the result of ``fields_of``. Raises ``Unfit`` before anything has changed (``refuse_fields``)."""
    refuse_fields(found, *things)
    for values, thing in zip(found, things, strict=True):
        for name, value in values.items():
            setattr(thing, name, value)


def refuse_fields(found: Sequence[Mapping[str, Any]], *things: HasFields) -> None:
    """Raise ``Unfit`` unless the names and types of these fields match those of ``things``."""
    for values, thing in zip(found, things, strict=True):
        types = {name: type(getattr(thing, name)) for name in thing.LEARNED}
        if {name: type(value) for name, value in values.items()} != types:
            raise Unfit(f"the fields of {type(thing).__name__} differ")


def empty_table(places: int, dtype: npt.DTypeLike) -> memoryview[int]:
    """A table of zeros, which takes no memory until it is written to."""
    return np.zeros(places, dtype).data


def packed(table: memoryview[int]) -> Packed:
    """Pack a large table, most of which may be empty."""
    pieces = np.frombuffer(table, np.uint8).reshape(-1, _PIECE)
    places = np.flatnonzero(pieces.any(axis=1)).astype("<u4")
    return pieces.size, places.tobytes(), pieces[places].tobytes()


def unpack(found: Packed, table: memoryview[int]) -> None:
    """Unpack the result of ``packed`` into an empty table. Raises ``Unfit`` before anything has changed."""
    size, places, filled = found
    pieces = np.frombuffer(table, np.uint8).reshape(-1, _PIECE)
    at = np.frombuffer(places, "<u4")
    if size != pieces.size or len(filled) != _PIECE * len(at):
        raise Unfit("a table of another size")
    pieces[at] = np.frombuffer(filled, np.uint8).reshape(-1, _PIECE)


def dump_values(values: Any, classes: Collection[type]) -> bytes:
    """Serialise plain values and instances of ``classes``. Raises ``Unfit`` for anything else."""
    file = io.BytesIO()
    try:
        _ValuePickler(file, classes).dump(values)
    except (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError) as damage:
        raise Unfit(str(damage)) from damage
    return file.getvalue()


def load_values(data: bytes, classes: Collection[type]) -> Any:
    """Restore the values from the result of ``dump_values``. Raises ``Unfit``."""
    try:
        return _ValueUnpickler(io.BytesIO(data), classes).load()
    except Exception as damage:  # whatever damaged bytes lead to
        raise Unfit(repr(damage)) from damage


def dump(ordering: BaseOrdering) -> bytes:
    """Serialise an ordering. Raises ``Unfit``."""
    file = io.BytesIO()
    try:
        _Pickler(file, ordering).dump((ordering, ordering.context.random.getstate()))
    except (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError) as damage:
        raise Unfit(f"{type(ordering).__name__}: {damage}") from damage
    return file.getvalue()


def load(data: bytes, ordering: BaseOrdering) -> BaseOrdering:
    """Restore an ordering from the result of ``dump``, with the context of ``ordering``, and the state of its random numbers.

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
    """The objects that belong to the run, by name."""
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


class _ValuePickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, classes: Collection[type]) -> None:
        super().__init__(file, 5)
        self._classes = frozenset(classes)

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, _NAMED) and thing not in self._classes:
            module, name = thing.__module__ or "", thing.__qualname__
            if name not in _OTHERS.get(module, ()):
                raise Unfit(f"{module}.{name} is not admitted")
        return NotImplemented


class _ValueUnpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, classes: Collection[type]) -> None:
        super().__init__(file)
        self._classes = {(each.__module__, each.__qualname__): each for each in classes}

    def find_class(self, module: str, name: str) -> Any:
        if (found := self._classes.get((module, name))) is not None:
            return found
        if name not in _OTHERS.get(module, ()):
            raise Unfit(f"{module}.{name} is not admitted")
        return getattr(importlib.import_module(module), name)


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
    """Pickles a bound method of a learned object that another object refers to."""

    def __new__(cls, owner: Any, name: str) -> MethodType:  # type: ignore[misc]
        if isinstance(owner, _CONTAINERS):
            if name not in _OF_CONTAINERS:
                raise Unfit(f"{name} of a container is not admitted")
            return getattr(owner, name)
        _refuse_strangers(type(owner).__module__, type(owner).__name__, "")
        found = getattr(owner, name)
        if not isinstance(found, MethodType) or name.startswith("__"):
            raise Unfit(f"{name} is not a method")
        return found


class View:
    """Pickles a ``memoryview`` as its content."""

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
            raise Unfit(f"{module}.{name} is defined elsewhere")
        return found


def _package_of(ordering: BaseOrdering) -> str:
    """The package (or top-level module) of the class of an ordering, followed by a dot."""
    module = type(ordering).__module__
    return f"{module.rpartition('.')[0] or module}."


def _refuse_strangers(module: str, name: str, package: str) -> None:
    """Raise ``Unfit`` for a name that is not listed."""
    if (module == __name__ and name in ("Method", "View")) or name in _OTHERS.get(module, ()):
        return
    if "." in name or not f"{module}.".startswith((*_PACKAGES, package)):
        raise Unfit(f"{module}.{name} is not admitted")
