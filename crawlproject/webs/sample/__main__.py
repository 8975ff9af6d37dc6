"""``python -m crawlproject.webs.sample FOLDER``: write the topic files of the sample web."""

from __future__ import annotations

import argparse
from pathlib import Path

from crawlproject.webs.sample.demo import write_topics

parser = argparse.ArgumentParser(prog="python -m crawlproject.webs.sample", description="Write its topic files.")
parser.add_argument("folder", type=Path, help="folder for demo.toml and the others")
write_topics(parser.parse_args().folder)
