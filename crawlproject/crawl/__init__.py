"""One crawl: its steps, admission, robots.txt, stopping, replay, and the assembly of its parts.

``from crawlproject import crawl`` gives this package, for a package hides a function of its name; called, it is
``crawlproject.library.crawl``.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return import_module("crawlproject.library").crawl(*arguments, **named)


sys.modules[__name__].__class__ = _Callable
