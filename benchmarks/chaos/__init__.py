"""Crawls that meet disasters, each resumed, and each compared with its web: what was lost, fetched twice, and said?

    python -m benchmarks.chaos [--seed 1] [--runs 500] [--jobs 2] [--kinds kill flip] [--frontiers memory disk] [--keep FOLDER]

A run has a seed of its own: the first has ``--seed``, and each next one the next number. It says which disaster, which
frontier, which web of 60 to 200 pages, and when. ``--seed N --runs 1`` repeats a run alone, but for the timing of its processes.

- ``lost``: pages that an uninterrupted crawl stores, and that history, items or page files lack in the end.
- ``again``: fetches that ``docs/crawl-folder.md`` permits, such as those in flight at a kill; ``twice``: beyond that.
- ``silent``: runs that lost something, or fetched it again because of damage, without a word in the log.
- ``impolite``: requests sooner than the rest of their host allows, by the log of the server.
- ``failed``: runs that no resume has ended, even when told advice was followed, or that showed a traceback.
"""
