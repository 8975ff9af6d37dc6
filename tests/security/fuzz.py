"""``python tests/security/fuzz.py [--seconds N] [TARGET ...]``: fuzz each reader for N seconds (default 60).

One line a target: name, inputs tried, seconds by the clock and of CPU, the dearest input in CPU seconds, crashes. A crash is
printed, with its input as small as Hypothesis can make it, or as it was when it was a mutant. Exit code 1 when there was one,
or when an input cost more than ``DEAR``.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path
from random import Random
from time import monotonic, process_time

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from hypothesis import HealthCheck, given, seed, settings  # noqa: E402
from support.fuzzing import TARGETS  # noqa: E402
from support.havoc import mutated  # noqa: E402

DEAR = 5.0  # CPU seconds for one input of a few hundred bytes: quadratic at least
ROUND = 500  # inputs that Hypothesis makes between two looks at the clock
MUTANTS = 20 * ROUND  # that are made of these
MOST = 5  # crashes of a target that are shown


class Fuzzing:
    """Tries one target until its time is over."""

    def __init__(self, name: str, seconds: float, start: int) -> None:
        self.target = TARGETS[name]
        self.name = name
        self.tried = self.crashes = 0
        self.dearest = 0.0
        self._random = Random(start)
        self._began, self._used = monotonic(), process_time()
        self._seconds = seconds
        self._seen: list[object] = []

    def run(self) -> bool:
        """Rounds of new inputs and of mutants of these; whether nothing was found."""
        while self._has_time():
            self._seen = self._seen[-ROUND:]
            self._round()
            for _ in range(MUTANTS):
                if not self._has_time():
                    break
                value = mutated(self._random.choice(self._seen), self._seen, self._random)
                try:
                    self._try(value)
                except Exception:
                    self._tell(f"{value!r}")
        passed, used = monotonic() - self._began, process_time() - self._used
        found = f"the dearest {self.dearest:.2f} s, {self.crashes} crashes"
        print(f"{self.name} {self.tried:,} inputs in {passed:.0f} s ({used:.0f} s of CPU), {found}", flush=True)
        return not self.crashes and self.dearest < DEAR

    def _round(self) -> None:
        checks = settings(max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        try:
            seed(self._random.getrandbits(32))(checks(given(self.target.inputs)(self._once)))()
        except Exception:
            self._tell("")

    def _once(self, value: object) -> None:
        if self._has_time():
            self._seen.append(value)
            self._try(value)

    def _try(self, value: object) -> None:
        self.tried += 1
        before = process_time()
        self.target.check(value)
        self.dearest = max(self.dearest, process_time() - before)

    def _tell(self, what: str) -> None:
        self.crashes += 1
        traceback.print_exc()
        print(what, file=sys.stderr)

    def _has_time(self) -> bool:
        return monotonic() - self._began < self._seconds and self.crashes < MOST


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the readers of what strangers write.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} (default: all)")
    chosen = parser.parse_args()
    unknown = set(chosen.targets) - set(TARGETS)
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    passed = [Fuzzing(name, chosen.seconds, chosen.seed).run() for name in chosen.targets or TARGETS]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
