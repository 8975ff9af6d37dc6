"""Exports a crawl folder as tables, a graph, an archive, or documents of a search server.

Everything streams, so memory does not grow with the text of the pages. A file appears under its name only once it is complete.
"""
