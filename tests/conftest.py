"""How property tests run: without a deadline, for machines are slow at times; the same examples every time where CI is set."""

import os

from hypothesis import settings

settings.register_profile("everywhere", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "everywhere")
