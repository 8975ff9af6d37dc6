"""Renders HTML from templates. Text from the web is escaped, stripped of control characters, and linked only if it is an
http or https URL."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from functools import cache, partial
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from crawlproject.configuration import program
from crawlproject.reports.evidence import meaning
from crawlproject.reports.plots import STYLES
from crawlproject.reports.verdict import short_p

# C0 and C1 controls, lone surrogates, and bidirectional controls: a title must not rearrange the page.
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_HEADING = re.compile(r'<h2 id="([\w-]+)">(.+?)</h2>')
_OVERFLOW = OverflowError, OSError, ValueError  # raised by datetime for an impossible time


def render(template: str, package: str = __package__, **values: object) -> bytes:
    """Render a template of ``package`` as UTF-8."""
    return environment(package, program).get_template(template).render(**values).encode()


def clean(value: object) -> object:
    """Remove control characters from a string; return anything else unchanged."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _UNWANTED.sub("", value)
    return value


def breakable(host: str) -> Markup:
    """Return the name of a host, with line breaks allowed only after its dots."""
    return Markup(".<wbr>").join(str(clean(host)).split("."))


def headings(page: Markup) -> list[tuple[str, Markup]]:
    """Return the anchors and texts of the sections of a page, for its table of contents."""
    return [(anchor, Markup(text)) for anchor, text in _HEADING.findall(page)]


def is_web(url: str | None) -> bool:
    """Whether a URL may be used in an ``href``."""
    return bool(url) and str(url).lower().startswith(("http://", "https://"))


def clip(text: str, length: int) -> str:
    """Clean ``text``, fold its white space, and cut it to ``length`` characters; an ellipsis marks the cut."""
    folded = " ".join(_UNWANTED.sub("", text[: length * 8]).split())
    return folded if len(folded) <= length else folded[: length - 1] + "…"


def when(seconds: float | None) -> str:
    """Return seconds since the epoch as date and time in UTC."""
    if seconds is None:
        return "unknown"
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except _OVERFLOW:
        return "unknown"


def duration(seconds: float | None) -> str:
    """Return a duration in its two largest units."""
    if seconds is None or not math.isfinite(seconds):
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def size(count: float) -> str:
    """Return a number of bytes in a suitable unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def decimals(value: float | None, digits: int = 3) -> str:
    """Return a number with a fixed number of decimals; a dash for None or NaN."""
    return "–" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def percent(share: float | None) -> str:
    """Return a share between 0 and 1 as a percentage; a dash for None or NaN."""
    return "–" if share is None or math.isnan(share) else f"{100 * share:.1f}%"


def thousands(count: int) -> str:
    return f"{count:,}"


@cache
def environment(package: str, program: str) -> Environment:
    """Return the templates of ``package``, each compiled once, in 0.1 s. ``program`` is the command name that they show."""
    made = Environment(
        loader=FunctionLoader(partial(source, package=package)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for function in (breakable, headings, meaning, clip, when, duration, size, decimals, percent, thousands):
        made.filters[function.__name__] = function
    made.filters["p_value"] = short_p
    made.tests["web"] = is_web
    made.globals["styles"] = STYLES
    made.globals["program"] = program
    return made


def source(name: str, package: str = __package__) -> str:
    """Return the text of a template file of ``package``; also works from a zip file."""
    return (resources.files(package) / "templates" / name).read_text(encoding="utf-8")
