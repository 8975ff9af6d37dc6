"""Crawls that meet disasters, are resumed, and are compared with their web: what was lost, fetched twice, and reported?

    python -m benchmarks.chaos [--seed 1] [--runs 500] [--jobs 2] [--kinds kill flip] [--frontiers memory disk] [--keep FOLDER]

Each run has its own seed: the first has ``--seed``, and each further run the next number. The seed determines the disaster, the
frontier, the web of 60 to 200 pages, and the moment. ``--seed N --runs 1`` repeats a single run, except for process timing.

- ``lost``: pages that an uninterrupted crawl stores, and that are missing from history, items or page files in the end.
- ``again``: fetches that ``docs/crawl-folder.md`` permits, such as those in flight at a kill; ``twice``: all other repetitions.
- ``silent``: runs that lost something, or fetched it again because of damage, without a message in the log.
- ``impolite``: requests sooner than the delay of their host allows, by the log of the server.
- ``failed``: runs that could not be completed by resuming, even by following the printed advice, or that showed a traceback.
"""
