"""Prints the status of one URL on the terminal; in a pipe, as plain text without colours.

``MEANINGS`` explains the parts of a score; most of them come from ``adaptive`` (``orderings/adaptive/link_features.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

from crawlproject.pages.text.printable import counted
from crawlproject.records import (
    AGENT,
    CLICKED,
    CLIQUE,
    CRAWL_DELAY,
    LISTINGS,
    NEEDS_BROWSER,
    NEW_TEXT,
    NOTHING_NEW,
    NOVELTY,
    REDUNDANT,
    RENDERED,
    REPETITIVE,
    RETRY_AFTER,
    SUSPECTS,
    UNFOLLOWED,
    UNINFORMATIVE,
    CrawlUrl,
    Visit,
)
from crawlproject.reports.console import console_for
from crawlproject.reports.why.lookup import Cause, FrontierStatus, LinkTo, PathStep, UrlStatus
from crawlproject.storage.logs import SHOWN
from crawlproject.urls.hosts import page_path
from crawlproject.urls.post import post_of

PAGES = "pages"
MEANINGS = {  # of the parts of a score
    "anchor": "keywords in the text of the link",
    "around": "keywords around the link",
    "words": "keywords in the URL",
    "anchor feedback": "words of the best pages in the text of the link",
    "words feedback": "words of the best pages in the URL",
    "best parent": "the best page that links here",
    "mean parent": "the mean of the pages that link here",
    "parents": "all pages that link here together",
    "host": "what was found on its host",
    "folder": "what was found in its folder of that host",
    "place": "what links at the same place of pages of the same site led to",
    "family": "what other links of the same page led to",
    "always": "the same for every link",
    "behind": "what is expected of the pages that it links to",
    "seed": "a seed links to its host, of which no page was fetched yet",
    "exploration": "raised, because little is known of its kind",
    "learned since": "what was learned after it had got this score",
}

_CLASSES = {UNINFORMATIVE: "uninformative", REPETITIVE: "repetitive", REDUNDANT: "redundant"}
_NO_SCORE = 1e15  # higher scores only mean that seeds come first
_GAP = "  "


def print_url_status(found: UrlStatus, stream: TextIO, causes: Sequence[Cause] = (), known: Sequence[str] = ()) -> None:
    """Print the status of the URL with its reasons, and then the path that led to it.

    ``causes``: why it was left out, if it was. ``known``: sentences of the parts about the URL.
    """
    console = console_for(stream)
    console.print(Text(found.url, style="bold"), soft_wrap=True)
    for line in (*_sentences(found, causes), *known):
        console.print(Text(line) if isinstance(line, str) else line, soft_wrap=True)
    if found.path:
        console.print()
        console.print(Text("Path from the seed, with the relevance of each page:", style="bold"))
        console.print(_path_rows(found.path), soft_wrap=True)


def _sentences(found: UrlStatus, causes: Sequence[Cause]) -> Iterable[str | Table | LinkRows]:
    frontier = found.frontier
    if found.visit:
        yield from _fetched(found, found.visit)
    elif frontier and frontier.record:
        yield from _waiting(frontier, frontier.record)
    elif found.refused:
        for refusal in found.refused:
            parent = dict(refusal.samples)[found.url[:SHOWN]]
            yield f"Refused ({refusal.reason}): {_meaning(refusal.reason) or 'nothing more is known'}."
            if refusal.count > 1:
                yield f"The crawl refused {refusal.count:,} links for this reason."
            yield f"Found on {parent}" if parent else "It is a seed, or a spider requested it."
    elif frontier:
        yield "Left the frontier without a fetch: it was refused when its turn came."
        yield from _left_out(causes)
        yield from () if causes else _unlisted(found)
    elif found.link_count:
        count = counted(found.link_count, "link")
        yield f"Neither fetched nor waiting, although fetched pages have {count} to it."
        yield from _left_out(causes)
        yield from () if causes else _unlisted(found)
    elif causes:
        yield "It is a seed, and was not fetched."
        yield from _left_out(causes)
    else:
        yield "Never seen: no fetched page links to it."
    for source in found.redirects:
        yield f"{source} redirected to it."
    if found.links:
        yield "Links to it, with the similarity of each context to the keywords:"
        yield _link_rows(found.links)


def _left_out(causes: Sequence[Cause]) -> Iterable[str]:
    """Yield why a URL was left out. Of several causes, the crawl folder does not record which one applied."""
    if len(causes) == 1:
        others = f", as about {causes[0].count:,} others" if causes[0].count > 1 else ""
        yield f"Left out: {causes[0].words} ({causes[0].reason}{others})."
    elif causes:
        yield "It was left out for one of these reasons (with the number of URLs left out for each):"
        for cause in causes:
            yield f"  {cause.words} ({cause.reason}{f', {cause.count:,}' if cause.count else ''})"


def _fetched(found: UrlStatus, visit: Visit) -> Iterable[str | Table | LinkRows]:
    yield f"Fetched: number {found.number:,} of {found.fetches:,} fetches."
    stored = f"; the page is stored as {PAGES}/{page_path(visit.md5)}" if visit.md5 else ""
    yield f"It is line {found.number} of history.jsonl{stored}."
    agent = visit.signs.get(AGENT)
    by = "" if agent is None else f", by agent {agent:.0f}"
    if visit.parent or visit.score < _NO_SCORE:
        summed = ", the sum of" if visit.parts else ""
        yield f"Score {visit.score:.4g}{by}{summed}{'' if visit.parent else ' (a seed)'}"
    else:
        yield "It is a seed; seeds come before all links."
    if visit.parts:
        yield _parts_table(visit.parts)
    yield from _origin(visit.parent, visit.anchor, visit.context_score, visit.depth)
    if post := post_of(visit.url):
        yield f"It is the answer of {post.url} to a search form that sends by POST: {post.body}"
    yield f"Result: {_outcome(visit)}."
    yield from _findings(found, visit)


def _outcome(visit: Visit) -> str:
    if visit.redirect:
        return f"a redirect to {visit.redirect}"
    if visit.is_listing:
        return f"a {visit.kind if visit.kind in LISTINGS else 'list'} with {counted(visit.links, 'link')}, and no page"
    if visit.error and not visit.title:
        words = _meaning(visit.error)
        return f"no page: {visit.error}{f' ({words})' if words else ''}"
    title = f"“{visit.title}”, " if visit.title else ""
    kept = "" if visit.md5 else f", not stored ({visit.error})"
    return f"{title}of relevance {visit.relevance:.3f}, with {counted(visit.links, 'link')}{kept}"


def _meaning(reason: str) -> str:
    """Why a link was refused, or a fetch brought no page, in the words of the report; empty if they are unknown."""
    from crawlproject.reports.evidence import meaning  # takes long to import, and only this asks for it

    return meaning(reason)


def _findings(found: UrlStatus, visit: Visit) -> Iterable[str]:
    """Yield sentences about duplicates, and about the signs of the page or its host."""
    if visit.error == NEEDS_BROWSER:
        ran = "brought nothing" if RENDERED in visit.signs else "were not run"
        yield f"Its text is made by scripts, which {ran}: it was not judged, and its links count as those of a mean page."
    if RENDERED in visit.signs:
        yield f"It was rendered in a browser, which costs its site {visit.signs[RENDERED]:g} fetches more."
    if clicks := [gained for name, gained in visit.signs.items() if name.startswith(CLICKED)]:
        yield f"{counted(len(clicks), 'kind')} of its controls clicked there; {sum(clicks):g} brought text or links."
    if UNFOLLOWED in visit.signs:
        links = counted(int(visit.signs[UNFOLLOWED]), "link")
        yield f"{links}, none followed: the page asks for it (nofollow, setting PAGE_OBEY_META_ROBOTS)."
    if visit.replaces:
        yield f"It has the text of {visit.replaces}, in whose place the collection keeps it."
    elif visit.duplicate_of:
        yield f"It is a duplicate of {visit.duplicate_of}, so its links came last."
    if found.replaced_by:
        yield f"The collection keeps a better copy in its place: {found.replaced_by}"
    if found.copy_count:
        yield f"{counted(found.copy_count, 'duplicate')} of it: {', '.join(found.copies)}"
    new = visit.signs.get(NOVELTY, visit.signs.get(NEW_TEXT, 1.0))
    if new < NOTHING_NEW:
        yield (
            f"It said nothing new: {new:.0%} of its text was not yet known from its host. "
            f"After several such pages URLs like it come after all others (classes {', '.join(_CLASSES.values())})."
        )
    if visit.spam:
        yield f"Spam score: {visit.spam:.2f}."
    if CLIQUE in visit.signs:
        suspects = visit.signs.get(SUSPECTS, 0.0)
        yield (
            f"Link-farm score of its site: {visit.signs[CLIQUE]:.2f} "
            f"({suspects:.0f} of the sites it linked to recently look like spam or are link farms themselves)."
        )
    signs = {
        name: value
        for name, value in visit.signs.items()
        if name not in (AGENT, CRAWL_DELAY, RETRY_AFTER) and not name.startswith(CLICKED)
    }
    if signs:
        yield "Signs: " + ", ".join(f"{name} {value:.3g}" for name, value in sorted(signs.items()))
    if CRAWL_DELAY in visit.signs:
        yield f"Its host asks for {visit.signs[CRAWL_DELAY]:g} s between visits (Crawl-delay)."
    if RETRY_AFTER in visit.signs:
        yield f"Its host asked for a pause of {visit.signs[RETRY_AFTER]:g} s (Retry-After)."


def _waiting(frontier: FrontierStatus, record: CrawlUrl) -> Iterable[str]:
    if frontier.leased:
        yield f"Being fetched (or was, when the crawl was killed), with score {record.score:.4g}."
    else:
        yield f"Waits with score {record.score:.4g}: {frontier.ahead:,} of {frontier.waiting:,} waiting URLs come before it."
    yield from later(record.precedence)
    if frontier.held:
        yield f"It is held for another {frontier.held:.0f} s."
    if frontier.blocked:
        reason = f": {frontier.why_waits}" if frontier.why_waits else ""
        yield f"Its host is blocked for another {frontier.blocked:.0f} s{reason}."
    elif frontier.why_waits:
        yield f"Its host comes later than others: {frontier.why_waits}."
    elif frontier.rests:
        yield f"Its host will not be visited for another {frontier.rests:.0f} s."
    yield from _origin(record.parent, record.anchor, record.context_score, record.depth)


def later(precedence: int) -> Iterable[str]:
    """Yield why a URL of this precedence class waits behind others."""
    if UNINFORMATIVE <= precedence <= REDUNDANT:
        yield (
            f"It comes after all others (class {_CLASSES[precedence]}): its like brought nothing new, "
            "a learned rule makes it a copy, or a copy links to it."
        )


def _origin(parent: str | None, anchor: str, context_score: float, depth: int) -> Iterable[str]:
    if parent:
        yield f"Found on {parent}"
        yield f"as {_quoted(anchor)}; similarity of its context to the keywords {context_score:.3f}, depth {depth}."


def _unlisted(found: UrlStatus) -> Iterable[str]:
    if found.unlisted:
        reasons = ", ".join(f"{refusal.reason} ({refusal.count:,})" for refusal in found.unlisted)
        yield f"It may be among the refused links that are counted but not listed: {reasons}."


def _parts_table(parts: Mapping[str, float]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim")
    for name, value in sorted(parts.items(), key=lambda part: -part[1]):
        table.add_row(f"{value:10.4g}", Text(name), Text(MEANINGS.get(name, "")))
    return table


def _path_rows(path: Sequence[PathStep]) -> LinkRows:
    rows = []
    for number, step in enumerate(path):
        name = "seed" if step.parent is None else str(number)
        rows.append((f"{name:>4}  {step.relevance:.3f}", step.url, _quoted(step.anchor) if step.parent else ""))
    return LinkRows(rows)


def _link_rows(links: Sequence[LinkTo]) -> LinkRows:
    return LinkRows([(f"{link.context_score:.3f}", link.source, _quoted(link.anchor)) for link in links])


def _quoted(anchor: str) -> str:
    return f"“{anchor[:80]}”" if anchor else "a link without text"


@dataclass(frozen=True, slots=True)
class LinkRows:
    """Rows of three texts: what precedes the URL, all of the same width; the URL; the anchor of the link, or nothing.

    Anchors are printed beside the URLs if all rows fit into the terminal, otherwise each below its URL.
    """

    rows: Sequence[tuple[str, str, str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        widest = max((cell_len(url) for _, url, _ in self.rows), default=0)
        beside = [f"{lead}{_GAP}{url}{' ' * (widest - cell_len(url))}{_GAP}{words}" for lead, url, words in self.rows]
        if all(cell_len(line.rstrip()) <= console.width for line in beside):
            yield from (Text(line.rstrip()) for line in beside)
            return
        for lead, url, words in self.rows:
            yield Text(f"{lead}{_GAP}{url}")
            if words:
                yield Text(f"{' ' * len(lead)}{_GAP}{words}")
