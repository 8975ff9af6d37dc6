"""A crawl folder as something else: tables, a graph, an archive, documents of a search server.

Everything streams: what is held in memory does not grow with the text of the pages. A file appears under its name when it
is whole.
"""
