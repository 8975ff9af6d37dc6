"""Spam pages count less: each page gets a spam score from its own signs (paper 004 section 6.3)."""

from __future__ import annotations

from pathlib import Path

from crawlproject.core.part import Part, Setup
from crawlproject.parts.spam.inspector import SpamInspector
from crawlproject.parts.spam.model import SpamModel
from crawlproject.parts.spam.options import SpamOptions
from crawlproject.records import Fetch, Page


class Spam(Part):
    """Always there; ``CRAWL_SPAM_MODEL`` names a trained model in place of the built-in weights."""

    name = "spam"

    def __init__(self, inspector: SpamInspector) -> None:
        self._inspector = inspector

    @classmethod
    def make(cls, setup: Setup) -> Spam:
        name = setup.options.of(SpamOptions).crawl_spam_model
        model = SpamModel.read(Path(name), "setting CRAWL_SPAM_MODEL") if name else None
        return cls(SpamInspector(setup.judge.query, model))

    def examine(self, page: Page, fetch: Fetch) -> Page:
        return self._inspector.inspect(page, fetch)

    examine_again = examine
