"""Clicks the controls of a page whose scripts have settled, one after the other; ``controls.js`` collects what they show."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from crawlproject.parts.rendering.browser.frames import SNAPSHOT
from crawlproject.parts.rendering.controls import PageTrials, controls

MOST_ELEMENTS = 20_000  # of a page whose controls are clicked: each state is compared with all earlier ones
MOST_URLS = 50  # to which the clicks of a page lead

_CONTROLS = files(__package__).joinpath("controls.js").read_text(encoding="utf-8")

Evaluate = Callable[[str], Awaitable[Any]]  # the value of an expression in an isolated world; None when it has none
Settle = Callable[[], Awaitable[bool]]  # lets the scripts of the page settle; False: no more clicks


class Clicks:
    """The clicks of one page, as ``trials`` choose them; ``before`` is its HTML before the first click."""

    def __init__(self, trials: PageTrials) -> None:
        self.before = ""
        self._trials = trials
        self._urls: list[str] = []
        self._noted = 0

    def note(self, url: str) -> None:
        """Note a URL to which a click would lead: the page stays, and gets a link."""
        self._noted += 1
        if self._noted <= MOST_URLS:
            self._urls.append(url)

    async def run(self, evaluate: Evaluate, settle: Settle, most: int) -> None:
        """Click while a control is left to click; ``most``: characters of HTML."""
        found = await evaluate(f"({_CONTROLS})({MOST_ELEMENTS})")
        while found and (control := self._trials.choose(controls(found["controls"]))):
            self.before = self.before or await evaluate(f"({SNAPSHOT})({most}, false)") or ""
            self._urls.clear()
            await evaluate(f"states.click({control.number})")
            settled = await settle()
            found = await evaluate(f"states.look({json.dumps(self._urls)})")
            if found:
                self._trials.clicked(control, links=found["links"], text=found["text"])
            if found and found["moved"] and settled:
                settled = await settle()
                found = await evaluate("states.look([])")
            if not settled:
                return
