"""The frontier for any Scrapy project: ``ADDONS = {"crawlproject.addon.FrontierAddon": 100}``.

Spiders, callbacks, items, pipelines and middlewares stay as they are. Requests wait in our frontier, with one request per host
in flight; hosts rest after each request; and with ``JOBDIR``, nothing is lost when the crawl is killed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import load_object

from crawlproject.adapters.request_scheduler import RequestScheduler, frontier_options
from crawlproject.configuration import unknown_settings
from crawlproject.errors import BadSetting

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_PRIORITY = "addon"  # below the project's own settings, above Scrapy's defaults
_SCRAPYS = "scrapy.core.scheduler.Scheduler"
_CHOICES = {
    "FRONTIER_MAX_URLS": 0,  # a request that a spider made is never dropped
    "FRONTIER_BATCH_SIZE": 1,  # the priorities of requests decide, not the k rule
}


class FrontierAddon:
    """Sets the scheduler, and two settings of the frontier that the project does not set.

    A project with another ``SCHEDULER`` keeps that one and gets a warning. Raises ``BadSetting`` for wrong settings of the
    frontier.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        scheduler = settings["SCHEDULER"]
        theirs = load_object(scheduler)
        if theirs not in (load_object(_SCRAPYS), RequestScheduler):
            raise NotConfigured(f"the project has another SCHEDULER, {scheduler}")
        for name, value in _CHOICES.items():
            settings.set(name, value, _PRIORITY)
        settings.set("SCHEDULER", RequestScheduler, _PRIORITY)
        _check(settings)


def _check(settings: BaseSettings) -> None:
    """Raise ``BadSetting`` for wrong values and misspelt names, before the crawl starts."""
    frontier_options(settings)
    for name, near in unknown_settings(settings):
        if name.startswith(("FRONTIER_", "POLITENESS_")):
            raise BadSetting(f"setting {name}", f"there is no such setting{f'; did you mean {near}?' if near else ''}")
