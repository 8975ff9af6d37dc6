"""Pages that scripts make are rendered in a browser, where that is asked for. ``pipeline.py`` and ``browser/`` run it."""

from __future__ import annotations

from crawlproject.core.part import Part, Setup
from crawlproject.parts.rendering.options import RenderOptions
from crawlproject.parts.rendering.policy import RenderPolicy
from crawlproject.parts.rendering.rendering import RenderedPages
from crawlproject.records import FetchEvent


class Rendering(Part):
    """There unless ``CRAWL_RENDER`` is ``never``."""

    name = "rendering"

    def __init__(self, setup: Setup) -> None:
        options = setup.options.of(RenderOptions)
        self.policy = RenderPolicy(options.crawl_render)
        self.pages = RenderedPages(options.crawl_render_cost)

    @classmethod
    def make(cls, setup: Setup) -> Rendering | None:
        return cls(setup) if setup.options.of(RenderOptions).crawl_render != "never" else None

    def learn(self, event: FetchEvent) -> None:
        self.policy.learn(event)
