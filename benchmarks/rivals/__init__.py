"""Other crawlers, each a module for the interpreter where that crawler is installed: ``python -m MODULE JOB``.

JOB is a JSON file with ``seeds``, ``keywords``, ``proxy`` (the only way out), ``folder`` (for files) and ``log``: a line
``{"url": ...}`` is appended there for each page that has been processed. A rival crawls until it is killed or has nothing
left to fetch. These modules import nothing of the project but ``joblog``, which needs the standard library only.
"""
