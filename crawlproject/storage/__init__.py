"""The files of a crawl folder: pages, history, links, items, refusals, and archives."""
