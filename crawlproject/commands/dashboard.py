"""``scrapy dashboard [DIR]``: serves a dashboard to start crawls, watch them, and open earlier ones."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors
from crawlproject.errors import BadInput

# Settings from the command line that are not passed on to the crawls.
_OWN = ("DASHBOARD", "SEARCH_MODEL", "SEED_", "CRAWL_DIR", "LOG_FILE")
# Settings that the dashboard reads itself. The crawls report errors in others.
_READ = (
    "DASHBOARD",
    "SEED_",
    "VIRTUAL_WEB",
    "CRAWL_URL_",
    "CRAWL_ALLOWED_",
    "CRAWL_REFUSED_",
    "PAGE_RELEVANT",
    "SEARCH_MODEL",
)


class DashboardCommand(Subcommand):
    requires_project = True
    usage = "[DIR]"
    summary = "Start, watch and search crawls in the browser"
    description = (
        "Serve a dashboard on loopback that starts crawls from a query and seeds, shows them while they run, and opens "
        "the crawl folders below DIR (default: crawls). Settings given with -s apply to each crawl that it starts. "
        "Ctrl-C ends the dashboard and stops these crawls, which can be resumed. Exit code 2: the port cannot be used."
    )
    examples = ("dashboard", "dashboard crawls -s POLITENESS_MIN_DELAY=2")

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--port", type=int, metavar="P", help="port, 0 for any free one (default: setting DASHBOARD_PORT)"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) > 1:
            raise UsageError("expected at most one folder of crawls", print_help=False)
        with reporting_errors(self):
            root = Path(args[0] if args else "crawls")
            if root.exists() and not root.is_dir():
                raise BadInput(f"folder {str(root)!r}", "expected a folder of crawls")
            asyncio.run(_serve(root, opts.port, self))


async def _serve(root: Path, port: int | None, command: DashboardCommand) -> None:
    """Serve until SIGINT or SIGTERM."""
    from crawlproject.adapters.seed_search import SeedSearch
    from crawlproject.configuration import read_options
    from crawlproject.dashboard.crawls import CrawlManager
    from crawlproject.dashboard.launch import offered_orderings
    from crawlproject.dashboard.server import Dashboard, listen

    options = read_options({name: command.settings[name] for name in command.settings if name.startswith(_READ)})
    host = options.dashboard_host
    listening = listen(host, options.dashboard_port if port is None else port)
    search = SeedSearch(options, str(command.settings["USER_AGENT"]))
    passed_on = {name: value for name, value in command.given.items() if not name.startswith(_OWN)}
    workshop = CrawlManager(root, passed_on, search)
    dashboard = Dashboard(
        workshop,
        listening,
        host,
        orderings=offered_orderings,
        sources=search.sources,
        search_model=options.search_model,
    )
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await dashboard.begin()
    print(f"Dashboard: {dashboard.url}/", flush=True)
    try:
        await stop.wait()
        print("stopping the crawls started here ...", file=sys.stderr, flush=True)
    finally:
        await dashboard.end()
        await workshop.close()
