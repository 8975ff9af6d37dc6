"""What a crawl leaves on disk: page files, history, link graph, items, refusals."""
