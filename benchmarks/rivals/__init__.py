"""Other crawlers, each a module for the interpreter where that crawler is installed: ``python -m MODULE JOB``.

JOB is a JSON file with ``seeds``, ``keywords``, ``proxy`` (the only way out), ``folder`` (for files) and ``log``: a line
``{"url": ...}`` is appended there for each page that has been processed. A rival crawls until it is killed or has nothing
left to fetch. With ``pages`` and ``report`` in its job, some stop after that many and write what they used. These modules import
nothing of the project but ``joblog`` and ``stopwatch``, which need the standard library only.
"""
