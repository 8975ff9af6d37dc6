"""``python tests/security/fuzz.py [--seconds N] [TARGET ...]``: fuzz each reader for N seconds (default 60).

One line a target: name, inputs tried, seconds, the dearest input in CPU seconds, crashes. A crash is printed with its input
made as small as Hypothesis can make it. Exit code 1 when there was one, or when an input cost more than ``DEAR``.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path
from time import monotonic, process_time

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from hypothesis import HealthCheck, given, seed, settings  # noqa: E402
from support.fuzzing import TARGETS  # noqa: E402

DEAR = 5.0  # CPU seconds for one input of a few hundred bytes: quadratic at least
ROUND = 500  # inputs between two looks at the clock


def fuzz(name: str, seconds: float, start: int) -> bool:
    """Try a target for so long; whether nothing was found."""
    target = TARGETS[name]
    tried, crashes, dearest = 0, 0, 0.0
    began = monotonic()

    def once(value: object) -> None:
        nonlocal tried, dearest
        if monotonic() - began > seconds:
            return
        tried += 1
        before = process_time()
        target.check(value)
        dearest = max(dearest, process_time() - before)

    rounds = 0
    while monotonic() - began < seconds and crashes < 5:
        checks = settings(max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        try:
            seed(start + rounds)(checks(given(target.inputs)(once)))()
        except Exception:
            crashes += 1
            traceback.print_exc()
        rounds += 1
    passed = monotonic() - began
    print(f"{name} {tried:,} inputs in {passed:.0f} s, the dearest {dearest:.2f} s, {crashes} crashes", flush=True)
    return not crashes and dearest < DEAR


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the readers of what strangers write.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} (default: all)")
    chosen = parser.parse_args()
    unknown = set(chosen.targets) - set(TARGETS)
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    passed = [fuzz(name, chosen.seconds, chosen.seed) for name in chosen.targets or TARGETS]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
