"""``scrapy serve WEB [--port P] [--latency on|off] [--log FILE]``: serves a virtual web as an HTTP proxy."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, cache_dir, reporting_errors
from crawlproject.configuration import program
from crawlproject.errors import BadInput
from crawlproject.storage.crawl_files import refuse_crawl_file
from crawlproject.webs.open import open_web

if TYPE_CHECKING:
    from crawlproject.http.virtual_web_server import AccessLog, WebServer

_SECURE = (
    "its https pages are served at the same URLs with http, but links to https are not followed through a proxy; "
    "-s VIRTUAL_WEB fetches all as they are"
)


class ServeCommand(Subcommand):
    """Serve a virtual web on loopback as an HTTP proxy until interrupted."""

    requires_project = True
    usage = "WEB [--port P] [--latency on|off] [--log FILE]"
    summary = "Serve a virtual web on loopback as an HTTP proxy"
    description = (
        "WEB is a WARC file, a folder of <host>/<path> files, a crawl folder, or `sample`. "
        "Crawl it with the environment variable http_proxy set to the address that is printed."
    )
    examples = ("serve sample --port 8080",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--port", type=int, default=8998, help="port on 127.0.0.1, 0 for any free one (default: 8998)"
        )
        parser.add_argument(
            "--latency",
            choices=("on", "off"),
            default="off",
            help="delay replies by the latencies of the web (default: off)",
        )
        parser.add_argument(
            "--log",
            dest="access_log",
            type=Path,
            metavar="FILE",
            help="append a line of JSON per request: start, end, host, url, method, status, agent, bytes",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one web", print_help=False)
        # aiohttp is slow to import, and Scrapy imports all commands at every start.
        from crawlproject.http.virtual_web_server import WebServer

        with reporting_errors(self), closing(open_web(args[0], cache_dir=cache_dir())) as web:
            for warning in web.warnings:
                print(f"{program}: web {args[0]}: {warning}", file=sys.stderr)
            if any(url.startswith("https://") for url in web.urls()):
                print(f"{program}: web {args[0]}: {_SECURE}", file=sys.stderr)
            with _access_log(opts.access_log) as log:
                server = WebServer(web, opts.port, latency=opts.latency == "on", log=log)
                asyncio.run(_serve(server, args[0]))


async def _serve(server: WebServer, name: str) -> None:
    """Serve until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        await server.start()
    except (OSError, OverflowError) as refused:
        raise BadInput(f"port {server.port}", f"cannot listen there: {refused}") from None
    print(f"serving {name} on {server.url}", flush=True)
    await stop.wait()
    await server.stop()


def _access_log(path: Path | None) -> AccessLog | nullcontext[None]:
    if path is None:
        return nullcontext()
    from crawlproject.http.virtual_web_server import AccessLog

    refuse_crawl_file(path)
    try:
        return AccessLog(path)
    except OSError as refused:
        raise BadInput(f"log file {str(path)!r}", f"cannot be written: {refused.strerror}") from None
