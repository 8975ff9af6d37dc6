"""The story of one URL for the terminal; plain text without colours when it goes into a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from crawlproject.pages.text.printable import counted
from crawlproject.records import AGENT, CLIQUE, CRAWL_DELAY, RETRY_AFTER, SUSPECTS, CrawlUrl, Visit
from crawlproject.reports.why.lookup import Cause, FrontierStatus, LinkTo, UrlStatus
from crawlproject.reports.why.path import Step
from crawlproject.storage.refusals import SHOWN
from crawlproject.urls.naming import page_path

PAGES = "pages"
_NO_SCORE = 1e15  # from here on it says only that seeds come first
_PIPE_WIDTH = 10_000  # columns, so that URLs in a pipe are never cut


def print_whereabouts(
    found: UrlStatus, stream: TextIO, causes: Sequence[Cause] = (), probed: Sequence[str] = ()
) -> None:
    """Say where the URL is and why, then the way that led to it.

    ``causes``: why it was left out, when it was. ``probed``: what second looks at it and its site found.
    """
    terminal = stream.isatty()
    console = Console(file=stream, width=None if terminal else _PIPE_WIDTH, highlight=False, no_color=not terminal)
    console.print(Text(found.url, style="bold"), soft_wrap=True)
    for line in (*_story(found, causes), *probed):
        console.print(line if isinstance(line, Table) else Text(line), soft_wrap=True)
    if found.path:
        console.print()
        console.print(Text("The way there, with the relevance of each page:", style="bold"))
        console.print(_way(found.path), soft_wrap=True)


def _story(found: UrlStatus, causes: Sequence[Cause]) -> Iterable[str | Table]:
    standing = found.standing
    if found.visit:
        yield from _fetched(found, found.visit)
    elif standing and standing.record:
        yield from _waits(standing, standing.record)
    elif found.refused:
        for refusal in found.refused:
            parent = dict(refusal.samples)[found.url[:SHOWN]]
            yield f"Refused: {refusal.reason}, like {counted(refusal.count, 'link')} in all."
            yield f"Found on {parent}" if parent else "It is a seed, or it came from a spider."
    elif standing:
        yield "Left the frontier without a fetch: it was refused when its turn came."
        yield from _left_out(causes)
        yield from () if causes else _unlisted(found)
    elif found.link_count:
        count = counted(found.link_count, "link")
        yield f"Not fetched, and it does not wait, though fetched pages have {count} to it."
        yield from _left_out(causes)
        yield from () if causes else _unlisted(found)
    elif causes:
        yield "It is a seed, and was not fetched."
        yield from _left_out(causes)
    else:
        yield "Never seen: no fetched page has a link to it."
    for source in found.redirects:
        yield f"{source} redirected to it."
    if found.links:
        yield "Links to it, with the similarity of their contexts to the keywords:"
        yield _sources(found.links)


def _left_out(causes: Sequence[Cause]) -> Iterable[str]:
    """One cause is told as what happened; of several, nothing in the folder says which."""
    if len(causes) == 1:
        like = f", like {causes[0].count:,} others or so" if causes[0].count > 1 else ""
        yield f"Left out: {causes[0].words} ({causes[0].reason}{like})."
    elif causes:
        yield "It was left out for one of these reasons, with how often each came up:"
        for cause in causes:
            yield f"  {cause.words} ({cause.reason}{f', {cause.count:,}' if cause.count else ''})"


def _fetched(found: UrlStatus, visit: Visit) -> Iterable[str | Table]:
    yield f"Fetched: number {found.number:,} of {found.fetches:,} fetches."
    stored = f"; the page itself is {PAGES}/{page_path(visit.md5)}" if visit.md5 else ""
    yield f"It is line {found.number} of history.jsonl{stored}."
    agent = visit.signs.get(AGENT)
    by = "" if agent is None else f", by agent {agent:.0f}"
    if visit.parent or visit.score < _NO_SCORE:
        summed = ", the sum of" if visit.parts else ""
        yield f"Score {visit.score:.4g}{by}{summed}{'' if visit.parent else ' (a seed)'}"
    else:
        yield "A seed, and so before all links."
    if visit.parts:
        yield _parts(visit.parts)
    yield from _origin(visit.parent, visit.anchor, visit.context_score, visit.depth)
    yield f"It turned out to be {_outcome(visit)}."
    yield from _company(found, visit)


def _outcome(visit: Visit) -> str:
    if visit.redirect:
        return f"a redirect to {visit.redirect}"
    if visit.error and not visit.title:
        return f"no page: {visit.error}"
    title = f"“{visit.title}”, " if visit.title else ""
    kept = "" if visit.md5 else f", not stored ({visit.error})"
    return f"{title}of relevance {visit.relevance:.3f}, with {counted(visit.links, 'link')}{kept}"


def _company(found: UrlStatus, visit: Visit) -> Iterable[str]:
    """Copies, and what is odd about the page or its host."""
    if visit.duplicate_of:
        yield f"Its text is that of {visit.duplicate_of}, so its links were not followed again."
    if found.copy_count:
        have = "page has" if found.copy_count == 1 else "pages have"
        yield f"{found.copy_count:,} {have} its text, too: {', '.join(found.copies)}"
    if visit.spam:
        yield f"It looks like spam to a degree of {visit.spam:.2f}."
    if CLIQUE in visit.signs:
        suspects = visit.signs.get(SUSPECTS, 0.0)
        yield (
            f"Its site keeps the company of a link farm, to a degree of {visit.signs[CLIQUE]:.2f}: "
            f"{suspects:.0f} of the sites that it linked to of late look like spam or are farms themselves."
        )
    signs = {name: value for name, value in visit.signs.items() if name not in (AGENT, CRAWL_DELAY, RETRY_AFTER)}
    if signs:
        yield "Signs: " + ", ".join(f"{name} {value:.3g}" for name, value in sorted(signs.items()))
    if CRAWL_DELAY in visit.signs:
        yield f"Its host asks for {visit.signs[CRAWL_DELAY]:g} s between visits (Crawl-delay)."
    if RETRY_AFTER in visit.signs:
        yield f"The reply asked to be left alone for {visit.signs[RETRY_AFTER]:g} s (Retry-After)."


def _waits(standing: FrontierStatus, record: CrawlUrl) -> Iterable[str]:
    if standing.leased:
        yield f"Being fetched, or was when the crawl was killed; its score is {record.score:.4g}."
    else:
        yield f"Waits with score {record.score:.4g}: {standing.ahead:,} of {standing.waiting:,} waiting URLs come before it."
    if standing.held:
        yield f"It is not to be fetched for another {standing.held:.0f} s."
    elif standing.rests:
        yield f"Its host is left alone for another {standing.rests:.0f} s."
    yield from _origin(record.parent, record.anchor, record.context_score, record.depth)


def _origin(parent: str | None, anchor: str, context_score: float, depth: int) -> Iterable[str]:
    if parent:
        yield f"Found on {parent}"
        yield f"as {_quoted(anchor)}; its context has similarity {context_score:.3f} to the keywords, depth {depth}."


def _unlisted(found: UrlStatus) -> Iterable[str]:
    if found.unlisted:
        reasons = ", ".join(f"{refusal.reason} ({refusal.count:,})" for refusal in found.unlisted)
        yield f"It may be among the refused links that are counted without a sample: {reasons}."


def _parts(parts: Mapping[str, float]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for name, value in sorted(parts.items(), key=lambda part: -part[1]):
        table.add_row(f"{value:10.4g}", Text(name))
    return table


def _way(path: Sequence[Step]) -> Table:
    table = Table.grid(padding=(0, 2))
    for justify in ("right", "right", "left", "left"):
        table.add_column(justify=justify, no_wrap=justify == "right", overflow="fold")
    for number, step in enumerate(path):
        name = "seed" if step.parent is None else str(number)
        table.add_row(name, f"{step.relevance:.3f}", Text(step.url), Text(_quoted(step.anchor) if step.parent else ""))
    return table


def _sources(links: Sequence[LinkTo]) -> Table:
    table = Table.grid(padding=(0, 2))
    for justify in ("right", "left", "left"):
        table.add_column(justify=justify, no_wrap=justify == "right", overflow="fold")
    for link in links:
        table.add_row(f"{link.context_score:.3f}", Text(link.source), Text(_quoted(link.anchor)))
    return table


def _quoted(anchor: str) -> str:
    return f"“{anchor[:80]}”" if anchor else "a link without text"
