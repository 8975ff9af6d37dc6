"""The parts of one crawl, and which of them are called at which hook."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeVar

from crawlproject.core.part import Part

PartOf = TypeVar("PartOf", bound=Part)


class Parts:
    """The parts of one crawl, in order. The most frequent hooks are bound here, once."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self._parts = tuple(parts)
        self.refusals = self.bound("refusal")
        self.spellings = self.bound("respelled")
        self.lowering = self.bound("lowered")
        self.postponing = self.bound("is_postponed")
        self.precedences = self.bound("precedence")
        self.turns = self.bound("turn")
        self.learning = self.bound("learn")

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    def bound(self, hook: str, *, without: Collection[str] = ()) -> list[Callable[..., Any]]:
        """The methods of the parts that need a hook, or the functions that they have set in their place.

        Leaves out the parts with names in ``without``.
        """
        default = getattr(Part, hook)
        hooks = [getattr(part, hook) for part in self._parts if hook not in part.idle and part.name not in without]
        return [found for found in hooks if getattr(found, "__func__", None) is not default]

    def find(self, kind: type[PartOf]) -> PartOf | None:
        """The part of this class, if the crawl has it. For callers that know a part by name, which the core does not."""
        return next((part for part in self._parts if isinstance(part, kind)), None)
