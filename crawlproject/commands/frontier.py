"""``scrapy frontier stats|hosts|peek|why|drain|clear PLACE``: inspects or removes a frontier, or drains a worker."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import BAD_INPUT, Subcommand, reporting_errors
from crawlproject.configuration import program
from crawlproject.pages.text.printable import counted
from crawlproject.reports.why.text import later

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlproject.frontier.views.open import FrontierPlace
    from crawlproject.frontier.views.view import HostRow, QueuePosition
    from crawlproject.records import CrawlUrl

_ACTIONS = {"stats": 1, "hosts": 1, "peek": 1, "why": 2, "drain": 2, "clear": 1}  # number of arguments of each action
_SHOWN = 20  # rows
BLOCKED = "it refused the crawler, or does not answer"


class FrontierCommand(Subcommand):
    usage = "stats|hosts|peek|clear PLACE  or  why PLACE URL  or  drain PLACE WORKER"
    summary = "Inspect a frontier, or remove it"
    description = (
        "PLACE is a crawl folder, the JOBDIR of a crawl with the add-on, or redis://host:port/db/crawl. stats: the "
        "number of URLs waiting, in process and done. hosts: the hosts, and when each may be visited. peek: the best "
        "waiting URLs. why: the state of URL, and how many URLs come before it. drain (in "
        "Redis): make WORKER hand over its hosts to the others, and end. clear: remove the frontier, after a confirmation. The "
        "other actions are read-only and work while the crawl runs. Exit code 1: clear was not confirmed; 2: no "
        "frontier, no such worker, or the frontier is in use; 3: Redis does not answer."
    )
    examples = ("frontier hosts crawls/reefs", "frontier why crawls/reefs http://www.lagoon-notes.example/")

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
        parser.add_argument(
            "--top", type=int, default=_SHOWN, metavar="N", help=f"hosts or URLs to show (default: {_SHOWN})"
        )
        parser.add_argument("--host", metavar="HOST", help="peek: show URLs of this host only")
        parser.add_argument("--yes", action="store_true", help="clear: do not ask for confirmation")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or len(args) - 1 != _ACTIONS.get(args[0]):
            raise UsageError(
                "expected stats, hosts, peek, clear, why or drain, then a place, for why a URL, for drain a worker",
                print_help=False,
            )
        if opts.top < 1:
            raise UsageError("--top must be at least 1", print_help=False)
        from crawlproject.frontier.views.open import find_place

        with reporting_errors(self):
            place = find_place(args[1])
            if args[0] == "clear":
                self.exitcode = _clear(place, opts.yes)
            elif args[0] == "drain":
                self.exitcode = _drain(place, args[2])
            elif args[0] == "stats":
                _stats(place, opts.json)
            elif args[0] == "hosts":
                _hosts(place, opts.top, opts.json)
            elif args[0] == "peek":
                _peek(place, opts.top, opts.host, opts.json)
            else:
                _why(place, _keys(args[2], Path(args[1])), args[2], Path(args[1]), opts.json)


# ------------------------------------------------------------ the actions


def _stats(place: FrontierPlace, as_json: bool) -> None:
    counts = place.view.counts()
    now = time()
    waits = [until - now for until in place.view.rests().values() if until > now]
    blocked = sum(until > now for until in place.view.blocks().values())
    found = {
        "frontier": place.title,
        "kind": place.view.kind,
        "in_use_by": place.holder,
        **counts._asdict(),
        "hosts_resting": len(waits),
        "longest_rest_seconds": round(max(waits, default=0.0), 3),
        "hosts_blocked": blocked,
        "hosts_with_crawl_delay": len(place.view.crawl_delays()),
    }
    if as_json:
        _print_json(found)
        return
    _print_table(
        ["", ""],
        [
            ("frontier", place.title),
            ("kind", place.view.kind),
            ("in use by", place.holder or "nobody"),
            ("waiting", f"{counted(counts.waiting, 'URL')} on {counted(counts.hosts, 'host')}"),
            ("leased", f"{counted(counts.leased, 'URL')} being fetched (or were, when the crawl was killed)"),
            ("done", f"{counted(counts.done, 'URL')}"),
            ("evicted", f"{counted(counts.evicted, 'URL')} dropped because the frontier was full"),
            ("resting", f"{counted(len(waits), 'host')}" + (f", at most {max(waits):.1f} s more" if waits else "")),
            ("blocked", f"{counted(blocked, 'host')} that refused the crawler, or do not answer"),
            ("Crawl-delay", f"asked for by {counted(len(place.view.crawl_delays()), 'host')}"),
        ],
    )


def _hosts(place: FrontierPlace, top: int, as_json: bool) -> None:
    from crawlproject.frontier.views.view import host_rows

    rows = host_rows(place.view, time())
    if as_json:
        _print_json([asdict(row) for row in rows[:top]])
        return
    _print_table(
        ["host", "waiting", "best score", "now", "Crawl-delay"],
        [
            (
                row.host,
                f"{row.waiting:,}",
                "" if row.best is None else f"{row.best:.4g}",
                _now(row),
                f"{row.crawl_delay:g} s" if row.crawl_delay else "",
            )
            for row in rows[:top]
        ],
        right=(1, 2, 4),
    )
    _print_rest(len(rows) - top, "hosts")


def _now(row: HostRow) -> str:
    if row.leased:
        return "is being fetched"
    if row.blocked > row.rests:
        return f"blocked for {row.blocked:.1f} s"
    return f"waits {row.rests:.1f} s" if row.rests else "ready"


def _peek(place: FrontierPlace, top: int, host: str | None, as_json: bool) -> None:
    from crawlproject.frontier.views.view import best_waiting

    best = best_waiting(place.view, top, host)
    if as_json:
        _print_json([_record(record) for record in best])
        return
    if host is not None and not best:
        print(f"No URL of {host} waits.")
        return
    _print_table(
        ["score", "depth", "URL", "found on"],
        [(f"{record.score:.4g}", str(record.depth), _shown(record), record.parent or "") for record in best],
        right=(0, 1),
    )
    if host is None:
        _print_rest(place.view.counts().waiting - top, "URLs")


def _why(place: FrontierPlace, keys: Sequence[str], asked: str, folder: Path, as_json: bool) -> None:
    from crawlproject.frontier.views.view import place_of
    from crawlproject.reports.why.asked import why_waits
    from crawlproject.storage.read import MANIFEST

    now = time()
    known = next((key for key in keys if place.view.find(key)[0]), keys[0])
    found = place_of(place.view, known, now)
    waits = found.state == "waiting" and (folder / MANIFEST).exists()
    why = why_waits(folder, found.host.host, now) if waits else ""
    if as_json:
        record = _record(found.record) if found.record else None
        _print_json({**asdict(found), "record": record, "state": found.state or "unknown", "why_waits": why})
        return
    print(_shown(found.record) if found.record else asked)
    print("\n".join(_sentences(found, why)))


def _keys(asked: str, folder: Path) -> list[str]:
    """The keys that a URL may have in a frontier: as given, canonical, and as a GET request of another spider.

    If ``folder`` is a crawl folder, its settings determine the canonical form.
    """
    from scrapy import Request
    from scrapy.utils.request import fingerprint

    from crawlproject.adapters.explanation import canonicalizer_of
    from crawlproject.storage.read import MANIFEST
    from crawlproject.urls.canonical import canonical_or_none, canonical_url

    keys = [asked]
    canonicalize = canonicalizer_of(folder) if (folder / MANIFEST).exists() else canonical_url
    canonical = canonical_or_none(canonicalize, asked)
    if canonical is not None:
        keys += [canonical, f"{canonical}#{fingerprint(Request(asked)).hex()}"]
    return keys


def _clear(place: FrontierPlace, sure: bool) -> int:
    """Remove the frontier and return the exit code."""
    counts = place.view.counts()
    if place.holder:
        print(f"{program}: {place.title}: in use by {place.holder}; stop it first", file=sys.stderr)
        return BAD_INPUT
    question = (
        f"Remove the frontier in {place.title}: {counts.waiting:,} waiting and {counts.done:,} finished URLs? [y/N] "
    )
    if not sure and not _agreed(question):
        print(f"{program}: nothing was removed", file=sys.stderr)
        return 1
    place.clear()
    print(f"Removed {counts.waiting + counts.leased:,} waiting and {counts.done:,} finished URLs.")
    return 0


def _drain(place: FrontierPlace, worker: str) -> int:
    """Make a worker hand over its hosts and end; return the exit code."""
    from crawlproject.frontier.views.view import DrainingView

    if not isinstance(place.view, DrainingView):
        print(
            f"{program}: {place.title}: expected redis://host:port/db/crawl, which reaches the workers", file=sys.stderr
        )
        return BAD_INPUT
    if not place.view.drain(worker):
        print(f"{program}: {place.title}: there is no worker {worker!r}, or it is already leaving", file=sys.stderr)
        return BAD_INPUT
    print(f"{worker} gives its hosts to the other workers, and ends.")
    return 0


def _agreed(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False


# ------------------------------------------------------------ output


def _sentences(found: QueuePosition, why_waits: str) -> Iterable[str]:
    row = found.host
    if found.state == "":
        yield "Unknown: it was never added, or the full frontier dropped it."
        return
    if found.state == "done":
        yield "Done: it was fetched or refused, and has left the frontier."
        return
    assert found.record is not None, "a waiting or leased URL has a record"
    link = f"depth {found.record.depth}" + (f", found on {found.record.parent}" if found.record.parent else "")
    if found.state == "leased":
        yield f"Being fetched (or was, when the crawl was killed), with score {found.record.score:.4g}, {link}."
        return
    yield f"Waits with score {found.record.score:.4g}, {link}."
    yield f"{found.ahead:,} waiting URLs come before it, {found.ahead_on_host:,} of them on its host {row.host}."
    yield from later(found.record.precedence)
    if found.held:
        yield f"It is held for another {found.held:.1f} s."
    if row.blocked:
        yield f"Its host is blocked for another {row.blocked:.1f} s: {why_waits or BLOCKED}."
    elif why_waits:
        yield f"Its host comes later than others: {why_waits}."
    if row.leased:
        yield "Another URL of its host is being fetched."
    elif row.blocked:
        return
    elif row.rests:
        yield f"Its host may be visited in {row.rests:.1f} s."
    else:
        yield "Its host may be visited now."
    if row.crawl_delay:
        yield f"robots.txt of the host asks for {row.crawl_delay:g} s between visits."


def _record(record: CrawlUrl) -> dict[str, Any]:
    place = {"score": record.score, "depth": record.depth, "parent": record.parent}
    return {"url": _spelled(record), "kind": record.kind, **place}


def _shown(record: CrawlUrl) -> str:
    """The URL, and what else than the page it is fetched for, such as a revisit."""
    return f"{_spelled(record)} ({record.kind})" if record.variant and not record.request else _spelled(record)


def _spelled(record: CrawlUrl) -> str:
    """The URL; for a request of another spider, with its method unless that is GET."""
    import orjson

    if not record.request:
        return record.url
    fields = orjson.loads(record.request)
    return fields["url"] if fields["method"] == "GET" else f"{fields['method']} {fields['url']}"


def _print_json(found: object) -> None:
    import orjson

    print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())


def _print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> None:
    from crawlproject.reports.console import print_table

    print_table(headings, rows, sys.stdout, right)


def _print_rest(count: int, what: str) -> None:
    if count > 0:
        print(f"... and {count:,} more {what}")
