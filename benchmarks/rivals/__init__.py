"""Other crawlers, each a module for the interpreter in which that crawler is installed: ``python -m MODULE JOB``.

JOB is a JSON file with ``seeds``, ``keywords``, ``proxy`` (the only way out), ``folder`` (for files) and ``log``: a line
``{"url": ...}`` is appended there for each page that has been processed. A rival crawls until it is killed or has nothing
left to fetch. With ``pages`` and ``report`` in its job, some stop after that many pages and report their usage. These modules
import only ``joblog`` and ``stopwatch`` from the project, which need the standard library only.
"""
