"""Refuses wrong values of Scrapy's own settings, with which it would fail only when the crawl is half made and has a folder."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES, default_settings
from scrapy.utils.misc import load_object

from crawlproject.errors import BadInput, BadSetting
from crawlproject.extras import named

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_FRACTIONS = ("DNS_TIMEOUT", "DOWNLOAD_DELAY", "DOWNLOAD_TIMEOUT")  # fractions with an integer default
_SWITCHES = ("TELNETCONSOLE_ENABLED",)  # a switch whose default is a number
_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
_KINDS = ("SCHEDULER", "TWISTED_REACTOR")
_NAMES = ("REFERRER_POLICY",)  # need not be the path of a class
_LEAST = {  # with lower values, nothing is ever fetched or kept
    "CONCURRENT_ITEMS": 1,
    "CONCURRENT_REQUESTS": 0,  # any number
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_TIMEOUT": 0,
}
_CONTROLS = re.compile("[\x00-\x1f\x7f]")


def refuse_wrong_values(settings: BaseSettings) -> None:
    """Raise ``BadSetting`` for a wrong number or switch, and for a ``USER_AGENT`` that no header can carry."""
    read: Callable[..., Any]
    for name, default in _given(settings):
        if name.endswith("_CODES"):
            read, wish = _codes, "numbers, separated by commas"
        elif isinstance(default, bool) or name in _SWITCHES:
            read, wish = type(settings).getbool, "True or False"
        elif isinstance(default, float) or name in _FRACTIONS:
            read, wish = type(settings).getfloat, "a number"
        elif isinstance(default, int):
            read, wish = type(settings).getint, "a whole number"
        else:
            continue
        try:
            read(settings, name)
        except (TypeError, ValueError):
            raise BadSetting(f"setting {name}", f"expected {wish}, not {settings[name]!r}") from None
    for name, least in _LEAST.items():
        if settings[name] is not None and settings.getfloat(name) < least:
            raise BadSetting(f"setting {name}", f"expected {least} or more, not {settings[name]!r}")
    if _CONTROLS.search(str(settings["USER_AGENT"])):
        raise BadSetting("setting USER_AGENT", f"expected one line of text, not {settings['USER_AGENT']!r}")


def refuse_wrong_components(settings: BaseSettings) -> None:
    """Raise ``BadSetting`` for a middleware, pipeline or other component that cannot be imported. Call it after Scrapy's reactor
    is installed, which the component may need.
    """
    for name, component in _components(settings):
        try:
            load_object(component)
        except (ImportError, NameError, TypeError, ValueError) as failure:
            if isinstance(failure, ModuleNotFoundError) and isinstance(
                missing := named(failure, "this crawl"), BadInput
            ):
                raise missing from failure
            raise BadSetting(f"setting {name}", f"cannot import {component!r}: {failure}") from failure


def refuse_replaced_components(settings: BaseSettings, ours: Mapping[str, Any]) -> None:
    """Raise ``BadSetting`` for another scheduler or kind of reactor, and for settings of middlewares, pipelines or extensions
    without those of the crawler.

    ``ours`` contains these settings of the project. To switch a component off, users set its place to None.
    """
    for name in _KINDS:
        # By ``__mro__``, because in Scrapy any class with the methods of a scheduler counts as a subclass.
        if (given := settings[name]) and load_object(ours[name]) not in load_object(given).__mro__:
            raise BadSetting(f"setting {name}", f"expected {ours[name]}, or a class derived from it, not {given}")
    for name in _COMPONENTS:
        there = {load_object(component) for component, place in (settings[name] or {}).items() if place is not None}
        for component, place in ours[name].items():
            if place is None or component in settings[name] or load_object(component) in there:
                continue
            raise BadSetting(
                f"setting {name}",
                f"expected {component!r} in it, or the place None to disable that: this setting replaces all components of the "
                "crawler; to add some, use an add-on (ADDONS)",
            )


def refuse_wrong_log(settings: BaseSettings) -> None:
    """Raise ``BadSetting`` for an unknown log level, and for a log file that cannot be written."""
    try:
        logging.NullHandler().setLevel(settings["LOG_LEVEL"])
    except (TypeError, ValueError):
        levels = "CRITICAL, ERROR, WARNING, INFO or DEBUG"
        raise BadSetting("-L, setting LOG_LEVEL", f"expected {levels}, not {settings['LOG_LEVEL']!r}") from None
    if path := settings["LOG_FILE"]:
        try:
            Path(path).open("a", encoding=settings["LOG_ENCODING"]).close()
        except (LookupError, OSError) as failure:
            raise BadSetting("--logfile, setting LOG_FILE", f"cannot be written: {failure}") from None


def _given(settings: BaseSettings) -> Iterator[tuple[str, Any]]:
    """Yield the Scrapy settings that are not at default priority, with Scrapy's default values."""
    for name, default in vars(default_settings).items():
        priority = settings.getpriority(name) or 0
        if name.isupper() and priority > SETTINGS_PRIORITIES["default"] and settings[name] is not None:
            yield name, default


def _codes(settings: BaseSettings, name: str) -> list[int]:
    return [int(code) for code in settings.getlist(name)]


def _components(settings: BaseSettings) -> Iterator[tuple[str, Any]]:
    for name in _COMPONENTS:
        yield from ((name, component) for component, place in (settings[name] or {}).items() if place is not None)
    for name, default in _given(settings):
        if isinstance(default, str) and default.startswith("scrapy.") and name not in _NAMES:
            yield name, settings[name]
