"""Sub-commands in this process, with the steps that Scrapy takes: parse, settle the options, run."""

from __future__ import annotations

import argparse
import io

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def invoke(command: ScrapyCommand, *arguments: object) -> int:
    """Run ``command`` with ``arguments``; its exit code. Raises ``UsageError``, of which Scrapy makes exit code 2."""
    command.settings = Settings()
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    options, rest = parser.parse_known_args([str(argument) for argument in arguments])
    command.process_options(rest, options)
    command.run(rest, options)
    return command.exitcode
