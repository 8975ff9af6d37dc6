"""``scrapy pull ADDRESS CRAWL_DIR``: copies a crawl from remote storage, so that it can be resumed here."""

from __future__ import annotations

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors, require_part


class PullCommand(Subcommand):
    usage = "ADDRESS CRAWL_DIR"
    summary = "Copy a crawl from S3 or other remote storage"
    description = (
        "Copy the crawl that CRAWL_MIRROR or push has sent to ADDRESS, with its pages and archives, into the new folder "
        "CRAWL_DIR, where it can be resumed. Reading a crawl needs no copy: report, why, search and export take the "
        "address. An interrupted pull resumes. Exit code 2: the folder or the address is wrong, or the server refuses; 3: "
        "disk or network failed, try again."
    )
    examples = ("pull s3://my-bucket/reefs crawls/reefs",)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("expected an address such as s3://bucket/folder and a new folder", print_help=False)
        require_part("mirror")
        from crawlproject.parts.mirror.view import pull

        with reporting_errors(self):
            pull(args[0], Path(args[1]))
            print(f"the crawl is in {args[1]}")
