"""The share of each package's lines that the last test run covered; exits with 1 below a floor: ``make coverage``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from coverage import Coverage


def package_of(file: str) -> str:
    """The package of a file: a folder of ``crawlproject/`` or ``crawlproject/parts/``, or another top-level folder."""
    *folders, _ = Path(file).parts
    depth = 3 if folders[1:2] == ["parts"] else 2
    return "/".join(folders[:depth]) or file


def by_package(report: dict[str, dict[str, dict[str, int]]]) -> dict[str, tuple[int, int]]:
    """Covered lines and all lines of each package, from ``files`` of a JSON coverage report."""
    run, lines = Counter[str](), Counter[str]()
    for file, measured in report.items():
        run[package_of(file)] += measured["summary"]["covered_lines"]
        lines[package_of(file)] += measured["summary"]["num_statements"]
    return {package: (run[package], lines[package]) for package in sorted(lines) if lines[package]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floor", type=float, default=0, metavar="P", help="the least share of all lines, in percent")
    opts = parser.parse_args()
    coverage = Coverage()
    coverage.load()
    with tempfile.TemporaryDirectory() as folder:
        coverage.json_report(outfile=f"{folder}/report.json")
        packages = by_package(json.loads(Path(folder, "report.json").read_text())["files"])
    total = tuple(map(sum, zip(*packages.values(), strict=True)))
    for package, (run, lines) in {**packages, "all": total}.items():
        print(f"{100 * run / lines:6.1f} % of {lines:6,} lines  {package}")
    share = 100 * total[0] / total[1]
    if share < opts.floor:
        print(f"below the floor of {opts.floor:g} %", file=sys.stderr)
    return int(share < opts.floor)


if __name__ == "__main__":
    sys.exit(main())
