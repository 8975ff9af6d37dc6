"""``python -m benchmarks.hostile_web [THEME]``: the topic file of a crawl of the hostile web, on standard output."""

from __future__ import annotations

import argparse
import sys

from benchmarks.hostile_web import HostileWeb
from benchmarks.hostile_web.prose import THEMES
from benchmarks.hostile_web.topic import topic_text

parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile_web", description="Write a topic file.")
themes = [theme.key for theme in THEMES]
parser.add_argument(
    "theme", nargs="?", default="coral", choices=themes, help="what the crawl is about (default: coral)"
)
sys.stdout.write(topic_text(HostileWeb(), parser.parse_args().theme))
