"""Which controls of a page in the browser are clicked, in which order, and what each kind of control has brought on a host.

After Duda, Frey, Kossmann and Zhou, AJAXSearch, VLDB 2008 (paper 004 section 8), and Mesbah, van Deursen and Lenselink, Crawling
Ajax-based web applications through dynamic analysis of user interface state changes, ACM Transactions on the Web 6(1), 2012.
They return to a state by loading the page again, to click all of its controls; here a single path is taken, and each click costs
one click. Each control is clicked once, then those whose last click brought something again: most buttons that load more stay.

A kind is a signature of the element (``controls.js``). The expected gain of a click is the share of earlier pages on which the
kind brought something, smoothed towards the share of the host, which is smoothed towards one half:

    host = (gains + 5) / (trials + 10)
    kind = (gains + 2 host) / (trials + 2)

On the page itself each click counts; on other pages, whether any click of the kind brought something. Kinds below ``LEAST`` are
not clicked: after three trials in vain, or at once where the host is known for such.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from xxhash import xxh3_64_hexdigest

from crawlproject.parts.rendering.harmful_names import is_harmful
from crawlproject.records import CLICKED

LEAST = 0.25  # expected gain of a kind that is clicked
LEAST_TEXT = 50  # new characters after a click: fewer may be a clock

_KNOWN = 50_000  # hosts and kinds that are remembered: those tried last
_HOST_WEIGHT, _KIND_WEIGHT = 10, 2  # trials that the smoothing counts as


@dataclass(frozen=True, slots=True)
class Control:
    """A control of the page: its number on the page and its ``kind``."""

    number: int
    kind: str


def controls(found: Iterable[tuple[int, str, str]]) -> list[Control]:
    """The controls in ``found`` that may be clicked. Each item has the number, the signature, and lines that describe it."""
    return [Control(number, _digest(kind)) for number, kind, said in found if not is_harmful(said)]


def _digest(signature: str) -> str:
    return xxh3_64_hexdigest(signature.encode("utf-8", "replace"))[:8]


class ControlModel:
    """What each kind of control has brought on the pages of each host."""

    LEARNED: ClassVar[tuple[str, ...]] = ("_known",)

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[int, int]] = OrderedDict()  # host, or host and kind -> trials, gains

    def expected(self, host: str, kind: str, trials: int = 0, gains: int = 0) -> float:
        """The expected gain of a click, 0 to 1; ``trials`` and ``gains`` are those of the page itself."""
        of_host, host_gains = self._known.get(host, (0, 0))
        prior = (host_gains + _HOST_WEIGHT / 2) / (of_host + _HOST_WEIGHT)
        before, gained = self._known.get(f"{host} {kind}", (0, 0))
        return (gained + gains + _KIND_WEIGHT * prior) / (before + trials + _KIND_WEIGHT)

    def learn(self, host: str, signs: Mapping[str, float]) -> None:
        """Learn from the ``signs`` of a page's visit: for each kind that was tried, whether it brought something."""
        for name, gained in signs.items():
            if name.startswith(CLICKED):
                for key in (host, f"{host} {name.removeprefix(CLICKED)}"):
                    trials, gains = self._known.pop(key, (0, 0))
                    self._known[key] = trials + 1, gains + (gained > 0)
        while len(self._known) > _KNOWN:
            self._known.popitem(last=False)


class PageTrials:
    """The clicks of one page, ``most`` at most."""

    def __init__(self, model: ControlModel, host: str, most: int) -> None:
        self._model = model
        self._host = host
        self._most = most
        self._brought: dict[int, bool] = {}  # control -> whether its last click brought something
        self._trials: Counter[str] = Counter()
        self._gains: Counter[str] = Counter()

    def choose(self, shown: Iterable[Control]) -> Control | None:
        """The next control to click, among those ``shown``; None: no more."""
        if self._trials.total() >= self._most:
            return None
        wanted = [
            (control.number in self._brought, -expected, place, control)
            for place, control in enumerate(shown)
            if self._brought.get(control.number, True) and (expected := self._expected(control.kind)) >= LEAST
        ]
        return min(wanted)[-1] if wanted else None

    def clicked(self, control: Control, *, links: int, text: int) -> None:
        """Note that a click brought this many new ``links`` and characters of ``text``."""
        brought = links > 0 or text >= LEAST_TEXT
        self._brought[control.number] = brought
        self._trials[control.kind] += 1
        self._gains[control.kind] += brought

    def signs(self) -> dict[str, float]:
        """The clicks as signs for the history, by kind: 1 if a click brought something."""
        return {f"{CLICKED}{kind}": float(self._gains[kind] > 0) for kind in sorted(self._trials)}

    def counts(self) -> dict[str, int]:
        """Clicks by what they brought."""
        gained = self._gains.total()
        return {"new": gained, "nothing": self._trials.total() - gained}

    def _expected(self, kind: str) -> float:
        return self._model.expected(self._host, kind, self._trials[kind], self._gains[kind])
