"""The registry of parts: built-in ones from the table below, others from the entry points of group ``crawlproject.parts``.

A built-in part whose folder is missing is left out. To add one, create a folder with a ``part.py``, and add a line to the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

from crawlproject.core.part import Part
from crawlproject.errors import BadSetting
from crawlproject.options import Options

if TYPE_CHECKING:
    from crawlproject.webs.base import Web

GROUP = "crawlproject.parts"

OURS = {  # in the order in which they are called; name of the folder -> name of the class in its ``part.py``
    "filters": "Filters",
    "languages": "Languages",
    "logins": "LoginPart",
    "documents": "Documents",
    "spam": "Spam",
    "sites": "Sites",
    "probes": "Probes",
    "duplicates": "Duplicates",
    "verticals": "Verticals",
    "earlier": "EarlierCrawls",
    "front_pages": "FrontPages",
    "listings": "Listings",
    "forms": "FormPart",
    "rendering": "Rendering",
    "revisits": "RevisitPart",
    "websub": "WebsubPart",
    "topics": "TopicsPart",
    "judgments": "Judgments",
    "judges": "Judges",
    "mirror": "MirrorPart",
    "workers": "Workers",
}
PIPELINES = {  # name of the part -> its entries of ``ITEM_PIPELINES``
    "rendering": {"crawlproject.parts.rendering.pipeline.RenderPipeline": 40},
    "judges": {"crawlproject.parts.judges.pipeline.JudgePipeline": 45},
}
MIDDLEWARES = {  # ditto, of ``DOWNLOADER_MIDDLEWARES``
    "logins": {"crawlproject.parts.logins.middleware.LoginMiddleware": 540},
    "documents": {"crawlproject.parts.documents.middleware.DocumentMiddleware": 530},
}
EXTENSIONS = {  # ditto, of ``EXTENSIONS``
    "judgments": {"crawlproject.parts.judgments.watch.JudgmentWatch": 28},
    "mirror": {"crawlproject.parts.mirror.ending.MirrorEnding": 29},
    "workers": {"crawlproject.parts.workers.pushed_seeds.PushedSeedsFeed": 30},
    "revisits": {"crawlproject.parts.revisits.change_hook.ChangeHook": 50},
    "websub": {"crawlproject.parts.websub.extension.HubDeliveries": 60},
}
NEEDS = {
    "revisits": ("listings",),  # listings are revisited, too, and say which pages have changed
    "websub": ("revisits", "listings"),  # a notification from a hub makes the feed due that names the hub
}


@cache
def _entries() -> tuple[EntryPoint, ...]:
    """The entry points of other packages. Looking for them reads a file of every installed package."""
    return tuple(entry_points(group=GROUP))


@cache
def part_classes() -> dict[str, type[Part]]:
    """The class of every part by its name, in order. Raises ``BadSetting`` for an entry point that is not a part."""
    found: dict[str, type[Part]] = {}
    for name, class_name in OURS.items():
        if (module := part_module(name, "part")) is not None:
            found[name] = getattr(module, class_name)
    for entry in _entries():
        part = entry.load()
        if not (isinstance(part, type) and issubclass(part, Part)):
            raise BadSetting(
                f"entry point {GROUP}: {entry.name}", f"expected a subclass of {Part.__name__}, not {part!r}"
            )
        found.setdefault(entry.name, part)
    return found


def components(table: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """The Scrapy components of the installed parts: path -> order. Imports no part."""
    return {path: order for part, entries in table.items() if is_there(part) for path, order in entries.items()}


def is_there(part: str) -> bool:
    """Whether the folder of a built-in part exists, and the folders of the parts that it needs."""
    return all(find_spec(f"crawlproject.parts.{name}") is not None for name in (part, *NEEDS.get(part, ())))


def part_module(part: str, module: str) -> ModuleType | None:
    """A module of a built-in part; None if the part is not installed."""
    return import_module(f"crawlproject.parts.{part}.{module}") if is_there(part) else None


def module_beside(part: str, module: str) -> ModuleType | None:
    """An optional module of a built-in part; None if the module or the part does not exist."""
    there = is_there(part) and find_spec(f"crawlproject.parts.{part}.{module}") is not None
    return part_module(part, module) if there else None


def modules_beside(module: str) -> Iterator[ModuleType]:
    """The modules of this name of all parts, in order; for an entry point, from the package of the object that it names."""
    for part in OURS:
        if (found := module_beside(part, module)) is not None:
            yield found
    for entry in _entries():
        package = entry.module.rpartition(".")[0]
        if package and find_spec(f"{package}.{module}") is not None:
            yield import_module(f"{package}.{module}")


def reads(options: Options) -> Set[str]:
    """What the parts need read of a page (``Part.reads``)."""
    return {what for part in part_classes().values() for what in part.reads(options)}


def readable(web: Web, options: Options) -> Web:
    """``web`` after every part has made it readable (``Part.readable``). Raises ``BadInput``."""
    for part in part_classes().values():
        web = part.readable(web, options)
    return web


def settings_models() -> Iterator[type[Options]]:
    """The settings models of all parts, in order."""
    for module in modules_beside("options"):
        for model in vars(module).values():
            if isinstance(model, type) and issubclass(model, Options) and model.__module__ == module.__name__:
                yield model
