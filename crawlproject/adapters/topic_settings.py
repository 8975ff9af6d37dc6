"""Which of two settings holds: that of the topic file, or that of whoever starts the crawl."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.project import ENVVAR

_PROJECT = SETTINGS_PRIORITIES["project"]


def apply_topic_settings(settings: BaseSettings, wanted: Mapping[str, Any]) -> None:
    """Let the ``[crawl]`` table of a topic override the project's settings, but not ``-s`` or what a script has set.

    ``settings.set(name, value)`` in a script, and the settings given to a ``CrawlerProcess``, have the priority of the project's
    own; so they are told apart by their values: those of the project are in its settings module.
    """
    name_of_module = os.environ.get(ENVVAR)
    project = vars(import_module(name_of_module)) if name_of_module else {}
    for name, value in wanted.items():
        chosen = settings.getpriority(name) == _PROJECT and (name not in project or settings[name] != project[name])
        if not chosen:
            settings.set(name, value, priority="spider")
