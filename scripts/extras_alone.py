"""Installs each extra alone, and runs the commands that need it: ``python -m scripts.extras_alone WHEEL [EXTRA ...]``.

With its extra a command succeeds; without any extra it names one that it needs. Packages come from uv's configured sources.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

CRAWL = ("crawl", "demo", "-s", "VIRTUAL_WEB=sample", "-s", "CRAWL_MAX_PAGES=10", "-s", "POLITENESS_MIN_DELAY=0", "-s")
FRAMES = """
from crawlproject import open_crawl
from crawlproject.errors import MissingExtra
try:
    pages = open_crawl("done").pages()
    print(len(pages.to_pandas()), len(pages.to_polars()))
except MissingExtra as missing:
    raise SystemExit(f"{missing}")
"""
SEED, OTHER = '["http://www.lagoon-notes.example/"]', '["http://www.nacre-divers.example/"]'
TOPICS = {
    "french.toml": f'keywords = ["récif de corail"]\nseeds = {SEED}\nlanguage = "fr"\n',
    "examples.toml": f'keywords = ["coral reef"]\nseeds = {SEED}\n[examples]\npositive = {SEED}\nnegative = {OTHER}\n',
}
NEEDS = {  # in a folder with the crawl ``done``
    "search": [("index", "done"), ("search", "done", "the")],
    "export": [
        ("export", "done", "--to", "parquet", "pages.parquet"),
        ("export", "done", "--to", "wacz", "pages.wacz"),
    ],
    "frames": [("-c", FRAMES)],
    "content": [("export", "done", "--to", "markdown", "markdown"), (*CRAWL, "PAGE_MAIN_TEXT=True")],
    "documents": [(*CRAWL, "PAGE_CONTENT_TYPES=html,pdf,docx")],
    "warc": [("rehearse", "pages.warc.gz", "demo", "--ordering", "breadth_first", "--pages", "5")],
    "map": [("map", "done", "--out", "map.png")],
    "learn": [(*CRAWL, "ORDERING=pagerank"), (CRAWL[0], "examples.toml", *CRAWL[2:], "ORDERING=focused")],
    "nlp": [(CRAWL[0], "french.toml", *CRAWL[2:], "CRAWL_DIR=french")],
    "redis": [(*CRAWL, "FRONTIER=redis", "-s", "REDIS_URL=unix://SOCKET")],
    "metrics": [(*CRAWL, "CRAWL_METRICS_FILE=metrics.txt")],
    "mcp": [("index", "done"), ("mcp", "done"), ("export", "done", "--to", "markdown", "markdown")],
    "remote": [("export", "done", "--to", "jsonl", "memory://pages.jsonl")],
}


class Place:
    """A virtual environment with one choice of extras, and its own folder."""

    def __init__(self, folder: Path, wheel: Path, extra: str = "") -> None:
        began = monotonic()
        self.home, self._bin = folder / "home", folder / "venv" / "bin"
        subprocess.run(["uv", "venv", "--quiet", str(folder / "venv")], check=True)
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        subprocess.run(["uv", "pip", "install", "--quiet", "--python", str(folder / "venv"), wanted], check=True)
        self.home.mkdir()
        self.seconds = monotonic() - began

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        program = [self._bin / "python"] if words[0] == "-c" else [self._bin / "topical"]
        command = list(map(str, [*program, *words]))
        return subprocess.run(command, cwd=self.home, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def megabytes(self) -> int:
        return sum(path.lstat().st_size for path in self._bin.parent.rglob("*")) >> 20

    def packages(self) -> int:
        return sum(1 for _ in self._bin.parent.glob("lib/*/site-packages/*.dist-info"))


def main(wheel: Path, *chosen: str) -> int:
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder, RedisSocket(Path(folder)) as socket:
        plain = Place(Path(folder, "plain"), wheel)
        print(
            f"{'default':10} {plain.packages():4} packages {plain.megabytes():4} MB {plain.seconds:5.1f} s", flush=True
        )
        for words in ((*CRAWL, "CRAWL_DIR=done"), ("export", "done", "--to", "warc", "pages.warc.gz")):
            done = plain.run(*words)
            assert done.returncode == 0, done.stderr
        for name, text in TOPICS.items():
            (plain.home / name).write_text(text)
        for extra in chosen or NEEDS:
            place = Place(Path(folder, extra), wheel, extra)
            shutil.copytree(plain.home, place.home, dirs_exist_ok=True)
            told = []
            for command in NEEDS[extra]:
                words = [word.replace("SOCKET", str(socket)) for word in command]
                without, done = plain.run(*words), place.run(*words)
                named = re.search(r'pip install "topical-crawler\[(\w+)\]"', without.stderr)
                if without.returncode == 0 or named is None:
                    faults.append(f"default: {words}: {without.returncode}\n{without.stderr[-800:]}")
                if done.returncode:
                    faults.append(f"{extra}: {words}: {done.returncode}\n{done.stderr[-1500:]}")
                told.append(f"{'failed' if done.returncode else 'works'} ({named and named[1]})")
            shape = f"{place.packages():4} packages {place.megabytes():4} MB {place.seconds:5.1f} s"
            print(f"{extra:10} {shape}  {', '.join(told)}", flush=True)
            shutil.rmtree(Path(folder, extra))
    print(*faults, sep="\n")
    return 1 if faults else 0


class RedisSocket:
    """A Redis server that listens on a socket in the folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "redis.sock"

    def __enter__(self) -> Path:
        command = ["redis-server", "--port", "0", "--unixsocket", str(self.path), "--save", "", "--daemonize", "no"]
        self._process = subprocess.Popen(command, cwd=self.path.parent, stdout=subprocess.DEVNULL)
        return self.path

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()


if __name__ == "__main__":
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    sys.exit(main(Path(sys.argv[1]).resolve(), *sys.argv[2:]))
