"""Run sub-commands in this process, in the same steps as Scrapy: parse, process the options, run."""

from __future__ import annotations

import argparse
import io

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def invoke(command: ScrapyCommand, *arguments: object) -> int:
    """Run ``command`` and return its exit code. Raises ``UsageError``, which Scrapy turns into exit code 2."""
    command.settings = Settings()
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    options, rest = parser.parse_known_args([str(argument) for argument in arguments])
    command.process_options(rest, options)
    command.run(rest, options)
    return command.exitcode
