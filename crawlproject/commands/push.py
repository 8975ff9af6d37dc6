"""``scrapy push CRAWL_DIR ADDRESS``: copies a crawl folder, or the files that are still missing, to remote storage."""

from __future__ import annotations

import argparse
from pathlib import Path

import orjson
from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors, require_part
from crawlproject.errors import BadCrawlDir
from crawlproject.exporting.selection import require_crawl
from crawlproject.pages.text.printable import counted
from crawlproject.storage.crawl_files import holder_of


class PushCommand(Subcommand):
    usage = "CRAWL_DIR ADDRESS"
    summary = "Copy a crawl to S3 or other remote storage"
    description = (
        "Send the pages, logs and archives of a crawl folder that are not yet at ADDRESS, such as s3://bucket/folder. "
        "What CRAWL_MIRROR has sent is not sent again, and an interrupted push resumes. "
        "Exit code 2: the folder or the address is wrong, or the server refuses; 3: disk or network failed, try again."
    )
    examples = ("push crawls/reefs s3://my-bucket/reefs",)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("expected a crawl folder and an address such as s3://bucket/folder", print_help=False)
        require_part("mirror")
        from crawlproject.parts.mirror.mirror import Mirror
        from crawlproject.storage.remote import Remote

        with reporting_errors(self):
            folder = Path(args[0])
            manifest = require_crawl(folder)
            if holder := holder_of(folder):
                wish = f"in use by process {holder}; wait until it has ended. CRAWL_MIRROR copies a running crawl"
                raise BadCrawlDir(str(folder), wish)
            mirror = Mirror(folder, Remote(args[1]))
            mirror.claim(orjson.loads(orjson.dumps(manifest)))
            mirror.update(over=True)
            print(f"{counted(mirror.files, 'file')}, {mirror.bytes / 1e6:,.1f} MB sent; the crawl is at {args[1]}")
