"""Run a command and note what it used: ``python usage.py REPORT COMMAND...``; ended by SIGTERM, it kills the command.

This is a small separate process because Linux counts a parent's memory in the peak memory of a process that it starts.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path


def main() -> None:
    report, *command = sys.argv[1:]
    child = subprocess.Popen(command)
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    _, status, used = os.wait4(child.pid, 0)
    found = {
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1024,
        "code": os.waitstatus_to_exitcode(status),
    }
    Path(report).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
